from __future__ import annotations

import numpy as np
import pytest

from shoal.errors import DataError
from shoal.training import CorpusViews

TEXTS = ["cat", "a dog", "the horse it"]
OTHER = ["a cat", "dog", "horse"]


def words(encoder, batch):
    ids = [batch.tokens.ids[batch.tokens.offsets[i] : batch.tokens.offsets[i + 1]] for i in batch.views.ravel()]
    return [encoder.tokenizer.decode(row, skip_special_tokens=True).replace(" ", "") for row in ids]


def test_views_with_texts_of_their_own(encoder):
    views = CorpusViews.joined([encoder.tokenise(TEXTS), encoder.tokenise(OTHER)])
    batch = views.batch(np.array([2, 0]))
    assert [word.replace("##", "") for word in words(encoder, batch)] == ["thehorseit", "cat", "horse", "acat"]
    assert len(batch) == 2
    only = views.batch(np.array([1]), views=(1,))
    assert [word.replace("##", "") for word in words(encoder, only)] == ["dog"]


def test_views_that_differ_by_dropout_share_their_tokens(encoder):
    tokens = encoder.tokenise(TEXTS)
    views = CorpusViews.repeated(tokens, 3)
    assert views.tokens is tokens
    assert views.batch(np.array([1, 2])).views.tolist() == [[1, 2]] * 3


def test_tokens_are_counted_with_and_without_padding(encoder):
    views = CorpusViews.joined([encoder.tokenise(TEXTS), encoder.tokenise(OTHER)])
    batch = views.batch(np.array([0, 2]))
    lengths = [5, 12, 6, 7]  # letters, and two special tokens each: "cat", "the horse it", "a cat", "horse"
    assert batch.n_tokens == sum(lengths)
    assert batch.n_computed == 4 * 12  # one group, padded to its longest


def test_views_of_different_sizes_are_refused(encoder):
    with pytest.raises(DataError, match=r"the views have \[3, 2\] texts"):
        CorpusViews.joined([encoder.tokenise(TEXTS), encoder.tokenise(TEXTS[:2])])
