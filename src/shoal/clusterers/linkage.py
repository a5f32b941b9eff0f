"""Agglomerative clustering, with a rule for new texts."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import AgglomerativeClustering

from shoal.clusterers.base import State
from shoal.clusterers.centroids import BANDWIDTH_SHARE
from shoal.errors import DataError
from shoal.vectors import BLOCK_ROWS, Vectors, cluster_means, squared_distances

# All pairs are held in memory: eight bytes for each of n(n - 1)/2.
MAX_TEXTS = 30_000
LINKAGES = ("average", "ward", "complete", "single")


class Linkage:
    """A partition by the nearest member.

    Centres would not reproduce the labels of a linkage, so a text belongs to the cluster of its nearest neighbour
    among the fitted texts; each fitted text is its own nearest neighbour.
    """

    kind: ClassVar[str] = "linkage"
    n_iter = 1

    def __init__(self, members: Vectors, labels: NDArray[np.int64], bandwidth: float) -> None:
        order = np.argsort(labels, kind="stable")
        self.members = members[order]
        self.labels = labels[order]
        self.bandwidth = bandwidth
        self.centers = cluster_means(self.members, self.labels, int(labels.max()) + 1)

    def scores(self, vectors: Vectors) -> NDArray[np.float64]:
        """Return minus the squared distance to the nearest member of each cluster, in units of the bandwidth."""
        starts = np.unique(self.labels, return_index=True)[1]
        nearest = [
            np.minimum.reduceat(squared_distances(vectors[i : i + BLOCK_ROWS], self.members), starts, axis=1)
            for i in range(0, len(vectors), BLOCK_ROWS)
        ]
        return -np.concatenate(nearest) / self.bandwidth

    def state(self) -> State:
        """Return the members, their labels and the bandwidth."""
        return {"members": self.members, "labels": self.labels, "bandwidth": np.array([self.bandwidth])}

    @classmethod
    def from_state(cls, state: State) -> Linkage:
        """Rebuild it from :meth:`state`."""
        members, labels = np.asarray(state["members"], np.float32), np.asarray(state["labels"], np.int64)
        return cls(members, labels, float(state["bandwidth"][0]))


def fit_linkage(vectors: Vectors, n_clusters: int, *, linkage: str = "average") -> Linkage:
    """Merge the closest clusters until ``n_clusters`` are left.

    Raises
    ------
    DataError
        If there are too many vectors to hold all pairs.
    """
    if len(vectors) > MAX_TEXTS:
        raise DataError(
            f"clusterer='agglomerative' with {len(vectors)} texts needs all pairs in memory; "
            f"the limit is {MAX_TEXTS}: pass clusterer='spherical-kmeans'."
        )
    labels = np.zeros(len(vectors), dtype=np.int64)
    if n_clusters > 1:  # scikit-learn refuses a single text, and one cluster needs no merging
        labels[:] = AgglomerativeClustering(n_clusters, linkage=linkage).fit_predict(vectors)
    return linkage_of(vectors, labels, n_clusters)


def linkage_of(vectors: Vectors, labels: NDArray[np.int64], n_clusters: int) -> Linkage:
    """Return the partition by the nearest of these vectors; its bandwidth comes from their spread in the clusters."""
    means = cluster_means(vectors, labels, n_clusters)
    spread = float(np.mean(np.sum((vectors - means[labels]) ** 2, axis=1)))
    return Linkage(vectors, labels, max(BANDWIDTH_SHARE * spread, 1e-12))
