"""Arithmetic on rows of vectors, used by several packages."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from shoal.scratch import in_blocks

Vectors = NDArray[np.float32]
Float = TypeVar("Float", bound=np.floating[Any])

# Rows compared with all others at a time.
BLOCK_ROWS = 512


def unit_rows(vectors: NDArray[Float]) -> NDArray[Float]:
    """Scale each row to length one; a zero row stays zero.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    lengths: Any = np.empty((len(vectors), 1), dtype=vectors.dtype if vectors.dtype.kind == "f" else np.float64)
    for first in range(0, len(vectors), BLOCK_ROWS):  # a norm takes two copies of what it is of
        block = slice(first, first + BLOCK_ROWS)
        lengths[block] = np.linalg.norm(vectors[block], axis=1, keepdims=True)
    unit: NDArray[Float] = vectors / np.maximum(lengths, 1e-12)
    return unit


def squared_distances(rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.float64]:
    """Return the squared Euclidean distance of every row to every column; rounding errors around 0 become 0.

    In float64: |x|² + |y|² - 2xy cancels, and float32 would lose small distances far from the origin.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    columns : ndarray of shape (m, d)

    Returns
    -------
    ndarray of shape (n, m)

    Examples
    --------
    >>> squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])).tolist()
    [[25.0]]
    """
    columns = columns.astype(np.float64, copy=False)
    lengths = np.einsum("ij,ij->i", columns, columns)
    distances = np.empty((len(rows), len(columns)))
    for first in range(0, len(rows), BLOCK_ROWS):
        block = rows[first : first + BLOCK_ROWS].astype(np.float64, copy=False)
        squares = np.einsum("ij,ij->i", block, block)[:, None] + lengths
        found = squares - 2 * (block @ columns.T)
        # the rounding error of the expansion, which two equal points would keep as their distance
        found[found <= squares * (np.finfo(np.float64).eps * rows.shape[1])] = 0
        distances[first : first + BLOCK_ROWS] = found
    return distances


def membership(labels: NDArray[np.int64], n_clusters: int, dtype: type[np.floating[Any]] = np.float32) -> csr_matrix:
    """Return an indicator matrix, (n_clusters, n), 1 where a row is in a cluster; times vectors, it sums each cluster.

    Examples
    --------
    >>> membership(np.array([1, 0, 1]), 2).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    """
    rows = np.arange(len(labels))
    return csr_matrix((np.ones(len(labels), dtype), (labels, rows)), shape=(n_clusters, len(labels)))


def cluster_means(vectors: NDArray[Any], labels: NDArray[np.int64], n_clusters: int) -> Vectors:
    """Return the mean vector of each cluster, (n_clusters, d); zeros for a cluster without members."""
    sums = np.zeros((n_clusters, vectors.shape[1]), dtype=np.float64)
    for block in in_blocks(vectors):
        sums += membership(labels[block], n_clusters, np.float64) @ vectors[block]
    return (sums / np.maximum(np.bincount(labels, minlength=n_clusters), 1)[:, None]).astype(np.float32)
