"""Clusters around centres: k-means, spherical k-means, mini-batch k-means."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.exceptions import ConvergenceWarning

from shoal.clusterers.base import State
from shoal.clusterers.blockwise_kmeans import lloyd_in_blocks
from shoal.progress import progress
from shoal.vectors import Vectors, membership, squared_distances, unit_rows

# The softmax over clusters uses a tenth of the mean squared distance to the nearest centre as its unit. On unit
# vectors whose cosine to their centre is about one half, that is softmax(20 cos), the temperature of the built-in
# encoder's training.
BANDWIDTH_SHARE = 0.1
MINIBATCH_SIZE = 4096
# From a good partition only borders move, and most of that in the first few passes.
SETTLING_ITERATIONS = 60
# A row that is ahead by less may owe that to rounding.
ROUNDING = 1e-6
# Of more rows the starts are tried on a sample of so many, and the best one goes on with all rows, block by block.
LARGE_ROWS = 100_000
SAMPLE_ROWS = 50_000
# Below this share of non-zero values, rows are passed on in sparse form.
SPARSE = 0.1


class Centroids:
    """A partition by the nearest centre.

    Parameters
    ----------
    centers : ndarray of shape (n_clusters, d)
        The centres; unit vectors if ``spherical``.
    bandwidth : float
        The squared distance that is one unit of score.
    spherical : bool
        Whether rows are scaled to length one before they are compared.
    n_iter : int, default=1
        Number of iterations it took to find the centres.
    """

    kind: ClassVar[str] = "centroids"

    def __init__(self, centers: Vectors, bandwidth: float, spherical: bool, n_iter: int = 1) -> None:
        self.centers = centers
        self.bandwidth = bandwidth
        self.spherical = spherical
        self.n_iter = n_iter

    @classmethod
    def around(cls, centers: Vectors, vectors: Vectors, n_iter: int = 1) -> Centroids:
        """Use these centres; the bandwidth is a tenth of the vectors' mean squared distance to them."""
        return cls(centers, _bandwidth(vectors, centers), spherical=False, n_iter=n_iter)

    def scores(self, vectors: Vectors) -> NDArray[np.float64]:
        """Return minus the squared distance to each centre, in units of the bandwidth."""
        points = unit_rows(vectors) if self.spherical else vectors
        return -squared_distances(points, self.centers) / self.bandwidth

    def state(self) -> State:
        """Return centres, bandwidth and metric."""
        return {
            "centers": self.centers,
            "bandwidth": np.array([self.bandwidth]),
            "spherical": np.array([self.spherical], dtype=np.uint8),
        }

    @classmethod
    def from_state(cls, state: State) -> Centroids:
        """Rebuild it from :meth:`state`."""
        centers = np.asarray(state["centers"], dtype=np.float32)
        return cls(centers, float(state["bandwidth"][0]), bool(state["spherical"][0]))


def fit_kmeans(
    vectors: Vectors, n_clusters: int, rng: np.random.RandomState, *, n_init: int = 10, max_iter: int = 300
) -> Centroids:
    """Lloyd's k-means with k-means++ starts; the best of ``n_init`` by inertia."""
    if len(vectors) > LARGE_ROWS:
        return _fit_large(fit_kmeans, vectors, n_clusters, rng, n_init, max_iter)
    model = KMeans(n_clusters, n_init=n_init, max_iter=max_iter, random_state=rng)
    return _from_sklearn(model, vectors)


def fit_minibatch_kmeans(
    vectors: Vectors, n_clusters: int, rng: np.random.RandomState, *, n_init: int = 10, max_iter: int = 300
) -> Centroids:
    """k-means on mini-batches (Sculley 2010), for corpora on which Lloyd's iterations take too long."""
    model = MiniBatchKMeans(n_clusters, n_init=n_init, max_iter=max_iter, batch_size=MINIBATCH_SIZE, random_state=rng)
    return _from_sklearn(model, vectors)


