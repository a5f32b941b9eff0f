from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.metrics.pairwise import euclidean_distances

from shoal import vectors as vectors_module
from shoal.clusterers import (
    Centroids,
    centroids,
    fit_kmeans,
    fit_minibatch_kmeans,
    fit_spherical_kmeans,
    settled_directions,
)
from shoal.clusterers.centroids import _distant_rows, _mean_directions, _spherical_lloyd
from shoal.vectors import cluster_means, squared_distances, unit_rows

FITS = [fit_spherical_kmeans, fit_kmeans, fit_minibatch_kmeans]


@pytest.mark.parametrize("fit", FITS)
def test_separate_groups_are_found_exactly(fit, groups, rng, same_partition):
    vectors, labels = groups
    found = fit(vectors, 3, rng)
    assert same_partition(found.scores(vectors).argmax(axis=1), labels)
    assert found.centers.shape == (3, 5)
    assert found.centers.dtype == np.float32


@pytest.mark.parametrize("fit", FITS)
def test_the_same_seed_gives_the_same_centres(fit, cloud):
    first, second = (fit(cloud, 7, np.random.RandomState(3)).centers for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("fit", FITS)
def test_state_goes_through_safetensors(fit, cloud, rng, reborn):
    found = fit(cloud, 4, rng)
    again = reborn(found)
    assert again.spherical == found.spherical == (fit is fit_spherical_kmeans)
    np.testing.assert_array_equal(again.scores(cloud), found.scores(cloud))


@pytest.mark.parametrize("fit", FITS)
def test_a_row_is_a_matter_of_its_own(fit, cloud, rng):
    found = fit(cloud, 7, rng)
    whole = found.scores(cloud)
    one_by_one = np.concatenate([found.scores(cloud[i : i + 1]) for i in range(len(cloud))])
    np.testing.assert_allclose(one_by_one, whole, rtol=1e-6)
    assert found.scores(cloud[:0]).shape == (0, 7)


def test_kmeans_gives_scikit_learns_labels(cloud):
    theirs = KMeans(7, n_init=10, random_state=np.random.RandomState(5)).fit(cloud)
    ours = fit_kmeans(cloud, 7, np.random.RandomState(5))
    assert (ours.scores(cloud).argmax(axis=1) == theirs.labels_).all()
    np.testing.assert_allclose(ours.centers, theirs.cluster_centers_, atol=1e-6)


def test_scores_by_hand():
    flat = Centroids(np.array([[0, 0], [3, 4]], np.float32), bandwidth=0.5, spherical=False)
    assert flat.scores(np.array([[0, 4]], np.float32)).tolist() == [[-32, -18]]
    round_ = Centroids(np.array([[1, 0], [0, 1]], np.float32), bandwidth=2.0, spherical=True)
    np.testing.assert_allclose(round_.scores(np.array([[0, 7]], np.float32)), [[-1, 0]], atol=1e-7)


def test_the_bandwidth_is_a_tenth_of_the_spread(groups, rng):
    vectors, labels = groups
    found = fit_kmeans(vectors, 3, rng)
    spread = np.mean(((vectors - cluster_means(vectors, labels, 3)[labels]) ** 2).sum(axis=1))
    assert found.bandwidth == pytest.approx(0.1 * spread, rel=1e-4)


def test_spherical_kmeans_sees_directions_only(groups, rng, same_partition):
    vectors, labels = groups
    lengths = np.random.default_rng(2).uniform(0.01, 100, size=(len(vectors), 1)).astype(np.float32)
    found = fit_spherical_kmeans(vectors * lengths, 3, rng)
    assert same_partition(found.scores(vectors).argmax(axis=1), labels)
    np.testing.assert_allclose(np.linalg.norm(found.centers, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(found.scores(vectors * lengths), found.scores(vectors), rtol=1e-3, atol=1e-3)


def test_no_step_of_lloyd_lowers_the_cohesion(cloud):
    points = unit_rows(cloud)
    cohesion = [_spherical_lloyd(points, points[:8], steps)[1] for steps in range(1, 15)]
    assert (np.diff(cohesion) >= -1e-6).all()
    assert cohesion[-1] > cohesion[0] + 0.01


def test_a_step_of_lloyd_by_hand():
    points = unit_rows(np.array([[1, 0], [4, 3], [0, 1]], np.float32))
    centers, cohesion, n_iter = _spherical_lloyd(points, points[[0, 2]], max_iter=1)
    between = np.array([1.8, 0.6]) / np.hypot(1.8, 0.6)
    np.testing.assert_allclose(centers, [between, [0, 1]], atol=1e-6)
    assert cohesion == pytest.approx((between[0] + between @ [0.8, 0.6] + 1) / 3, abs=1e-6)
    assert n_iter == 1


def test_lloyd_stops_when_no_label_moves(groups):
    points = unit_rows(groups[0])
    settled = _spherical_lloyd(points, points[:3], max_iter=300)
    assert settled[2] == 2  # one pass to label them, one to see that nothing moves
    further, *_ = _spherical_lloyd(points, settled[0], max_iter=300)
    np.testing.assert_array_equal(further, settled[0])


def test_an_empty_cluster_restarts_at_the_point_farthest_from_its_centre():
    points = unit_rows(np.array([[1, 0], [1, 0.1], [1, -0.2], [-1, 0.5]], np.float32))
    sums = np.vstack([points.sum(axis=0), np.zeros((2, 2))])
    centers = _mean_directions(points, np.zeros(4, dtype=np.int64), sums, points[[0, 0, 0]])
    np.testing.assert_allclose(centers, [unit_rows(sums[:1])[0], points[3], points[2]], atol=1e-6)


def lloyd(points, centers, steps):
    for _ in range(steps):
        labels = (points @ centers.T).argmax(axis=1)
        centers = unit_rows(np.array([points[labels == k].sum(axis=0) for k in range(len(centers))]))
    return centers


@pytest.mark.parametrize("steps", [1, 2, 5, 30])
def test_rows_that_are_not_compared_again_would_not_have_moved(steps):
    points = unit_rows(np.random.default_rng(0).normal(size=(2000, 10)))
    centers, cohesion, n_iter = _spherical_lloyd(points, points[:7], max_iter=steps)
    assert n_iter == steps
    np.testing.assert_allclose(centers, lloyd(points, points[:7], steps), atol=1e-9)
    np.testing.assert_allclose(cohesion, (points @ centers.T).max(axis=1).mean())


@pytest.mark.parametrize("seed", range(3))
def test_starts_are_those_of_scikit_learn(seed):
    points = unit_rows(np.random.default_rng(seed).normal(size=(2000, 20)))
    _, theirs = kmeans_plusplus(points, 30, random_state=seed, n_local_trials=1)
    ours = _distant_rows(points.astype(np.float32), 30, np.random.RandomState(seed))
    np.testing.assert_array_equal(ours, theirs)


def test_no_cluster_ends_empty_from_a_bad_start(groups):
    points = unit_rows(groups[0])
    same = np.repeat(points[:1], 3, axis=0)  # three starts in one place
    centers, *_ = _spherical_lloyd(points, same, max_iter=300)
    assert len(set((points @ centers.T).argmax(axis=1))) == 3


@pytest.mark.parametrize("fit", [fit_spherical_kmeans, fit_kmeans])  # mini-batches draw with replacement
def test_as_many_clusters_as_points(fit, rng):
    vectors = np.eye(6, dtype=np.float32)
    scores = fit(vectors, 6, rng).scores(vectors)
    assert sorted(scores.argmax(axis=1)) == list(range(6))
    np.testing.assert_allclose(softmax(scores, axis=1).max(axis=1), 1)


@pytest.mark.parametrize("fit", FITS)
def test_duplicates_stay_together(fit, rng, same_partition):
    vectors = np.repeat(np.eye(3, dtype=np.float32), [50, 2, 1], axis=0)
    labels = np.repeat([0, 1, 2], [50, 2, 1])
    assert same_partition(fit(vectors, 3, rng).scores(vectors).argmax(axis=1), labels)


@pytest.mark.parametrize("fit", FITS)
def test_one_cluster_of_one_point(fit, rng):
    found = fit(np.array([[3, 4]], np.float32), 1, rng)
    np.testing.assert_allclose(found.centers, [[0.6, 0.8]] if found.spherical else [[3, 4]], atol=1e-6)
    assert np.isfinite(found.scores(np.array([[1, 1]], np.float32))).all()


def test_rows_of_zeros_take_no_cluster_for_themselves(rng, same_partition):
    # Texts without a known word under TF-IDF: they have no direction, and must cost nobody a centre.
    vectors = np.concatenate([np.zeros((20, 4)), np.repeat(np.eye(4), 2, axis=0)]).astype(np.float32)
    for seed in range(10):
        found = fit_spherical_kmeans(vectors, 4, np.random.RandomState(seed), n_init=1)
        labels = found.scores(vectors).argmax(axis=1)
        assert same_partition(labels[20:], np.repeat(range(4), 2))
    nothing = fit_spherical_kmeans(np.zeros((5, 4), np.float32), 2, rng)
    assert np.isfinite(nothing.scores(vectors)).all()


def test_squared_distances_equal_scikit_learns_even_far_from_the_origin(cloud, monkeypatch):
    monkeypatch.setattr(vectors_module, "BLOCK_ROWS", 64)
    far = cloud.astype(np.float64) + 1e4
    expected = euclidean_distances(far.astype(np.float32).astype(np.float64), squared=True)
    found = squared_distances(far.astype(np.float32), far.astype(np.float32))
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert (found >= 0).all()
    assert (found.argmin(axis=1) == np.arange(len(cloud))).all()


def test_means_of_clusters_by_hand():
    vectors = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    assert cluster_means(vectors, np.array([0, 2, 0]), 3).tolist() == [[3, 4], [0, 0], [3, 4]]


def test_nearly_empty_rows_cluster_as_full_ones_do(monkeypatch):
    rng = np.random.RandomState(0)
    vectors = np.zeros((120, 60), dtype=np.float32)
    for row in range(120):
        vectors[row, row % 3 * 20 + rng.permutation(20)[:3]] = 1
    sparse = fit_kmeans(vectors, 3, np.random.RandomState(0))
    monkeypatch.setattr(centroids, "SPARSE", 0)
    dense = fit_kmeans(vectors, 3, np.random.RandomState(0))
    np.testing.assert_allclose(sparse.centers, dense.centers, atol=1e-6)


def test_settled_directions_are_where_kmeans_ends_from_a_partition(groups, cloud, same_partition):
    vectors, labels = groups
    points = unit_rows(vectors)
    nearly = labels.copy()
    nearly[:20] = 0
    centers = settled_directions(points, nearly, 3)
    assert same_partition((points @ centers.T).argmax(axis=1), labels)
    points = unit_rows(cloud)
    start = np.arange(200) % 6
    centers = settled_directions(points, start, 6)
    assert centers.dtype == np.float32
    settled = (points @ centers.T).argmax(axis=1)
    np.testing.assert_allclose(settled_directions(points, settled, 6), centers, atol=1e-6)  # nothing moves any more


def test_a_cluster_without_rows_settles_too(groups):
    points = unit_rows(groups[0])
    centers = settled_directions(points, np.zeros(90, dtype=np.int64), 3)
    np.testing.assert_allclose(np.linalg.norm(centers, axis=1), 1, atol=1e-6)
    assert len(set((points @ centers.T).argmax(axis=1).tolist())) == 3
