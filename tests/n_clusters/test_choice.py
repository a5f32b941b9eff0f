"""The choice: a number, its reason, and the levels on offer."""

from __future__ import annotations

import json

import numpy as np
import pytest

from shoal.n_clusters import Granularity, NClusters, choose_n_clusters, parse_wanted
from shoal.n_clusters.choice import _best, _levels, _samples

AUTO = parse_wanted("auto")


def point(n_clusters, agreement, modularity=0.5, *, resolution=1.0, spread=None):
    return Granularity(resolution, n_clusters, agreement, modularity, 0.01, n_clusters if spread is None else spread)


def blobs(n_groups, n_rows, noise=0.1):
    rng = np.random.RandomState(0)
    groups = np.repeat(np.arange(n_groups), n_rows)
    vectors = np.eye(n_groups)[groups] + rng.normal(scale=noise, size=(len(groups), n_groups))
    texts = [f"w{g} x{g} y{rng.randint(3)}g{g} z{rng.randint(50)}" for g in groups]
    return vectors.astype(np.float32), texts


@pytest.mark.parametrize("n_groups", [3, 8])
def test_groups_that_meaning_and_words_see_are_found(n_groups):
    found = choose_n_clusters(*blobs(n_groups, 20), AUTO)
    assert found.chosen == found.levels["medium"] == n_groups
    assert found.n_sampled == 20 * n_groups
    assert "meaning and words agree best at about this number" in found.reason
    assert not found.is_given


def test_without_texts_modularity_decides():
    found = choose_n_clusters(blobs(5, 30)[0], None, AUTO)
    assert (found.chosen, found.reason) == (5, "the groups of neighbours, by modularity")


def test_a_range_limits_the_choice():
    vectors, texts = blobs(8, 20)
    assert choose_n_clusters(vectors, texts, parse_wanted("2-4")).chosen in (2, 3, 4)
    assert choose_n_clusters(vectors, texts, parse_wanted("20-40")).chosen in range(20, 41)
    assert choose_n_clusters(vectors, texts, parse_wanted("5-9")).chosen == 8
    assert choose_n_clusters(vectors, texts, parse_wanted("150-900")).chosen in range(150, 161)


def test_a_number_is_taken_as_given():
    found = choose_n_clusters(*blobs(3, 5), parse_wanted(7))
    assert (found.chosen, found.reason, found.curve, found.is_given) == (7, "as given", (), True)


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_a_handful_of_rows_is_one_cluster_and_says_so(n_rows):
    found = choose_n_clusters(np.eye(n_rows, dtype=np.float32), ["a text"] * n_rows, AUTO)
    assert (found.chosen, found.levels, found.is_given) == (1, {"medium": 1}, False)
    assert found.reason == f"there is nothing to choose among {n_rows} texts"


def test_clear_agreement_prefers_the_finest_that_is_as_good():
    curve = [point(4, 0.80), point(9, 0.90), point(12, 0.89), point(15, 0.885), point(30, 0.7)]
    assert _best(curve, 2, 100)[0].n_clusters == 15
    less_modular = [point(9, 0.90), point(12, 0.89, modularity=0.4)]
    assert _best(less_modular, 2, 100)[0].n_clusters == 9


@pytest.mark.parametrize("coarser", [0.2, 0.44])
def test_where_nothing_is_clearly_agreed_on_plain_modularity_decides(coarser):
    curve = [point(5, coarser, resolution=0.5), point(12, 0.25), point(40, 0.4, resolution=4.0)]
    best, reason = _best(curve, 2, 100)
    assert best.n_clusters == 12
    assert reason.startswith("the groups of neighbours, by modularity; meaning and words agree on no number (4")


def test_a_few_texts_set_apart_are_no_granularity():
    # a tenth of the texts in two small groups: 1 - (0.9² + 2 · 0.05²) is the most that they can explain
    assert _best([point(3, 0.95, modularity=0.185, spread=1.5), point(8, 0.6)], 2, 100)[0].n_clusters == 8


def test_in_a_range_the_best_of_the_range_counts():
    curve = [point(3, 0.6, modularity=0.3), point(20, 0.5, modularity=0.8)]
    assert _best(curve, 2, 5)[0].n_clusters == 3
    assert _best(curve, 2, 50)[0].n_clusters == 20


def test_two_clusters_are_possible_where_finer_ones_explain_much():
    assert _best([point(2, 0.95, modularity=0.49), point(20, 0.6, modularity=0.8)], 2, 100)[0].n_clusters == 2


def test_nothing_in_the_range_takes_the_nearest():
    best, reason = _best([point(3, 0.9), point(50, 0.6)], 20, 30)
    assert (best.n_clusters, reason) == (50, "the nearest to the range allowed")


@pytest.mark.parametrize(
    ("n_clusters", "n_distinct", "levels"),
    [
        (12, 1000, {"coarse": 4, "medium": 12, "fine": 24}),
        (5, 1000, {"coarse": 2, "medium": 5, "fine": 10}),
        (2, 1000, {"medium": 2, "fine": 4}),  # one cluster is no level
        (12, 30, {"coarse": 4, "medium": 12}),  # 24 clusters of 30 texts are none either
        (1, 1, {"medium": 1}),
    ],
)
def test_levels(n_clusters, n_distinct, levels):
    assert _levels(n_clusters, n_distinct) == levels


def test_samples_are_of_one_size_and_share_rows_only_where_there_are_too_few():
    assert [len(rows) for rows in _samples(2_999, 0)] == [2_999]
    for n_rows, distinct in ((50_000, 12_000), (12_000, 12_000), (7_000, None), (3_001, None)):
        samples = _samples(n_rows, 0)
        assert [len(set(rows)) for rows in samples] == [3_000] * 4
        assert distinct in (len(set(np.concatenate(samples))), None)
    one, two, three, _ = _samples(7_000, 0)
    assert not set(one) & set(two)
    assert set(one) & set(three)


def test_rows_that_are_in_several_samples_count_once():
    vectors = np.repeat(np.eye(4, dtype=np.float32), 800, axis=0)
    vectors += np.random.RandomState(0).normal(scale=0.1, size=vectors.shape).astype(np.float32)
    found = choose_n_clusters(vectors, None, AUTO)
    assert 3_000 < found.n_sampled <= 3_200


def test_to_json_and_back():
    found = choose_n_clusters(*blobs(3, 10), AUTO)
    assert NClusters.from_dict(json.loads(json.dumps(found.as_dict())), 3) == found
    earlier = NClusters.from_dict(None, 6)
    assert (earlier.chosen, earlier.is_given, earlier.levels["medium"]) == (6, True, 6)
