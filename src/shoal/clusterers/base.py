"""What every clusterer of vectors offers."""

from __future__ import annotations

from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

Vectors = NDArray[np.float32]
State = dict[str, NDArray[np.generic]]

# Rows that are compared with all others at a time.
BLOCK_ROWS = 512


class Clusterer(Protocol):
    """A partition of a vector space that was learnt from vectors.

    ``scores`` is a pure function of one row: the cluster of a text is the arg max of its scores and the
    probabilities are their softmax, so that the texts it was fitted on and texts never seen take the same way.
    """

    kind: ClassVar[str]
    centers: Vectors
    n_iter: int

    def scores(self, vectors: Vectors) -> NDArray[np.float64]:
        """Return a log-score for each row and cluster, (n, n_clusters)."""

    def state(self) -> State:
        """Return the arrays that make it up, for safetensors."""

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build it again from :meth:`state`."""


def squared_distances(vectors: Vectors, others: Vectors) -> NDArray[np.float64]:
    """Return the squared Euclidean distance of every row to every other row, (n, m).

    Examples
    --------
    >>> squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])).tolist()
    [[25.0]]
    """
    # In float64: |x|² + |y|² - 2xy cancels, and float32 would lose small distances far from the origin.
    targets = others.astype(np.float64)
    other = np.einsum("ij,ij->i", targets, targets)
    squares = np.empty((len(vectors), len(others)))
    for first in range(0, len(vectors), BLOCK_ROWS):
        rows = vectors[first : first + BLOCK_ROWS].astype(np.float64)
        own = np.einsum("ij,ij->i", rows, rows)[:, None]
        squares[first : first + BLOCK_ROWS] = own + other - 2 * (rows @ targets.T)
    return np.maximum(squares, 0, out=squares)


def cluster_means(vectors: Vectors, labels: NDArray[np.int64], n_clusters: int) -> Vectors:
    """Return the mean vector of each cluster, (n_clusters, d); zeros for a cluster without members."""
    sums = np.zeros((n_clusters, vectors.shape[1]), dtype=np.float64)
    np.add.at(sums, labels, vectors)
    return (sums / np.maximum(np.bincount(labels, minlength=n_clusters), 1)[:, None]).astype(np.float32)


def membership(labels: NDArray[np.int64], n_clusters: int, dtype: type[np.floating] = np.float32) -> csr_matrix:
    """Return which rows are in which cluster, (n_clusters, n), as ones: its product with vectors sums each cluster.

    Examples
    --------
    >>> membership(np.array([1, 0, 1]), 2).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    """
    rows = np.arange(len(labels))
    return csr_matrix((np.ones(len(labels), dtype), (labels, rows)), shape=(n_clusters, len(labels)))
