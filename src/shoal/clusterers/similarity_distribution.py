"""HAC-SD: agglomerative clustering of the similarities that stand out (Rakib et al. 2020)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from shoal.clusterers.chain import merge_labels
from shoal.clusterers.linkage import Linkage, linkage_of
from shoal.errors import DataError
from shoal.progress import progress
from shoal.vectors import BLOCK_ROWS, Vectors, unit_rows

# Bins of the first look at the distribution; the values of one bin, a thousandth of all, are then compared exactly.
BINS = 4096


def fit_hac_sd(vectors: Vectors, n_clusters: int, *, linkage: str = "average", max_memory: float = 4.0) -> Linkage:
    """Cluster by linkage of the N²/K similarities that stand out most.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        The rows; compared by cosine.
    n_clusters : int
        The number of clusters.
    linkage : {"average", "ward", "complete", "single"}, default="average"
        The distance of two clusters.
    max_memory : float, default=4.0
        Most memory for the matrix of distances, in GB: four bytes per pair.

    Returns
    -------
    Linkage
        A row belongs to the cluster of its nearest fitted row.

    Raises
    ------
    DataError
        If the matrix needs more memory than that.

    Examples
    --------
    >>> angles = np.array([0.0, 0.1, 1.0, 1.1, 3.0])
    >>> vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    >>> fit_hac_sd(vectors, 3).scores(vectors).argmax(axis=1).tolist()
    [0, 0, 1, 1, 2]
    """
    needed = 4 * len(vectors) ** 2 / 1e9
    if needed > max_memory:
        most = int((max_memory * 1e9 / 4) ** 0.5)
        raise DataError(
            f"HAC-SD of {len(vectors)} texts holds all pairs in {needed:.1f} GB but max_memory={max_memory:g}; pass "
            f"max_memory={np.ceil(needed):.0f} if the machine has it, fit at most {most} texts and predict the "
            "others, or use the method kmeans."
        )
    points = np.ascontiguousarray(unit_rows(vectors), dtype=np.float32)
    if n_clusters == 1:
        return linkage_of(points, np.zeros(len(points), np.int64), 1)
    labels = merge_labels(outstanding_distances(points, n_clusters), n_clusters, linkage=linkage)
    return linkage_of(points, labels, n_clusters)


def outstanding_distances(points: Vectors, n_clusters: int) -> Vectors:
    """Return 1 - cosine where the cosine stands out, and 1 elsewhere: a pair that does not stand out is unlike.

    A cosine stands out for a row by how many standard deviations it is above the mean of the row's cosines with all
    others. Of these N² values the N²/K largest count, the average size of a cluster for each row; a pair counts if it
    stands out for either of its rows.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        Rows of length one.
    n_clusters : int
        K.

    Returns
    -------
    ndarray of float32, shape (n, n)
        Symmetric; zeros in the diagonal.

    Examples
    --------
    >>> points = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], dtype=np.float32)
    >>> outstanding_distances(points, 2).tolist()
    [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]]
    """
    n_rows = len(points)
    matrix = np.empty((n_rows, n_rows), dtype=np.float32)
    mean, spread = np.empty(n_rows, np.float32), np.empty(n_rows, np.float32)
    with progress("Similarities", 3 * n_rows) as bar:
        for rows in _blocks(n_rows):
            np.matmul(points[rows], points.T, out=matrix[rows])
            own = np.arange(n_rows)[rows]
            matrix[own, own] = np.nan  # a row's cosine with itself says nothing
            mean[rows], spread[rows] = np.nanmean(matrix[rows], axis=1), np.nanstd(matrix[rows], axis=1)
            bar.advance(len(own))
        # a tie with all others stands out for none
        spread = np.maximum(spread, np.finfo(np.float32).eps)
        least = _threshold(matrix, mean, spread, n_rows**2 // n_clusters)
        bar.advance(n_rows)
        for rows in _blocks(n_rows):
            block = matrix[rows]
            outstanding = (block - mean[rows, None]) / spread[rows, None] >= least
            outstanding |= (block - mean) / spread >= least
            matrix[rows] = np.where(outstanding, np.maximum(1 - block, 0), 1)
            bar.advance(len(block))
    np.fill_diagonal(matrix, 0)
    return matrix


def _threshold(matrix: Vectors, mean: Vectors, spread: Vectors, count: int) -> float:
    """Return the ``count``-th largest standard score of all pairs, in blocks: first its bin, then its place there."""
    n_rows = len(matrix)
    if count >= n_rows * (n_rows - 1):
        return -np.inf

    def scores() -> Iterator[NDArray[np.float32]]:
        for rows in _blocks(n_rows):
            block = (matrix[rows] - mean[rows, None]) / spread[rows, None]
            yield block[np.isfinite(block)]

    lowest, highest = np.inf, -np.inf
    for block in scores():
        lowest, highest = min(lowest, float(block.min())), max(highest, float(block.max()))
    edges = np.linspace(lowest, highest, BINS + 1)
    counts = np.sum([np.histogram(block, edges)[0] for block in scores()], axis=0)
    above = np.cumsum(counts[::-1])[::-1]
    place = int(np.flatnonzero(above >= count)[-1])  # the last bin from which on there are enough
    low, high = edges[place], edges[place + 1]
    within = np.concatenate([block[(block >= low) & (block <= high)] for block in scores()])
    rank = count - (int(above[place + 1]) if place + 1 < BINS else 0)
    return float(np.partition(within, -rank)[-rank])


def _blocks(n_rows: int) -> Iterator[slice]:
    """Yield slices of at most ``BLOCK_ROWS`` rows."""
    for first in range(0, n_rows, BLOCK_ROWS):
        yield slice(first, min(first + BLOCK_ROWS, n_rows))
