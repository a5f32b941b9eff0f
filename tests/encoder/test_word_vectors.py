"""Sources of word vectors; files and GloVe are tested through SIF, which reads them the same way."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from shoal.encoder.word_vectors import word_vectors
from shoal.errors import DataError, MissingExtraError

TEXTS = ["red car drives fast", "red auto drives fast", "hot tea tastes good", "hot coffee tastes good"] * 25


def test_corpus_vectors_have_the_length_asked_for_as_far_as_there_are_words():
    words, vectors = word_vectors("corpus", TEXTS, dimension=4)
    assert vectors.shape == (len(words), 4)
    assert set(words) == {word for text in TEXTS for word in text.split()}
    assert word_vectors("corpus", TEXTS, dimension=400)[1].shape[1] <= len(words)


@pytest.mark.parametrize("source", ["corpus", "word2vec"])
def test_too_small_a_corpus_is_refused(source):
    with pytest.raises(DataError, match="no word occurs twice in the 2 texts"):
        word_vectors(source, ["all different", "words here"])


def test_word2vec_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(MissingExtraError, match=r"word_vectors='word2vec' needs .* 'shoal\[word2vec\]'"):
        word_vectors("word2vec", TEXTS)


@pytest.mark.slow
def test_word2vec_learns_the_corpus_and_repeats_itself_in_another_process():
    words, vectors = word_vectors("word2vec", TEXTS, dimension=20, seed=3)
    assert vectors.shape == (len(words), 20)
    program = (
        "from shoal.encoder.word_vectors import word_vectors\n"
        f"print(repr(word_vectors('word2vec', {TEXTS!r}, dimension=20, seed=3)[1].sum()))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "7"},
    )
    assert found.stdout.strip() == repr(vectors.sum())
    assert not np.array_equal(vectors, word_vectors("word2vec", TEXTS, dimension=20, seed=4)[1])
