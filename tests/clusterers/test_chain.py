from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist, squareform

from shoal.clusterers.chain import JOINED, merge_labels


@pytest.mark.parametrize("name", JOINED)
@pytest.mark.parametrize("n_clusters", [2, 9, 150])
def test_equals_scipy(cloud, name, n_clusters, same_partition):
    pairs = pdist(cloud.astype(np.float64))
    theirs = fcluster(linkage(pairs, name), n_clusters, "maxclust")
    assert same_partition(merge_labels(squareform(pairs), n_clusters, linkage=name), theirs)


@pytest.mark.parametrize("name", JOINED)
def test_exactly_as_many_clusters_even_with_ties(name):
    assert len(set(merge_labels(np.ones((30, 30), np.float32), 7, linkage=name))) == 7


@pytest.mark.parametrize("name", ["average", "ward"])
def test_an_item_may_stand_for_several_rows(cloud, name, same_partition):
    """Merging groups of equal rows gives what merging the rows gives."""
    copies = np.arange(20) % 3 + 1
    rows = np.repeat(cloud[:20].astype(np.float64), copies, axis=0)
    owner = np.repeat(np.arange(20), copies)
    distances = squareform(pdist(cloud[:20].astype(np.float64)))
    if name == "ward":  # the distance of two groups of a and b equal rows: the same as for two rows, times 2ab/(a + b)
        distances *= np.sqrt(2 * np.outer(copies, copies) / np.add.outer(copies, copies))
    found = merge_labels(distances, 5, sizes=copies, linkage=name)[owner]
    assert same_partition(found, fcluster(linkage(rows, name), 5, "maxclust"))


def test_numbered_by_first_appearance():
    points = np.array([5.0, 0.0, 5.1, 0.1])
    assert merge_labels(abs(points - points[:, None]), 2).tolist() == [0, 1, 0, 1]
