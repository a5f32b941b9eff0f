"""Average linkage by cosine distance, for any number of rows."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from shoal.clusterers.chain import components, in_order, merge_labels
from shoal.clusterers.linkage import MAX_TEXTS
from shoal.errors import ParameterError
from shoal.vectors import BLOCK_ROWS, Vectors, cluster_means

# Groups that stand for the rows when there are too many rows: a tenth of the limit links in seconds, and is still
# hundreds of groups per cluster if clusters are few. If they are many, each gets at least ten.
GROUPS_SHARE = 10
# The groups need only be small, not optimal: a random start and a few passes are enough.
GROUPING_ITERATIONS = 5


def average_linkage_labels(
    vectors: Vectors, n_clusters: int, max_rows: int = MAX_TEXTS, seed: int = 0
) -> NDArray[np.int64]:
    """Merge the two clusters with the smallest mean cosine distance until ``n_clusters`` are left.

    Up to ``max_rows`` it is exact, with 16 bytes for each pair of rows (7 GB for 30,000). Beyond that, k-means first
    makes small groups, which are merged by the same rule: the mean of 1 - x·y over all pairs from two groups is
    1 minus the product of their means, so only the grouping itself is approximate.

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
        groups = _group(vectors, min(max_rows, max(max_rows // GROUPS_SHARE, 10 * n_clusters)), seed)
        sizes = np.bincount(groups)
        means = cluster_means(vectors, groups, len(sizes)).astype(np.float64)
        merged = merge_labels(np.maximum(1 - means @ means.T, 0), n_clusters, sizes=sizes)
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
    """Split the rows into many small groups, numbered without gaps."""
    # scikit-learn's k-means, because it labels in chunks: rows times groups would not fit in memory.
    model = KMeans(n_groups, init="random", n_init=1, max_iter=GROUPING_ITERATIONS, random_state=seed)
    with warnings.catch_warnings():  # fewer distinct rows than groups: fewer groups are made
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.unique(model.fit_predict(vectors), return_inverse=True)[1]
