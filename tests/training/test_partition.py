from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans

from shoal.training import best_kmeans, kmeans_from
from shoal.vectors import squared_distances


def blobs(n=60, k=4, seed=0):
    rng = np.random.default_rng(seed)
    middles = np.array([[0, 0, 0], [50, 0, 0], [0, 50, 0], [0, 55, 0]])[:k]
    return (middles[np.arange(n) % k] + 0.3 * rng.normal(size=(n, 3))).astype(np.float32), middles.astype(np.float32)


def inertia(points, found):
    return squared_distances(points, found.centers).min(axis=1).sum()


def test_it_is_lloyd_from_the_given_centres():
    points, _ = blobs()
    start = points[:4]
    expected = KMeans(4, init=start, n_init=1).fit(points)
    found = kmeans_from(points, start)
    np.testing.assert_allclose(found.centers, expected.cluster_centers_, atol=1e-5)
    assert (found.scores(points).argmax(axis=1) == expected.labels_).all()


def test_clusters_keep_their_numbers_when_the_space_moves_a_little():
    points, middles = blobs()
    before = kmeans_from(points, middles).scores(points).argmax(axis=1)
    moved = points + np.float32(0.2)
    assert (kmeans_from(moved, middles).scores(moved).argmax(axis=1) == before).all()


def test_a_bad_start_is_left_behind_and_the_numbers_stay():
    points, middles = blobs()
    # two centres in one group, one between two others: a trap for Lloyd
    trap = np.stack([middles[0], middles[0] + 0.1, middles[1], (middles[2] + middles[3]) / 2])
    trapped, best = kmeans_from(points, trap), best_kmeans(points, trap, np.random.RandomState(0))
    assert inertia(points, best) < 0.5 * inertia(points, trapped)
    labels, best_labels = (found.scores(points).argmax(axis=1) for found in (trapped, best))
    third = labels == 2  # the one group that both see alike
    assert (best_labels[third] == 2).all()
    assert sorted(set(best_labels)) == [0, 1, 2, 3]


def test_a_good_start_is_kept():
    points, middles = blobs()
    found = best_kmeans(points, middles, np.random.RandomState(0), n_init=2)
    assert (found.scores(points).argmax(axis=1) == np.arange(60) % 4).all()
    assert inertia(points, found) == pytest.approx(inertia(points, kmeans_from(points, middles)))
