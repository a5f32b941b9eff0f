"""k-means over blocks: by hand, beside the exact one, and the same however the rows are divided among workers."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.clusterers import blockwise_kmeans, centroids, fit_kmeans, fit_spherical_kmeans
from shoal.clusterers.blockwise_kmeans import lloyd_in_blocks
from shoal.vectors import squared_distances, unit_rows


@pytest.fixture
def small_limits(monkeypatch):
    """Let a hundred rows be large, in blocks of 32."""
    monkeypatch.setattr(centroids, "LARGE_ROWS", 100)
    monkeypatch.setattr(centroids, "SAMPLE_ROWS", 100)
    monkeypatch.setattr(blockwise_kmeans, "BLOCK_ROWS", 32)


def spread_of(found, vectors) -> float:
    points = unit_rows(vectors) if found.spherical else vectors
    return float(squared_distances(points, found.centers).min(axis=1).mean())


@pytest.mark.parametrize("fit", [fit_spherical_kmeans, fit_kmeans])
def test_within_two_percent_of_the_exact_one(fit, monkeypatch):
    vectors = np.random.default_rng(0).normal(size=(1500, 8)).astype(np.float32)
    exact = fit(vectors, 6, np.random.RandomState(0))
    monkeypatch.setattr(centroids, "LARGE_ROWS", 500)
    monkeypatch.setattr(centroids, "SAMPLE_ROWS", 500)
    monkeypatch.setattr(blockwise_kmeans, "BLOCK_ROWS", 100)
    found = fit(vectors, 6, np.random.RandomState(0))
    assert found.spherical == exact.spherical
    assert found.n_iter > 1
    assert spread_of(found, vectors) < 1.02 * spread_of(exact, vectors)
    assert found.bandwidth == pytest.approx(0.1 * spread_of(found, vectors), rel=0.01)


@pytest.mark.parametrize("fit", [fit_spherical_kmeans, fit_kmeans])
def test_separate_groups_are_found_exactly(fit, small_limits, groups, rng, same_partition):
    vectors, labels = (np.concatenate([part] * 8) for part in groups)
    assert len(vectors) > 100
    found = fit(vectors, 3, rng)
    assert same_partition(found.scores(vectors).argmax(axis=1), labels)


@pytest.mark.parametrize("spherical", [True, False])
def test_it_ends_where_every_centre_is_the_mean_of_its_rows(small_limits, spherical):
    vectors = np.random.default_rng(1).normal(size=(200, 5)).astype(np.float32)
    centers, spread, n_iter = lloyd_in_blocks(vectors, vectors[:7], spherical=spherical, max_iter=500)
    assert n_iter < 500
    points = unit_rows(vectors) if spherical else vectors
    labels = squared_distances(points, centers).argmin(axis=1)
    means = np.stack([points[labels == k].mean(axis=0) for k in range(7)])
    np.testing.assert_allclose(centers, unit_rows(means) if spherical else means, atol=1e-6)
    assert spread == pytest.approx(squared_distances(points, centers).min(axis=1).mean(), rel=1e-5)


def test_an_empty_cluster_restarts_at_the_farthest_row(small_limits):
    vectors = np.repeat(np.array([[0.0], [10.0]], np.float32), 50, axis=0)
    centers, _, _ = lloyd_in_blocks(vectors, np.array([[0.0], [1000.0]]), spherical=False, max_iter=10)
    assert sorted(centers.ravel().tolist()) == [0.0, 10.0]
