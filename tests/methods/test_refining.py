from __future__ import annotations

import numpy as np
import pytest

import shoal
from shoal import TwoStage
from shoal.errors import ParameterError

WORDS = (
    ["cat", "dog", "horse", "sheep", "goat", "mouse", "cow", "hen"],
    ["hammer", "saw", "drill", "nail", "screw", "wrench", "file", "vice"],
    ["bread", "butter", "jam", "cheese", "milk", "egg", "rice", "soup"],
)
TEXTS = [" ".join(np.random.default_rng(i).choice(WORDS[i % 3], 4, replace=False)) for i in range(150)]
TRUE = np.arange(150) % 3


@pytest.fixture
def noisy():
    """Vectors that tell the topic of most texts, but place five of one topic just beyond the border to another."""
    shown = np.eye(3)[TRUE]
    shown[:15:3] = [0.48, 0.52, 0.0]
    return (shown + 0.02 * np.random.default_rng(0).normal(size=(150, 3))).astype(np.float32)


def test_words_correct_what_the_vectors_got_wrong(noisy, same_partition):
    plain = TwoStage(3).fit(TEXTS, vectors=noisy)
    refined = TwoStage(3, refine="iterative-classification").fit(TEXTS, vectors=noisy)
    assert not same_partition(plain.labels_, TRUE)
    assert same_partition(refined.labels_, TRUE)
    assert next(record for record in refined.history_ if record["stage"] == "refine")["iterations"] >= 1


def test_vectors_alone_are_refined_by_vectors(noisy, tmp_path):
    model = TwoStage(3, refine="iterative-classification").fit(noisy)
    assert (model.predict(noisy) == model.labels_).all()
    model.save(tmp_path / "model")
    assert (shoal.load(tmp_path / "model").predict(noisy) == model.labels_).all()


def test_after_words_the_texts_are_needed(noisy):
    model = TwoStage(3, refine="iterative-classification").fit(TEXTS, vectors=noisy)
    assert (model.predict(TEXTS, vectors=noisy) == model.labels_).all()
    with pytest.raises(ParameterError, match="refined by the words of texts; pass the texts too"):
        model.predict(noisy)


def test_the_centres_are_those_of_the_refined_clusters(noisy):
    model = TwoStage(3, refine="iterative-classification").fit(TEXTS, vectors=noisy)
    for cluster, center in enumerate(model.cluster_centers_):
        np.testing.assert_allclose(center, noisy[model.labels_ == cluster].mean(axis=0), atol=1e-5)
