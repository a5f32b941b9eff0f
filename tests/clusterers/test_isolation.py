from __future__ import annotations

import numpy as np
from sklearn.ensemble import IsolationForest

from shoal.clusterers.isolation import isolation_depths


def test_agrees_with_scikit_learn(rng):
    points = rng.normal(size=(400, 10))
    points[:20] *= 3
    ours = isolation_depths(points, np.zeros(400, int), rng, n_trees=100)
    theirs = IsolationForest(n_estimators=100, random_state=0).fit(points).score_samples(points)
    assert np.corrcoef(ours, theirs)[0, 1] > 0.95
    assert set(np.argsort(ours)[:20]) >= set(range(10))


def test_each_cluster_has_a_forest_of_its_own(groups, rng):
    vectors, labels = groups
    outlier = vectors.copy()
    outlier[0] = vectors[1]  # typical of another cluster
    depths = isolation_depths(outlier, labels, rng)
    members = np.flatnonzero(labels == 0)
    assert members[depths[members].argmin()] == 0
    again = isolation_depths(outlier, labels, np.random.RandomState(1))
    assert (again == isolation_depths(outlier, labels, np.random.RandomState(1))).all()


def test_equal_rows_and_single_rows_are_no_trouble(rng):
    depths = isolation_depths(np.ones((5, 3)), np.array([0, 0, 0, 1, 3]), rng)
    assert np.isfinite(depths).all()
    assert len(set(depths[:3])) == 1
