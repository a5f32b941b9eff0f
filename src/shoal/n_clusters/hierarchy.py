"""The tree of clusters: their parts below, what they join to above; cut at any number without fitting again."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.special import softmax
from sklearn.cluster import KMeans

from shoal.errors import ParameterError
from shoal.vectors import Vectors, cluster_means, squared_distances

Labels = NDArray[np.int64]

# Rows of a cluster that its cut in two is made from: a border between two means needs no more.
CUT_ROWS = 2_000
# A part of fewer rows is an outlier.
LEAST_PART = 2
# The softmax over parts uses a tenth of the mean squared distance to the nearest as its unit, as clusters do.
BANDWIDTH_SHARE = 0.1


@dataclass(frozen=True)
class Hierarchy:
    """A tree over the clusters of a fit.

    Attributes
    ----------
    centers : ndarray of shape (m, d)
        The means of the finest parts.
    sizes : ndarray of shape (m,)
        Their numbers of fitted rows.
    cluster_of : ndarray of shape (m,)
        The cluster that each part belongs to.
    merges : ndarray of shape (m - 1, 2)
        Row i merges two nodes into node m + i; the first m - K undo the cuts of clusters, the rest join clusters.
    bandwidth : float
        The squared distance that is one unit of score between the parts of a cluster.
    """

    centers: Vectors
    sizes: Labels
    cluster_of: Labels
    merges: Labels
    bandwidth: float

    @property
    def n_clusters(self) -> int:
        """Number of clusters of the fit."""
        return int(self.cluster_of.max()) + 1

    def cut(self, n_groups: int) -> Labels:
        """Return the group of each part when the tree is cut into this many.

        The groups of the fit's own number are its clusters; others are numbered from the largest to the smallest.
        """
        n_parts = len(self.centers)
        if not 1 <= n_groups <= n_parts:
            raise ParameterError(
                f"{n_groups} clusters were asked for, but this run can be cut into 1 to {n_parts}; for more, fit again."
            )
        if n_groups == self.n_clusters:
            return self.cluster_of
        group = np.arange(2 * n_parts - 1)
        for i in range(n_parts - n_groups):
            group[np.isin(group, group[self.merges[i]])] = n_parts + i
        _, groups = np.unique(group[:n_parts], return_inverse=True)
        rank = np.argsort(np.argsort(-np.bincount(groups, self.sizes), kind="stable"), kind="stable")
        return rank[groups].astype(np.int64)

    def regroup(
        self, vectors: Vectors, labels: Labels, probabilities: NDArray[np.float32], n_groups: int
    ) -> tuple[Labels, NDArray[np.float32]]:
        """Return labels and probabilities of rows at another number of clusters.

        A row stays within its cluster: its part is the nearest of the cluster's own. A part's probability is that of its
        cluster, divided among the parts by their distance.
        """
        groups = self.cut(n_groups)
        scores = -squared_distances(vectors, self.centers) / self.bandwidth
        of_parts = np.zeros((len(vectors), len(groups)), dtype=np.float32)
        part = np.empty(len(vectors), dtype=np.int64)
        for cluster in range(self.n_clusters):
            own = np.flatnonzero(self.cluster_of == cluster)
            of_parts[:, own] = probabilities[:, [cluster]] * softmax(scores[:, own], axis=1)
            rows = labels == cluster
            part[rows] = own[scores[np.ix_(rows, own)].argmax(axis=1)] if rows.any() else 0
        members = np.eye(n_groups, dtype=np.float32)[groups]
        return groups[part], of_parts @ members


@dataclass(order=True)
class _Part:
    """A part of a cluster, its rows, and the two parts that it could be cut into; the largest gain comes first."""

    priority: float
    number: int
    cluster: int = field(compare=False)
    rows: Labels = field(compare=False)
    halves: tuple[Labels, Labels] | None = field(compare=False, default=None)


def build_hierarchy(vectors: Vectors, labels: Labels, n_clusters: int, n_parts: int) -> Hierarchy:
    """Cut clusters into parts, the most divided first, and join them by the distance of their means.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        The fitted rows in the space of the clusters.
    labels : ndarray of shape (n,)
        Their clusters, 0 to n_clusters - 1.
    n_clusters : int
        Number of clusters.
    n_parts : int
        Number of parts to cut them into; fewer if clusters are too small.

    Returns
    -------
    Hierarchy

    Examples
    --------
    >>> vectors = np.array([[0.0], [0.1], [1.0], [1.1], [9.0], [9.1]], dtype=np.float32)
    >>> tree = build_hierarchy(vectors, np.array([0, 0, 0, 0, 1, 1]), 2, 3)
    >>> tree.cluster_of.tolist(), tree.cut(3).tolist(), tree.cut(1).tolist()
    ([0, 1, 0], [0, 1, 2], [0, 0, 0])
    """
    parts: list[_Part] = [_part(vectors, np.flatnonzero(labels == k), k, k) for k in range(n_clusters)]
    final: dict[int, _Part] = {part.number: part for part in parts}
    heap = [part for part in parts if part.halves is not None]
    heapq.heapify(heap)
    cuts: list[tuple[int, int]] = []  # the part that was cut keeps its number; the other half gets a new one
    while heap and len(final) < n_parts:
        part = heapq.heappop(heap)
        first, second = part.halves or (part.rows, part.rows)
        cuts.append((part.number, len(final)))
        for number, rows in ((part.number, first), (len(final), second)):
            final[number] = _part(vectors, rows, part.cluster, number)
            if final[number].halves is not None:
                heapq.heappush(heap, final[number])
    owner = np.empty(len(vectors), dtype=np.int64)
    for number, part in final.items():
        owner[part.rows] = number
    centers = cluster_means(vectors, owner, len(final))
    nearest = squared_distances(vectors[:: max(1, len(vectors) // CUT_ROWS)], centers).min(axis=1).mean()
    return Hierarchy(
        centers,
        np.bincount(owner, minlength=len(final)),
        np.array([final[number].cluster for number in range(len(final))]),
        _merges(cuts, cluster_means(vectors, labels, n_clusters), len(final)),
        max(BANDWIDTH_SHARE * float(nearest), 1e-12),
    )


def _part(vectors: Vectors, rows: Labels, cluster: int, number: int) -> _Part:
    """Return a part, with the cut that it would take."""
    if len(rows) < 2 * LEAST_PART:
        return _Part(0.0, number, cluster, rows)
    points = vectors[rows]
    sample = points[:: max(1, len(points) // CUT_ROWS)]
    two = KMeans(2, n_init=2, max_iter=50, random_state=0).fit(sample)
    second = two.predict(points).astype(bool)
    if min(second.sum(), (~second).sum()) < LEAST_PART or not two.inertia_ < np.inf:
        return _Part(0.0, number, cluster, rows)
    whole = float(((sample - sample.mean(axis=0)) ** 2).sum())
    gain = (whole - float(two.inertia_)) * len(points) / len(sample)
    return _Part(-gain, number, cluster, rows, (rows[~second], rows[second]))


def _merges(cuts: list[tuple[int, int]], centers: Vectors, n_parts: int) -> Labels:
    """Undo the cuts, last first; then join the clusters by average linkage."""
    node = list(range(n_parts))  # the node that a part, by its number, belongs to now
    merges: list[tuple[int, int]] = []
    for kept, new in reversed(cuts):
        merges.append((node[kept], node[new]))
        node[kept] = n_parts + len(merges) - 1
    n_clusters = len(centers)
    made = node[:n_clusters]
    if n_clusters > 1:
        for one, other, *_ in linkage(centers.astype(np.float64), method="average"):
            merges.append((made[int(one)], made[int(other)]))
            made.append(n_parts + len(merges) - 1)
    return np.array(merges, dtype=np.int64).reshape(-1, 2)
