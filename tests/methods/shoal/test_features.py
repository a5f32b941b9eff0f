from __future__ import annotations

import numpy as np


def test_features_side_by_side_are_unit_rows(two):
    features, _ = two([5, 5])
    assert features.joint.shape == (10, 40)
    np.testing.assert_allclose(np.linalg.norm(features.joint, axis=1), 1, rtol=1e-5)
    assert len(features.rows(np.array([1, 3])).meaning) == 2
