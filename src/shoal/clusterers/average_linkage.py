"""Average linkage by cosine distance, for any number of rows."""

from __future__ import annotations

import math
import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from shoal.clusterers.chain import components, in_order, merge_labels
from shoal.clusterers.linkage import MAX_TEXTS
from shoal.clusterers.threads import threads_for
from shoal.errors import ParameterError
from shoal.vectors import BLOCK_ROWS, Vectors, cluster_means

# Groups of rows need only be small, not optimal: a random start and a few passes are enough.
GROUPING_ITERATIONS = 5


def average_linkage_labels(
    vectors: Vectors, n_clusters: int, max_rows: int = MAX_TEXTS, seed: int = 0
) -> NDArray[np.int64]:
    """Merge the two clusters with the smallest mean cosine distance until ``n_clusters`` are left.

    Up to ``max_rows`` it is exact, with 16 bytes for each pair of rows (7 GB for 30,000). Beyond that, k-means first
    makes about as many small groups, which are merged by the same rule: the mean of 1 - x·y over all pairs from two
    groups is 1 minus the product of their means, so only the grouping itself is approximate. Fewer groups would be
    linked sooner, but what is merged first would then depend on how they are drawn.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        Rows of length one.
    n_clusters : int
        The exact number of clusters; at most n.
    max_rows : int, default=30_000
        The most rows for which all pairs are held in memory.
    seed : int, default=0
        Draws the starts of the groups; no effect up to ``max_rows``.

    Returns
    -------
    ndarray of shape (n,)
        Labels 0, 1, … in order of first appearance.

    Examples
    --------
    >>> angles = np.array([0.0, 0.1, 1.0, 1.1, 3.0])
    >>> vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    >>> average_linkage_labels(vectors, 3).tolist()
    [0, 0, 1, 1, 2]
    """
    most = min(len(vectors), max_rows)
    if not 1 <= n_clusters <= most:
        raise ParameterError(
            f"n_clusters={n_clusters} but average linkage of {len(vectors)} rows with max_rows={max_rows} gives "
            f"1 to {most} clusters; pass a value in that range."
        )
    if len(vectors) == 1:
        return np.zeros(1, dtype=np.int64)
    if len(vectors) > max_rows:
        groups = _at_least(n_clusters, _group(vectors, max_rows, seed))
        sizes = np.bincount(groups)
        means = cluster_means(vectors, groups, len(sizes))
        distances = means @ means.T
        np.subtract(1, distances, out=distances)
        merged = merge_labels(np.maximum(distances, 0, out=distances), n_clusters, sizes=sizes)
        return in_order(merged[groups])
    merges = linkage(_condensed_distances(vectors), method="average")[: len(vectors) - n_clusters, :2].astype(np.int64)
    # Merge i makes node n + i from two earlier nodes. The lowest n - K merges leave K clusters, even with tied heights.
    made = len(vectors) + np.arange(len(merges))
    return in_order(components(merges.ravel(), np.repeat(made, 2), len(vectors) + len(merges))[: len(vectors)])


def _condensed_distances(vectors: Vectors) -> NDArray[np.float64]:
    """Return 1 - x·y for all pairs of rows, in scipy's order."""
    n_rows = len(vectors)
    condensed = np.empty(n_rows * (n_rows - 1) // 2)
    place = 0
    for first in range(0, n_rows, BLOCK_ROWS):
        block = 1 - vectors[first : first + BLOCK_ROWS] @ vectors[first:].T
        for i, row in enumerate(block):
            rest = row[i + 1 :]
            condensed[place : place + len(rest)] = rest
            place += len(rest)
    return np.maximum(condensed, 0, out=condensed)


def _group(vectors: Vectors, n_groups: int, seed: int) -> NDArray[np.int64]:
    """Split the rows into small groups, at least so many where rows differ, numbered without gaps.

    They are made in two steps, each of about the root of their number: rows times groups would take far longer.
    """
    parts = _split(vectors, math.isqrt(n_groups), seed)
    groups = np.empty(len(vectors), dtype=np.int64)
    n_made = 0
    for part in range(parts.max() + 1):
        rows = np.flatnonzero(parts == part)
        groups[rows] = n_made + _split(vectors[rows], math.ceil(n_groups * len(rows) / len(vectors)), seed)
        n_made = int(groups[rows].max()) + 1
    return groups


def _at_least(n_groups: int, groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give single rows groups of their own where there are fewer, because few rows differ."""
    numbers, first = np.unique(groups, return_index=True)
    repeated = np.setdiff1d(np.arange(len(groups)), first)[: max(0, n_groups - len(numbers))]
    groups[repeated] = len(numbers) + np.arange(len(repeated))
    return groups


def _split(vectors: Vectors, n_parts: int, seed: int) -> NDArray[np.int64]:
    """Split the rows into parts by a few passes of k-means, numbered without gaps."""
    model = KMeans(n_parts, init="random", n_init=1, max_iter=GROUPING_ITERATIONS, random_state=seed)
    with warnings.catch_warnings(), threads_for(len(vectors)):  # fewer distinct rows than parts: fewer parts are made
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.unique(model.fit_predict(vectors), return_inverse=True)[1]
