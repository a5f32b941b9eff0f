from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist
from sklearn.cluster import AgglomerativeClustering

from shoal.clusterers import average_linkage, average_linkage_labels
from shoal.clusterers.chain import merge_labels
from shoal.errors import ParameterError
from shoal.vectors import cluster_means, unit_rows


@pytest.mark.parametrize("n_clusters", [1, 2, 9, 199, 200])
def test_equals_scikit_learn(cloud, n_clusters, same_partition, monkeypatch):
    monkeypatch.setattr(average_linkage, "BLOCK_ROWS", 33)
    vectors = unit_rows(cloud)
    theirs = AgglomerativeClustering(n_clusters, metric="cosine", linkage="average").fit_predict(vectors)
    assert same_partition(average_linkage_labels(vectors, n_clusters), theirs)


def test_condensed_distances_are_scipys(cloud, monkeypatch):
    monkeypatch.setattr(average_linkage, "BLOCK_ROWS", 33)
    vectors = unit_rows(cloud)
    np.testing.assert_allclose(average_linkage._condensed_distances(vectors), pdist(vectors, "cosine"), atol=1e-6)


def test_labels_come_in_order_of_first_appearance(cloud):
    labels = average_linkage_labels(unit_rows(cloud), 12)
    assert labels.dtype == np.int64
    assert list(dict.fromkeys(labels.tolist())) == list(range(12))


def test_ties_still_give_exactly_as_many_clusters():
    vectors = np.repeat(np.eye(3, dtype=np.float32), [50, 2, 1], axis=0)
    merges = linkage(pdist(vectors, "cosine"), "average")
    assert len(set(fcluster(merges, 5, "maxclust"))) < 5  # scipy's own cut gives fewer
    assert len(set(average_linkage_labels(vectors, 5))) == 5
    assert np.bincount(average_linkage_labels(vectors, 3)).tolist() == [50, 2, 1]


def test_groups_are_linked_by_the_mean_distance_of_their_members(cloud, same_partition):
    vectors = unit_rows(cloud)
    groups = average_linkage._group(vectors, 40, seed=0)
    means = cluster_means(vectors, groups, groups.max() + 1).astype(np.float64)
    linked = merge_labels(1 - means @ means.T, 6, sizes=np.bincount(groups))[groups]
    # the same by brute force: all pairs of members, the least mean first
    distances = 1 - vectors.astype(np.float64) @ vectors.T
    clusters = [np.flatnonzero(groups == group) for group in range(groups.max() + 1)]
    while len(clusters) > 6:
        pairs = [(a, b) for a in range(len(clusters)) for b in range(a)]
        a, b = min(pairs, key=lambda pair: distances[np.ix_(clusters[pair[0]], clusters[pair[1]])].mean())
        clusters[b] = np.concatenate([clusters[b], clusters.pop(a)])
    expected = np.empty(200, dtype=int)
    for label, members in enumerate(clusters):
        expected[members] = label
    assert same_partition(linked, expected)


def test_groups_of_one_row_each_give_the_exact_tree(cloud):
    vectors = unit_rows(cloud)
    grouped = merge_labels(np.maximum(1 - vectors.astype(np.float64) @ vectors.T, 0), 9)
    np.testing.assert_array_equal(grouped, average_linkage_labels(vectors, 9))


def test_many_rows_are_grouped_first(groups, same_partition, monkeypatch):
    vectors, labels = groups
    asked = []
    group = average_linkage._group
    monkeypatch.setattr(
        average_linkage,
        "_group",
        lambda vectors, n_groups, seed: (asked.append(n_groups), group(vectors, n_groups, seed))[1],
    )
    for max_rows in (89, 20):
        found = average_linkage_labels(unit_rows(vectors), 3, max_rows=max_rows, seed=4)
        assert same_partition(found, labels)
        np.testing.assert_array_equal(found, average_linkage_labels(unit_rows(vectors), 3, max_rows=max_rows, seed=4))
    assert asked == [89, 89, 20, 20]
    average_linkage_labels(unit_rows(vectors), 3, max_rows=90)
    assert len(asked) == 4


@pytest.mark.parametrize("n_groups", [1, 7, 40, 199])
def test_there_are_as_many_groups_as_asked_for_or_a_few_more(cloud, n_groups):
    groups = average_linkage._group(unit_rows(cloud), n_groups, seed=0)
    assert set(groups) == set(range(groups.max() + 1))
    assert n_groups <= groups.max() + 1 <= n_groups + np.sqrt(n_groups)


def test_fewer_distinct_rows_than_groups():
    vectors = np.repeat(np.eye(4, dtype=np.float32), 10, axis=0)
    assert np.bincount(average_linkage_labels(vectors, 2, max_rows=20)).sum() == 40
    for n_clusters in (2, 4, 6, 20):  # more clusters than rows differ
        assert len(set(average_linkage_labels(vectors, n_clusters, max_rows=20))) == n_clusters


def test_one_row():
    assert average_linkage_labels(np.ones((1, 1), np.float32), 1).tolist() == [0]


@pytest.mark.parametrize(("n_clusters", "max_rows", "most"), [(0, 30, 30), (201, 300, 200), (31, 30, 30)])
def test_a_number_of_clusters_that_cannot_be(cloud, n_clusters, max_rows, most):
    with pytest.raises(ParameterError, match=f"n_clusters={n_clusters} but .* gives 1 to {most} clusters"):
        average_linkage_labels(cloud, n_clusters, max_rows=max_rows)
