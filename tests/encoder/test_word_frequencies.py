from __future__ import annotations

import sys

import numpy as np
import pytest

from shoal.encoder.sif import SIF
from shoal.encoder.word_frequencies import FREQUENCIES, word_shares
from shoal.errors import MissingExtraError

WORDS = ["the", "cat", "qwxzv"]
DOCUMENTS = [["the", "cat"], ["cat"]]


@pytest.mark.parametrize(("source", "ranked"), [("rank", False), ("rank", True), ("auto", True)])
def test_zipf_by_rank(source, ranked):
    found = word_shares(WORDS, source, documents=DOCUMENTS, ranked=ranked)
    np.testing.assert_allclose(found, np.array([6, 3, 2]) / 11)


@pytest.mark.parametrize(("source", "ranked"), [("corpus", True), ("auto", False)])
def test_counts_of_the_texts(source, ranked):
    np.testing.assert_allclose(word_shares(WORDS, source, documents=DOCUMENTS, ranked=ranked), [1 / 3, 2 / 3, 0])


def test_english_as_it_is_written():
    the, cat, none = word_shares(WORDS, "wordfreq", documents=DOCUMENTS, ranked=False)
    assert 0.03 < the < 0.08
    assert 1e-6 < cat < 1e-3
    assert none == 0


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "wordfreq", None)
    with pytest.raises(MissingExtraError, match=r"word_frequencies='wordfreq'.*wordfreq"):
        word_shares(WORDS, "wordfreq", documents=DOCUMENTS, ranked=False)


def test_a_class_word_that_is_frequent_in_the_texts_keeps_its_weight(tmp_path):
    """Half of the words are 'java': by the texts its weight is next to nothing, by its rank that of a rare word."""
    table = tmp_path / "vectors.txt"
    lines = [f"word{i} 1 0 0" for i in range(5000)]
    table.write_text("\n".join([*lines, "java 0 1 0", "query 0 0 1"]) + "\n")
    texts = ["java word1", "java word2", "query java word3"] * 5
    lengths = {
        source: float(np.linalg.norm(SIF(word_vectors=str(table), frequencies=source).fit(texts)._weighted[5000]))
        for source in FREQUENCIES
        if source != "wordfreq"
    }
    assert lengths["corpus"] < 0.01
    assert lengths["rank"] == lengths["auto"] > 0.9
