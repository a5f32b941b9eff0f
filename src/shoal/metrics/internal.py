"""Quality of a clustering by the geometry of its vectors, without known classes.

Vectors have shape (n, d), labels are n integers or strings. Rows whose label is -1, None or NaN belong to no cluster
and are ignored, so *n* below counts the rows that have one. Distances are Euclidean unless a metric is given.
Where a measure is not defined (mostly: fewer than two clusters) it is NaN, not an error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import metrics

from shoal.errors import DataError, ParameterError
from shoal.metrics._clusters import Clusters, Floats, blocks, cosine_distances, group
from shoal.metrics._labels import Labels, encode
from shoal.vectors import squared_distances


@dataclass(frozen=True)
class Estimate:
    """A mean over points and its standard error.

    Parameters
    ----------
    value : float
        The mean.
    error : float
        Its standard error; 0 when every point was used.
    n : int
        The number of points that the mean is taken over.
    """

    value: float
    error: float
    n: int


def _widths(inner: Floats, outer: Floats, sizes: NDArray[np.intp]) -> Floats:
    """(outer - inner) / max(inner, outer) per point, 0 for a singleton and where both distances are 0."""
    larger = np.maximum(inner, outer)
    return np.divide(outer - inner, larger, out=np.zeros_like(larger), where=(larger > 0) & (sizes > 1))


def silhouette(
    vectors: ArrayLike,
    labels: Labels,
    metric: Literal["euclidean", "cosine"] = "euclidean",
    sample_size: int | None = 10_000,
    random_state: int | np.random.Generator = 0,
) -> Estimate:
    """Mean silhouette width (Rousseeuw, 1987): how much nearer a point is to its own cluster than to another.

    Up to ``sample_size`` points it is exact. Above, it is the mean over a random sample of that many points,
    each with its distances to *all* points: an unbiased estimate, which the silhouette of a subsample is not.
    Time grows with n × sample_size, memory only with n.

    Parameters
    ----------
    vectors : array of shape (n, d)
        The points.
    labels : sequence of int or str
        The cluster of each point; points labelled -1 are ignored.
    metric : {"euclidean", "cosine"}, default "euclidean"
        The distance.
    sample_size : int or None, default 10_000
        The most points to take the mean over; None takes all.
    random_state : int or numpy Generator, default 0
        Draws the sample.

    Returns
    -------
    Estimate
        ``value`` in [-1, 1], NaN with fewer than two clusters; a point alone in its cluster has width 0.

    Examples
    --------
    >>> silhouette([[0.0], [0.0], [8.0], [8.0]], ["a", "a", "b", "b"])
    Estimate(value=1.0, error=0.0, n=4)
    """
    if metric not in ("euclidean", "cosine"):
        raise ParameterError(f"metric={metric!r} is not a known distance; pass 'euclidean' or 'cosine'.")
    if sample_size is not None and sample_size < 2:
        raise ParameterError(f"sample_size={sample_size} gives no standard error; pass at least 2, or None for all.")
    clusters = group(vectors, labels, metric)
    n_points = clusters.owner.size
    if clusters.sizes.size < 2:
        return Estimate(math.nan, math.nan, n_points)
    rows = np.arange(n_points)
    if sample_size is not None and sample_size < n_points:
        rows = np.sort(np.random.default_rng(random_state).choice(n_points, sample_size, replace=False))
    parts = [rows[block] for block in blocks(rows.size, n_points)]
    widths = np.concatenate([_silhouette_widths(clusters, part, metric) for part in parts])
    # drawn without replacement: the finite-population correction makes the error of a full sample 0
    error = widths.std(ddof=1) * math.sqrt((1 - rows.size / n_points) / rows.size)
    return Estimate(float(widths.mean()), float(error), rows.size)


def _silhouette_widths(clusters: Clusters, rows: NDArray[np.intp], metric: str) -> Floats:
    """Silhouette width of some of the points, by their distances to all."""
    points, own, each = clusters.points, clusters.owner[rows], np.arange(rows.size)
    if metric == "cosine":
        distances = cosine_distances(points[rows], points)
    else:
        distances = np.sqrt(squared_distances(points[rows], points))
    distances[each, rows] = 0
    sums: Floats = np.add.reduceat(distances, clusters.starts, axis=1)
    sizes = clusters.sizes[own]
    inner = sums[each, own] / np.maximum(sizes - 1, 1)
    sums /= clusters.sizes
    sums[each, own] = np.inf
    return _widths(inner, sums.min(axis=1), sizes)


def simplified_silhouette(vectors: ArrayLike, labels: Labels) -> float:
    """Mean silhouette width with distances to cluster centres instead of points; always exact, and fast.

    Parameters
    ----------
    vectors : array of shape (n, d)
        The points.
    labels : sequence of int or str
        The cluster of each point; points labelled -1 are ignored.

    Returns
    -------
    float
        In [-1, 1], NaN with fewer than two clusters; a point alone in its cluster has width 0.

    Examples
    --------
    >>> simplified_silhouette([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    0.898989898989899
    """
    clusters = group(vectors, labels)
    if clusters.sizes.size < 2:
        return math.nan
    centres = clusters.centres
    total = 0.0
    for block in blocks(clusters.owner.size, clusters.sizes.size):
        distances = np.sqrt(squared_distances(clusters.points[block], centres))
        own = clusters.owner[block]
        each = np.arange(own.size)
        inner = distances[each, own]
        distances[each, own] = np.inf
        total += _widths(inner, distances.min(axis=1), clusters.sizes[own]).sum()
    return float(total / clusters.owner.size)


def dunn(vectors: ArrayLike, labels: Labels) -> float:
    """Smallest distance between two clusters over the largest diameter of one (Dunn, 1974).

    The distance of two clusters is that of their closest points (single link), the diameter of a cluster the
    distance of its farthest points. Exact; time grows with n², memory only with n.

    Parameters
    ----------
    vectors : array of shape (n, d)
        The points.
    labels : sequence of int or str
        The cluster of each point; points labelled -1 are ignored.

    Returns
    -------
    float
        At least 0, higher is better. NaN with fewer than two clusters; if every cluster is a single point,
        infinity, or NaN if two of them are equal.

    Examples
    --------
    >>> dunn([[0.0], [1.0], [5.0], [7.0]], [0, 0, 1, 1])
    2.0
    """
    clusters = group(vectors, labels)
    if clusters.sizes.size < 2:
        return math.nan
    separation, diameter = math.inf, 0.0  # squared
    for block in blocks(clusters.owner.size, clusters.owner.size):
        distances = squared_distances(clusters.points[block], clusters.points)
        own = clusters.owner[block]
        each = np.arange(own.size)
        diameter = max(diameter, np.maximum.reduceat(distances, clusters.starts, axis=1)[each, own].max())
        nearest = np.minimum.reduceat(distances, clusters.starts, axis=1)
        nearest[each, own] = np.inf
        separation = min(separation, nearest.min())
    if diameter == 0:
        return math.inf if separation > 0 else math.nan
    return math.sqrt(separation / diameter)


def davies_bouldin(vectors: ArrayLike, labels: Labels) -> float:
    """Mean over clusters of the worst ratio of spreads to distance of centres (Davies and Bouldin, 1979).

    Parameters
    ----------
    vectors : array of shape (n, d)
        The points.
    labels : sequence of int or str
        The cluster of each point; points labelled -1 are ignored.

    Returns
    -------
    float
        At least 0, lower is better; NaN with fewer than two clusters, 0 when all are singletons.

    Examples
    --------
    >>> davies_bouldin([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    0.2
    """
    clusters = group(vectors, labels)
    if clusters.sizes.size < 2:
        return math.nan
    if clusters.sizes.max() == 1:  # scikit-learn refuses as many clusters as points
        return 0.0
    return float(metrics.davies_bouldin_score(clusters.points, clusters.owner))


def calinski_harabasz(vectors: ArrayLike, labels: Labels) -> float:
    """Dispersion between clusters over that within, each per degree of freedom (Caliński and Harabasz, 1974).

    Parameters
    ----------
    vectors : array of shape (n, d)
        The points.
    labels : sequence of int or str
        The cluster of each point; points labelled -1 are ignored.

    Returns
    -------
    float
        At least 0, higher is better; NaN with fewer than two clusters or when all are singletons. With no
        dispersion within it is 1, as in scikit-learn.

    Examples
    --------
    >>> calinski_harabasz([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    50.0
    """
    clusters = group(vectors, labels)
    if clusters.sizes.size < 2 or clusters.sizes.max() == 1:
        return math.nan
    return float(metrics.calinski_harabasz_score(clusters.points, clusters.owner))


def intra_cluster_distance(vectors: ArrayLike, labels: Labels) -> float:
    """Mean over clusters of the average distance between the centroid and its points (SCCL, section 4.2.1).

    Parameters
    ----------
    vectors : array of shape (n, d)
        The points.
    labels : sequence of int or str
        The cluster of each point; points labelled -1 are ignored.

    Returns
    -------
    float
        At least 0, every cluster weighing the same; NaN with no cluster.

    Examples
    --------
    >>> intra_cluster_distance([[0.0], [2.0], [10.0], [16.0]], [0, 0, 1, 1])
    2.0
    """
    clusters = group(vectors, labels)
    if clusters.sizes.size == 0:
        return math.nan
    distances = np.linalg.norm(clusters.points - clusters.centres[clusters.owner], axis=1)
    return float((np.add.reduceat(distances, clusters.starts) / clusters.sizes).mean())


def inter_cluster_distance(vectors: ArrayLike, labels: Labels) -> float:
    """Mean over clusters of the distance from the centroid to the closest other one (SCCL, section 4.2.1).

    Parameters
    ----------
    vectors : array of shape (n, d)
        The points.
    labels : sequence of int or str
        The cluster of each point; points labelled -1 are ignored.

    Returns
    -------
    float
        At least 0; NaN with fewer than two clusters.

    Examples
    --------
    >>> inter_cluster_distance([[0.0], [2.0], [10.0], [16.0]], [0, 0, 1, 1])
    12.0
    """
    clusters = group(vectors, labels)
    if clusters.sizes.size < 2:
        return math.nan
    distances = np.sqrt(squared_distances(clusters.centres, clusters.centres))
    np.fill_diagonal(distances, np.inf)
    return float(distances.min(axis=1).mean())


def size_entropy(labels: Labels, n_clusters: int) -> float:
    """Evenness of the cluster sizes: their entropy over that of ``n_clusters`` equal clusters, log K.

    Parameters
    ----------
    labels : sequence of int or str
        The cluster of each text; texts labelled -1 are ignored.
    n_clusters : int
        The number of clusters, empty ones included.

    Returns
    -------
    float
        1 if all sizes are equal, 0 if one cluster has all texts; NaN when no text has a cluster or
        ``n_clusters`` is 1.

    Examples
    --------
    >>> size_entropy([0, 0, 1, 1], n_clusters=4)
    0.5
    """
    codes = encode(labels, "labels").codes
    if codes.size == 0:
        raise DataError("labels has 0 entries; pass the label of at least one text.")
    sizes = np.bincount(codes[codes >= 0])
    if n_clusters < max(1, sizes.size):
        raise ParameterError(
            f"n_clusters={n_clusters} but the labels name {sizes.size} clusters; "
            f"pass n_clusters >= {max(1, sizes.size)}."
        )
    if sizes.size == 0 or n_clusters == 1:
        return math.nan
    shares = sizes / sizes.sum()
    return float(np.sum(shares * np.log(1 / shares)) / math.log(n_clusters))
