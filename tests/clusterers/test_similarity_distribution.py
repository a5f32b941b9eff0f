from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from shoal.clusterers import LINKAGES, fit_hac_sd
from shoal.clusterers import similarity_distribution as module
from shoal.clusterers.similarity_distribution import outstanding_distances
from shoal.errors import DataError
from shoal.vectors import unit_rows


def by_hand(points, n_clusters):
    """The rule of the paper, all at once."""
    cosines = points.astype(np.float64) @ points.T.astype(np.float64)
    np.fill_diagonal(cosines, np.nan)
    mean, spread = np.nanmean(cosines, axis=1, keepdims=True), np.nanstd(cosines, axis=1, keepdims=True)
    scores = (cosines - mean) / spread
    least = np.sort(scores[~np.isnan(scores)])[::-1][len(points) ** 2 // n_clusters - 1]
    distances = np.where((scores >= least - 1e-6) | (least - 1e-6 <= scores.T), 1 - cosines, 1)
    np.fill_diagonal(distances, 0)
    return distances


@pytest.mark.parametrize("n_clusters", [2, 5, 40])
def test_the_similarities_that_stand_out_are_kept(cloud, n_clusters, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_ROWS", 33)
    points = unit_rows(cloud)
    found = outstanding_distances(points, n_clusters)
    np.testing.assert_allclose(found, by_hand(points, n_clusters), atol=1e-5)
    np.testing.assert_array_equal(found, found.T)
    # N²/K pairs stand out for one of the two rows at least: each counts once or twice
    kept = (found < 1).sum() - len(points)
    assert len(points) ** 2 // n_clusters <= kept <= 2 * len(points) ** 2 // n_clusters


def test_one_cluster_keeps_every_pair(cloud):
    points = unit_rows(cloud)
    np.testing.assert_allclose(outstanding_distances(points, 1), 1 - points @ points.T, atol=1e-5)


@pytest.mark.parametrize("name", LINKAGES)
def test_then_it_is_agglomerative_clustering(cloud, name, same_partition):
    points = unit_rows(cloud)
    found = fit_hac_sd(cloud, 6, linkage=name).scores(points).argmax(axis=1)
    distances = squareform(outstanding_distances(points, 6).astype(np.float64), checks=False)
    theirs = fcluster(linkage(distances, name), 6, "maxclust")
    if len(set(theirs)) == 6:  # of tied distances scipy's cut merges all at once
        assert same_partition(found, theirs)
    assert len(set(found)) == 6


def test_groups_are_found(groups, same_partition):
    vectors, labels = groups
    assert same_partition(fit_hac_sd(vectors, 3).scores(unit_rows(vectors)).argmax(axis=1), labels)


def test_rows_without_direction_and_copies_of_a_row():
    vectors = np.repeat(np.eye(3, dtype=np.float32), [5, 3, 2], axis=0)
    vectors[-1] = 0
    found = fit_hac_sd(vectors, 4).scores(vectors).argmax(axis=1)
    assert found.tolist() == [0] * 5 + [1] * 3 + [2, 3]


@pytest.mark.parametrize("n_points", [1, 2, 5])
def test_one_cluster(n_points):
    vectors = np.eye(n_points, 3, dtype=np.float32)
    assert fit_hac_sd(vectors, 1).scores(vectors).argmax(axis=1).tolist() == [0] * n_points


def test_too_many_texts_for_the_memory_are_refused_with_the_remedy(cloud):
    with pytest.raises(DataError, match=r"of 200 texts .* max_memory=0.0001; pass max_memory=1 .* at most 158 texts"):
        fit_hac_sd(cloud, 5, max_memory=1e-4)
    assert len(fit_hac_sd(cloud, 5, max_memory=1.7e-4).centers) == 5
