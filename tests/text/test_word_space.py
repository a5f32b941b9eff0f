from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from shoal.text.word_space import WordSpace, _cooccurrence, _positive_pmi

TEXTS = ["red car drives fast", "red auto drives fast", "hot tea tastes good", "hot coffee tastes good"] * 3


def test_cooccurrence_by_hand():
    counts = _cooccurrence([["a", "b", "a"], ["b", "x", "c"]], ["a", "b", "c"], window=1)
    assert counts.toarray().tolist() == [[0, 2, 0], [2, 0, 0], [0, 0, 0]]
    counts = _cooccurrence([["a", "b", "a"], ["b", "x", "c"]], ["a", "b", "c"], window=2)
    assert counts.toarray().tolist() == [[2, 2, 0], [2, 0, 1], [0, 1, 0]]


def test_positive_pmi_by_hand():
    ppmi = _positive_pmi(sparse.csr_array(np.array([[0.0, 4.0], [1.0, 3.0]])))
    contexts = np.array([1.0, 7.0**0.75])
    share = contexts / contexts.sum()
    expected = [[0.0, np.log(1 / share[1])], [np.log(0.25 / share[0]), max(0.0, np.log(0.75 / share[1]))]]
    np.testing.assert_allclose(ppmi.toarray(), expected)


@pytest.mark.parametrize(("word", "twin"), [("car", "auto"), ("tea", "coffee")])
def test_words_of_the_same_company_are_nearest(word, twin):
    space = WordSpace.fit(TEXTS)
    (near, cosine), *_ = space.neighbours(word, 3)
    assert near == twin
    assert cosine == pytest.approx(1.0, abs=1e-6)


def test_neighbours_are_ordered_and_leave_the_word_out():
    near = WordSpace.fit(TEXTS).neighbours("red", 100)
    cosines = [cosine for _, cosine in near]
    assert cosines == sorted(cosines, reverse=True)
    assert "red" not in dict(near)


def test_equally_near_words_come_by_frequency():
    space = WordSpace(["a", "b", "c", "d"], np.array([[1, 0], [0.6, 0.8], [0.6, 0.8 + 1e-12], [0.8, 0.6]]))
    assert space.neighbours("a", 2) == [("d", 0.8), ("b", 0.6)]
    assert [word for word, _ in space.neighbours("a", 3)] == ["d", "b", "c"]


def test_rare_and_unknown_words_have_no_neighbours():
    space = WordSpace.fit([*TEXTS, "red zebra"])
    assert space.neighbours("zebra", 3) == []
    assert space.neighbours("unheard", 3) == []


@pytest.mark.parametrize("texts", [[], [""], ["one"], ["one", "one"], ["all different words"]])
def test_a_corpus_too_small_has_an_empty_space(texts):
    assert WordSpace.fit(texts).neighbours("one", 3) == []


def test_the_same_texts_give_the_same_space():
    np.testing.assert_array_equal(WordSpace.fit(TEXTS).vectors, WordSpace.fit(TEXTS).vectors)