def _from_sklearn(model: KMeans | MiniBatchKMeans, vectors: Vectors) -> Centroids:
    """Fit and keep the centres."""
    with warnings.catch_warnings():  # the caller checks for fewer distinct points than clusters
        warnings.simplefilter("ignore", ConvergenceWarning)
        # Word counts are nearly all zeros: scikit-learn's sparse form gives the same centres many times faster.
        model.fit(csr_matrix(vectors) if np.count_nonzero(vectors) < SPARSE * vectors.size else vectors)
    centers = np.asarray(model.cluster_centers_, dtype=np.float32)
    return Centroids.around(centers, vectors, int(model.n_iter_))


def fit_spherical_kmeans(
    vectors: Vectors, n_clusters: int, rng: np.random.RandomState, *, n_init: int = 10, max_iter: int = 300
) -> Centroids:
    """k-means by cosine (Dhillon and Modha 2001): unit vectors, unit centres; the best of ``n_init`` starts."""
    if len(vectors) > LARGE_ROWS:
        return _fit_large(fit_spherical_kmeans, vectors, n_clusters, rng, n_init, max_iter)
    points = np.ascontiguousarray(unit_rows(vectors), dtype=np.float32)
    # A zero row has no direction: it moves no mean, and would attract nothing as a centre.
    directed = points.any(axis=1)
    points = points[directed] if n_clusters <= directed.sum() < len(points) else points
    best, best_cohesion, best_n_iter = points[:n_clusters], -np.inf, 1
    with progress("k-means", n_init, unit="starts") as bar:
        for _ in range(n_init):
            # A generator of its own: what follows does not depend on the number of clusters.
            draws = np.random.RandomState(rng.randint(np.iinfo(np.int32).max))
            start = points[_distant_rows(points, n_clusters, draws)]
            centers, cohesion, n_iter = _spherical_lloyd(points, unit_rows(start), max_iter)
            if cohesion > best_cohesion:
                best, best_cohesion, best_n_iter = centers, cohesion, n_iter
            bar.advance(1)
    return Centroids(best, _bandwidth(points, best), spherical=True, n_iter=best_n_iter)


def _distant_rows(points: Vectors, n_clusters: int, rng: np.random.RandomState) -> NDArray[np.int64]:
    """Draw rows far from each other: k-means++ (Arthur and Vassilvitskii 2007) on rows of length one or zero.

    One candidate per centre, as published; the greedy form of scikit-learn costs several times more
    (docs/architecture.md), and its plain form computes in double precision.
    """
    lengths = np.einsum("ij,ij->i", points, points)
    nearest = np.full(len(points), np.inf, dtype=points.dtype)  # squared distance to the nearest row drawn
    drawn = np.empty(n_clusters, dtype=np.int64)
    for i in range(n_clusters):
        below = np.cumsum(nearest if i else np.ones(len(points)), dtype=np.float64)
        drawn[i] = min(np.searchsorted(below, rng.random_sample() * below[-1]), len(points) - 1)
        np.minimum(nearest, lengths + lengths[drawn[i]] - 2 * (points @ points[drawn[i]]), out=nearest)
        np.maximum(nearest, 0, out=nearest)
    return drawn


def _fit_large(
    fit: Callable[..., Centroids],
    vectors: Vectors,
    n_clusters: int,
    rng: np.random.RandomState,
    n_init: int,
    max_iter: int,
) -> Centroids:
    """Fit a sample with all starts, and move its centres to where all rows want them, block by block."""
    drawn = np.sort(rng.permutation(len(vectors))[:SAMPLE_ROWS])
    start = fit(vectors[drawn], n_clusters, rng, n_init=n_init, max_iter=max_iter)
    centers, spread, n_iter = lloyd_in_blocks(
        vectors, start.centers, spherical=start.spherical, max_iter=min(max_iter, SETTLING_ITERATIONS)
    )
    return Centroids(centers, max(BANDWIDTH_SHARE * spread, 1e-12), start.spherical, n_iter)


