from __future__ import annotations

import math

import numpy as np
import pytest

from shoal_bench.topics import npmi_coherence

DOCUMENTS = [["a", "b"], ["a", "b", "c"], ["a", "c"], ["c", "c"], ["d"], ["e", "f"], ["e", "f"], ["g"]]


def test_by_hand():
    # a in 3 of 8, b in 2, both in 2: log((2/8) / (3/8 * 2/8)) / -log(2/8)
    assert npmi_coherence([["a", "b"]], DOCUMENTS)[0] == pytest.approx(math.log(8 / 3) / math.log(4))
    # e and f are never without one another
    assert npmi_coherence([["e", "f"]], DOCUMENTS)[0] == pytest.approx(1)
    # a and c: 3 of 8 each, both in 2
    assert npmi_coherence([["a", "c"]], DOCUMENTS)[0] == pytest.approx(math.log((2 / 8) / (9 / 64)) / math.log(4))


def test_a_topic_is_the_mean_of_its_pairs():
    whole = npmi_coherence([["a", "b", "c"]], DOCUMENTS)[0]
    pairs = npmi_coherence([["a", "b"], ["a", "c"], ["b", "c"]], DOCUMENTS)
    assert whole == pytest.approx(pairs.mean())


def test_words_that_never_meet_count_minus_one():
    assert npmi_coherence([["a", "d"], ["a", "unheard"]], DOCUMENTS).tolist() == [-1, -1]


def test_words_of_every_document_go_together():
    assert npmi_coherence([["a", "b"]], [["a", "b"]] * 3).tolist() == [1]


def test_order_and_repetition_do_not_matter():
    one = npmi_coherence([["a", "b", "c"]], DOCUMENTS)
    other = npmi_coherence([["c", "a", "b", "a"]], [set(document) for document in DOCUMENTS[::-1]])
    np.testing.assert_allclose(one, other)


def test_too_few_words_are_no_number():
    assert np.isnan(npmi_coherence([["a"], []], DOCUMENTS)).all()
    assert npmi_coherence([["a", "b"]], []).tolist() == [-1]
    assert npmi_coherence([], DOCUMENTS).shape == (0,)
