from __future__ import annotations

import numpy as np

from shoal.methods.shoal.features import Features


def test_features_side_by_side_are_unit_rows(two):
    features, _ = two([5, 5])
    assert features.joint.shape == (10, 40)
    np.testing.assert_allclose(np.linalg.norm(features.joint, axis=1), 1, rtol=1e-5)
    assert len(features.rows(np.array([1, 3])).meaning) == 2


def test_words_can_have_less_weight(two):
    features, _ = two([5, 5])
    assert features.weighted(1.0) is features
    half = features.weighted(0.5)
    np.testing.assert_allclose(half.words, features.words / 2)
    np.testing.assert_allclose(half.counts.toarray(), features.counts.toarray() / 2)
    assert half.meaning is features.meaning
    alone = Features(features.meaning)
    assert alone.weighted(0.5) is alone
