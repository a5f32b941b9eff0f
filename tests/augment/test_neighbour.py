from __future__ import annotations

import numpy as np
import pytest

from shoal.augment import NeighbourSubstitution
from shoal.errors import ParameterError

CORPUS = ["red car drives fast", "red auto drives fast", "red truck drives fast", "hot tea tastes good"] * 3


def replacements(**parameters) -> set[str]:
    augmenter = NeighbourSubstitution(CORPUS, strength=1.0, **parameters)
    return {augmenter.augment(["car"], seed)[0] for seed in range(60)}


def test_without_an_encoder_near_words_are_drawn():
    assert replacements(n_candidates=2) == {"auto", "truck"}


def test_the_encoder_chooses_what_stays_closest():
    closest = {"car": 0.0, "truck": 0.1, "fast": 0.2, "drives": 0.3}

    def encode(texts):
        angles = np.array([closest.get(text, 1.5) for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)

    assert replacements(n_candidates=5, encode=encode) == {"truck", "fast", "drives"}


def test_the_encoder_reads_whole_sentences():
    read = []

    def encode(texts):
        read.extend(texts)
        return np.ones((len(texts), 2))

    NeighbourSubstitution(CORPUS, 0.2, encode, n_candidates=2, judge="sentence").augment(["My car!"], seed=0)
    assert read == ["My car!", "My auto!", "My truck!"] or read == ["My car!", "My truck!", "My auto!"]


def test_by_default_it_reads_every_word_once():
    read = []

    def encode(texts):
        read.extend(texts)
        return np.ones((len(texts), 2))

    augmenter = NeighbourSubstitution(CORPUS, 1.0, encode, n_candidates=2)
    for seed in range(5):
        augmenter.augment(["my car", "my tea", "red car"], seed)
    assert len(read) == len(set(read))
    assert set(read) <= {word for text in CORPUS for word in text.split()}


def test_unknown_judge():
    with pytest.raises(ParameterError, match="judge='jury' is unknown; pass one of word, sentence"):
        NeighbourSubstitution(CORPUS, judge="jury")


def test_a_word_of_the_text_is_no_candidate():
    augmenter = NeighbourSubstitution(CORPUS, strength=0.3, n_candidates=2)
    for seed in range(30):
        words = augmenter.augment(["auto drives car"], seed)[0].split()
        assert len(set(words)) == 3


def test_texts_of_unknown_words_stay():
    def never(texts):
        raise AssertionError("nothing to encode")

    assert NeighbourSubstitution(CORPUS, 0.2, never).augment(["Полярная звезда"], 0) == ["Полярная звезда"]


def test_fingerprint_follows_corpus_and_encoder():
    fingerprints = {
        NeighbourSubstitution(corpus, encode=encode).fingerprint
        for corpus in (CORPUS, CORPUS[:4])
        for encode in (None, lambda texts: np.ones((len(texts), 2)), lambda texts: np.zeros((len(texts), 2)))
    }
    assert len(fingerprints) == 6
