from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from shoal_bench.question_ranking import ranking_scores


def test_by_hand():
    # first query: relevant at ranks 1 and 3, AP = (1/1 + 2/3) / 2 = 5/6, RR = 1
    # second query: relevant at rank 2 only, AP = RR = 1/2
    scores = [[0.1, 0.9, 0.5], [3.0, 2.0]]
    relevant = [[True, True, False], [False, True]]
    assert ranking_scores(scores, relevant) == pytest.approx(((5 / 6 + 1 / 2) / 2, 3 / 4))


def test_map_equals_scikit_learn_where_no_scores_tie():
    rng = np.random.default_rng(0)
    scores, relevant = rng.random((20, 10)), rng.random((20, 10)) < 0.4
    relevant[:, 0] = True
    expected = np.mean([average_precision_score(r, s) for s, r in zip(scores, relevant, strict=True)])
    assert ranking_scores(scores, relevant)[0] == pytest.approx(expected)


def test_ties_keep_the_order_of_the_input():
    assert ranking_scores([[1.0, 1.0, 1.0]], [[0, 0, 1]])[1] == pytest.approx(1 / 3)
    assert ranking_scores([[1.0, 1.0, 1.0]], [[1, 0, 0]])[1] == 1.0
    # 500 ones at the odd places come first, so place 601 has rank 301 and place 600 rank 801
    many, places = np.arange(1000) % 2, np.arange(1000)
    assert ranking_scores([many], [places == 601])[1] == pytest.approx(1 / 301)
    assert ranking_scores([many], [places == 600])[1] == pytest.approx(1 / 801)


def test_queries_without_a_relevant_candidate_are_left_out():
    scores, relevant = [[0.2, 0.8], [0.5, 0.4], []], [[True, False], [False, False], []]
    assert ranking_scores(scores, relevant) == (0.5, 0.5)


def test_no_relevant_candidate_at_all_is_nan():
    assert all(map(math.isnan, ranking_scores([[0.2], [0.5]], [[False], [False]])))


def test_only_the_order_of_the_scores_counts():
    rng = np.random.default_rng(1)
    scores, relevant = rng.random((10, 8)), rng.random((10, 8)) < 0.5
    assert ranking_scores(np.exp(5 * scores), relevant) == ranking_scores(scores, relevant)


def test_unsigned_scores_sort_the_right_way_and_infinity_is_last():
    assert ranking_scores([np.array([1, 200], dtype=np.uint8)], [[0, 1]])[1] == 1.0
    assert ranking_scores([[-np.inf, -5.0]], [[1, 0]])[1] == 0.5
