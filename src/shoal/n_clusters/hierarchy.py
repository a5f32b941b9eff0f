"""The tree of clusters: their parts below, what they join to above; cut at any number without fitting again."""

from __future__ import annotations

import heapq
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from shoal.clusterers import threads_for
from shoal.errors import ParameterError
from shoal.scratch import gathered
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

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return the arrays that :meth:`from_state` needs."""
        return {
            "centers": self.centers,
            "sizes": self.sizes,
            "cluster_of": self.cluster_of,
            "merges": self.merges,
            "bandwidth": np.array([self.bandwidth]),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, NDArray[Any]]) -> Hierarchy:
        """Rebuild it from :meth:`state`; refuse arrays that are no tree."""
        centers, sizes, cluster_of, merges = (state[name] for name in ("centers", "sizes", "cluster_of", "merges"))
        n_parts = len(centers)
        shapes = sizes.shape == cluster_of.shape == (n_parts,) and merges.shape == (n_parts - 1, 2)
        below = merges < n_parts + np.arange(len(merges))[:, None]
        whole = all(array.dtype.kind == "i" for array in (sizes, cluster_of, merges))
        if not shapes or not whole or not ((merges >= 0) & below).all() or (np.bincount(cluster_of) == 0).any():
            raise ValueError("the tree of clusters is not a tree")
        return cls(centers, sizes, cluster_of, merges, float(state["bandwidth"][0]))

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

        A row stays within its cluster: its part is the nearest of the cluster's own. A part's probability is that of
        its cluster, divided among the parts by their distance.
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
    """Cut clusters into parts, the most divided first, and join them where least is lost.

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
        _merges(
            cuts,
            cluster_means(vectors, labels, n_clusters),
            np.bincount(labels, minlength=n_clusters),
            len(final),
        ),
        max(BANDWIDTH_SHARE * float(nearest), 1e-12),
    )


def _part(vectors: Vectors, rows: Labels, cluster: int, number: int) -> _Part:
    """Return a part, with the cut that it would take."""
    if len(rows) < 2 * LEAST_PART:
        return _Part(0.0, number, cluster, rows)
    points = gathered(vectors, rows)
    sample = points[:: max(1, len(points) // CUT_ROWS)]
    with warnings.catch_warnings(), threads_for(len(sample)):  # equal rows cannot be cut: all go to the first half
        warnings.simplefilter("ignore", ConvergenceWarning)
        two = KMeans(2, n_init=2, max_iter=50, random_state=0).fit(sample)
    second = two.predict(points).astype(bool)
    if min(second.sum(), (~second).sum()) < LEAST_PART:
        return _Part(0.0, number, cluster, rows)
    whole = float(((sample - sample.mean(axis=0)) ** 2).sum())
    gain = (whole - float(two.inertia_)) * len(points) / len(sample)
    return _Part(-gain, number, cluster, rows, (rows[~second], rows[second]))


def _merges(cuts: list[tuple[int, int]], centers: Vectors, sizes: Labels, n_parts: int) -> Labels:
    """Undo the cuts, last first; then join the clusters."""
    node = list(range(n_parts))  # the node that a part, by its number, belongs to now
    merges: list[tuple[int, int]] = []
    for kept, new in reversed(cuts):
        merges.append((node[kept], node[new]))
        node[kept] = n_parts + len(merges) - 1
    made = node[: len(centers)]
    for kept, gone in _joins(centers.astype(np.float64), sizes.astype(np.float64)):
        merges.append((made[kept], made[gone]))
        made[kept] = n_parts + len(merges) - 1
    return np.array(merges, dtype=np.int64).reshape(-1, 2)


def _joins(centers: NDArray[np.float64], sizes: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Join the two clusters that lose least by it, until one is left (Ward 1963); scipy's linkage takes no sizes.

    The loss is the growth of the summed squared distances to the means, ab / (a + b) · |m - n|². A distance of the
    means alone would join a large cluster with one small one after another.
    """
    n_clusters = len(centers)
    distances = squared_distances(centers, centers)
    np.fill_diagonal(distances, np.inf)
    sizes = np.maximum(sizes, 1e-9)
    joins = []
    for _ in range(n_clusters - 1):
        loss = distances * (sizes[:, None] * sizes / (sizes[:, None] + sizes))
        kept, gone = sorted(int(each) for each in np.unravel_index(loss.argmin(), loss.shape))
        joins.append((kept, gone))
        total = sizes[kept] + sizes[gone]
        centers[kept] = (sizes[kept] * centers[kept] + sizes[gone] * centers[gone]) / total
        sizes[kept] = total
        apart = squared_distances(centers[[kept]], centers)[0]
        apart[~np.isfinite(distances[kept])] = np.inf
        distances[kept], distances[:, kept] = apart, apart
        distances[gone], distances[:, gone], distances[kept, kept] = np.inf, np.inf, np.inf
    return joins