def spherical_kmeans_from(vectors: Vectors, centers: Vectors, max_iter: int = 300) -> Centroids:
    """Spherical k-means from given centres; cluster k of the result comes from centre k.

    Examples
    --------
    >>> vectors = np.repeat(np.eye(2, dtype=np.float32), [3, 2], axis=0)
    >>> spherical_kmeans_from(vectors, np.array([[1.0, 2.0], [3.0, 1.0]])).centers.tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    # In double precision: the order in which threads sum then changes no label.
    points: Any = unit_rows(np.asarray(vectors, np.float64))
    start: Any = unit_rows(np.asarray(centers, np.float64))
    found, _, n_iter = _spherical_lloyd(points, start, max_iter)
    found = found.astype(np.float32)
    return Centroids(found, _bandwidth(points, found), spherical=True, n_iter=n_iter)


def settled_directions(vectors: Vectors, labels: NDArray[np.int64], n_clusters: int) -> Vectors:
    """Return the centres that spherical k-means reaches from a given partition, (n_clusters, d).

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        Rows of length one.
    labels : ndarray of shape (n,)
        The partition to start from, 0 to n_clusters - 1.
    n_clusters : int
        The number of clusters.

    Examples
    --------
    >>> vectors = np.repeat(np.eye(2, dtype=np.float32), [3, 2], axis=0)
    >>> settled_directions(vectors, np.array([0, 0, 1, 1, 1]), 2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    points = np.ascontiguousarray(vectors, dtype=np.float32)
    centers = unit_rows(membership(labels, n_clusters) @ points)
    return _spherical_lloyd(points, centers, SETTLING_ITERATIONS)[0]


def _spherical_lloyd(points: Vectors, centers: Vectors, max_iter: int) -> tuple[Vectors, float, int]:
    """Alternate assignment and mean direction until no label changes; return centres, mean cosine, iterations.

    A cosine changes by no more than its centre moves. So a row is compared again only when its centre and the others
    have moved by more than what the nearest is ahead of the second (Hamerly 2010), and sums only follow rows that
    changed their cluster: the same answer as by comparing all rows every time, several times sooner.
    """
    n_rows, n_clusters = len(points), len(centers)
    labels = np.full(n_rows, -1)
    ahead = np.zeros(n_rows, dtype=points.dtype)
    sums = np.zeros(centers.shape)
    iteration = 0
    while iteration < max_iter:
        iteration += 1
        open_rows = np.flatnonzero(ahead <= ROUNDING)
        if len(open_rows) > n_rows / 2:
            open_rows, similarity = np.arange(n_rows), points @ centers.T
        else:
            similarity = points[open_rows] @ centers.T
        found, each = similarity.argmax(axis=1), np.arange(len(open_rows))
        best = similarity[each, found]
        similarity[each, found] = -np.inf
        ahead[open_rows] = best - similarity.max(axis=1)
        before = labels[open_rows]
        moved = found != before
        if not moved.any():
            break
        rows = open_rows[moved]
        labels[rows] = found[moved]
        sums += _moves(rows, before[moved], found[moved], (n_clusters, n_rows)) @ points
        after = _mean_directions(points, labels, sums, centers)
        drift = np.linalg.norm(after - centers, axis=1)
        ahead -= drift[labels] + drift.max()
        centers = after
    return centers, float((points @ centers.T).max(axis=1).mean()), iteration


def _moves(
    rows: NDArray[np.int64], before: NDArray[np.int64], after: NDArray[np.int64], shape: tuple[int, int]
) -> csr_matrix:
    """Return what changes in the indicator matrix of a partition, (n_clusters, n), when rows move; -1 is no cluster."""
    left = before >= 0
    changes = np.repeat(np.array([1, -1], np.float32), [len(rows), left.sum()])
    clusters, places = np.concatenate([after, before[left]]), np.concatenate([rows, rows[left]])
    return csr_matrix((changes, (clusters, places)), shape=shape)


def _mean_directions(points: Vectors, labels: NDArray[np.int64], sums: NDArray[Any], centers: Vectors) -> Vectors:
    """Return each cluster's mean direction; an empty cluster restarts at the point farthest from its centre."""
    found: Vectors = unit_rows(sums).astype(points.dtype)
    empty = np.flatnonzero(np.bincount(labels, minlength=len(sums)) == 0)
    if len(empty):
        nearest = (points @ centers.T).max(axis=1)
        found[empty] = unit_rows(points[np.argsort(nearest, kind="stable")[: len(empty)]])
    return found


def _bandwidth(points: Vectors, centers: Vectors) -> float:
    """Return the squared distance that is one unit of score."""
    spread = float(squared_distances(points, centers).min(axis=1).mean())
    return max(BANDWIDTH_SHARE * spread, 1e-12)
