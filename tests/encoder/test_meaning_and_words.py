from __future__ import annotations

import numpy as np
import pytest

from shoal.encoder.meaning_and_words import MeaningAndWords
from shoal.encoder.representation import CachedEncoder
from shoal.encoder.word_statistics import weight_of_words
from shoal.vectors import unit_rows

TEXTS = ["red fish", "blue fish", "red whale", "blue whale", "old ship", "new ship"]


class Lengths:
    fingerprint = "lengths and vowels"

    def encode(self, texts):
        return np.array(
            [[len(text), sum(text.count(v) for v in "aeiou"), 1] for text in texts], dtype=np.float32
        ).reshape(-1, 3)


@pytest.fixture
def both():
    return MeaningAndWords(CachedEncoder(Lengths(), cache=False)).fit(TEXTS)


def test_a_cosine_is_the_mean_of_the_two_cosines_weighed_by_what_words_can_tell(both):
    vectors = both.encode(TEXTS)
    meaning = Lengths().encode(TEXTS)
    meaning = unit_rows(meaning - meaning.mean(axis=0))
    words = both._words.encode(TEXTS)
    share = weight_of_words(len(TEXTS))
    expected = (meaning @ meaning.T + share * words @ words.T) / (1 + share)
    np.testing.assert_allclose(vectors @ vectors.T, expected, atol=1e-5)


def test_a_text_has_one_vector_in_any_company_and_after_loading(both, tmp_path):
    vectors = both.encode(TEXTS)
    np.testing.assert_allclose(both.encode(TEXTS[2:3])[0], vectors[2], atol=1e-6)
    both.save(tmp_path)
    loaded = MeaningAndWords.load(tmp_path, CachedEncoder(Lengths(), cache=False))
    np.testing.assert_allclose(loaded.encode(TEXTS), vectors, atol=1e-6)


def test_no_text_has_no_vector(both):
    assert both.encode([]).shape == (0, both.encode(TEXTS).shape[1])
