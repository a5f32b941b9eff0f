"""A graph of nearest neighbours by cosine, and vectors smoothed along it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags, identity, issparse

from shoal.errors import DataError
from shoal.progress import progress
from shoal.vectors import Vectors, unit_rows

# Cosines held at once: 16 MB, but those of at least so many rows; fewer would read all rows again for too little.
BLOCK_ENTRIES, BLOCK_ROWS = 2**22, 128
# The largest of a row are sought by the maxima of groups of columns: of about so many columns, but so many for each
# neighbour.
GROUP_COLUMNS, GROUPS = 64, 4


@dataclass(frozen=True)
class Neighbourhood:
    """The nearest rows of every row, nearest first.

    Parameters
    ----------
    indices : ndarray of shape (n, k)
        Their row numbers.
    cosines : ndarray of shape (n, k)
        Their cosines.
    """

    indices: NDArray[np.int64]
    cosines: Vectors


def nearest_neighbours(vectors: Vectors | csr_matrix, k: int, block_rows: int | None = None) -> Neighbourhood:
    """Find the ``k`` nearest rows of every row by cosine; exact, time grows with n², memory only with n.

    Among rows with exactly equal cosines above 0, the lower index comes first. A zero row has cosine 0 to all.

    Parameters
    ----------
    vectors : ndarray or csr_matrix of shape (n, d)
        Rows of length one, or zero rows.
    k : int
        Number of neighbours; at most n - 1. A row is not its own neighbour.
    block_rows : int, optional
        Rows compared with all others at a time; by default as many as give 2²² cosines, at least 128.

    Returns
    -------
    Neighbourhood

    Examples
    --------
    >>> vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]], dtype=np.float32)
    >>> nearest_neighbours(vectors, 1).indices.tolist()
    [[2], [2], [0]]
    """
    n_rows = vectors.shape[0]
    k = min(k, n_rows - 1)
    found = Neighbourhood(np.empty((n_rows, k), np.int64), np.empty((n_rows, k), np.float32))
    if k < 1:
        return found
    rows: Any = vectors.astype(np.float32, copy=False)
    columns = rows.T.tocsr() if issparse(rows) else rows.T
    step = block_rows or max(BLOCK_ROWS, BLOCK_ENTRIES // n_rows)
    with progress("Neighbours", n_rows) as bar:
        for first in range(0, n_rows, step):
            cosines = rows[first : first + step] @ columns
            # Sparse rows share a word with many others: the product is dense enough to treat as dense.
            cosines = cosines.toarray() if issparse(cosines) else cosines
            own = np.arange(len(cosines))
            cosines[own, first + own] = -np.inf
            block = slice(first, first + len(cosines))
            found.indices[block], found.cosines[block] = _largest(cosines, k)
            bar.advance(len(cosines))
    return found


def _largest(values: Vectors, k: int) -> tuple[NDArray[np.int64], Vectors]:
    """Return the columns and values of each row's ``k`` largest, largest first; ties by column.

    NumPy's own partition takes fifty times as long on rows with many equal values, such as the zeros of word counts.
    """
    n_rows, n_columns = values.shape
    # As large as the k-th largest are at least all that reach the k-th largest maximum of some groups of columns.
    n_groups = min(n_columns, max(GROUPS * k, n_columns // GROUP_COLUMNS))
    whole = n_columns // n_groups * n_groups
    maxima = values[:, :whole].reshape(n_rows, -1, n_groups).max(axis=1)
    rest = values[:, whole:]
    np.maximum(maxima[:, : rest.shape[1]], rest, out=maxima[:, : rest.shape[1]])
    least = np.partition(maxima, n_groups - k, axis=1)[:, n_groups - k, None]
    rows, columns = np.divmod(np.flatnonzero(values >= np.maximum(least, np.finfo(np.float32).tiny)), n_columns)
    order = np.lexsort((-values[rows, columns], rows))  # stable
    counts = np.bincount(rows, minlength=n_rows)
    place = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    largest = np.empty((n_rows, k), dtype=np.int64)
    kept = order[place < k]
    enough = counts >= k
    largest[enough] = columns[kept[enough[rows[kept]]]].reshape(-1, k)
    # Fewer than k values above 0.
    largest[~enough] = np.argsort(-values[~enough], axis=1, kind="stable")[:, :k]
    return largest, np.take_along_axis(values, largest, axis=1)


def graph_of(*neighbourhoods: Neighbourhood) -> csr_matrix:
    """Join neighbourhoods of the same rows into one weighted graph.

    An edge's weight is its cosine, or zero if that is negative, summed over the neighbourhoods. The larger of the two
    directions counts, so one row being a neighbour of the other is enough.

    Parameters
    ----------
    *neighbourhoods : Neighbourhood
        One per kind of features of the n rows.

    Returns
    -------
    csr_matrix of shape (n, n)
        Symmetric, no diagonal.

    Examples
    --------
    >>> pair = Neighbourhood(np.array([[1], [0]]), np.array([[0.5], [0.5]], dtype=np.float32))
    >>> graph_of(pair, pair).toarray().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    shapes = [neighbourhood.indices.shape[0] for neighbourhood in neighbourhoods]
    if len(set(shapes)) != 1:
        raise DataError(f"the neighbourhoods have {shapes} rows; pass one or more over the same rows.")
    n_rows = shapes[0]
    directed = csr_matrix((n_rows, n_rows), dtype=np.float32)
    for neighbourhood in neighbourhoods:
        weights = np.maximum(neighbourhood.cosines, 0).ravel()
        starts = np.repeat(np.arange(n_rows), neighbourhood.indices.shape[1])
        directed = directed + csr_matrix((weights, (starts, neighbourhood.indices.ravel())), shape=directed.shape)
    graph = directed.maximum(directed.T).tocsr()
    graph.eliminate_zeros()
    return graph


def smoothing_matrix(graph: csr_matrix) -> csr_matrix:
    """Return D^-½ (G + I) D^-½, D the row sums of G + I: the propagation of Kipf and Welling (2017).

    Parameters
    ----------
    graph : csr_matrix of shape (n, n)
        Symmetric, weights >= 0.

    Returns
    -------
    csr_matrix of shape (n, n)
        Symmetric, eigenvalues in [-1, 1].

    Examples
    --------
    >>> smoothing_matrix(csr_matrix([[0.0, 1.0], [1.0, 0.0]], dtype=np.float32)).toarray().round(2).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    with_self = graph + identity(graph.shape[0], dtype=np.float32, format="csr")
    scale = diags((1 / np.sqrt(np.asarray(with_self.sum(axis=1)).ravel())).astype(np.float32))
    return csr_matrix(scale @ with_self @ scale)


def smoothed(vectors: Vectors, matrix: csr_matrix, steps: int = 2, strength: float = 1.0) -> Vectors:
    """Move every row towards its neighbours: l2(x + strength · l2(Aˢ x)), where l2 scales rows to length one.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        Rows of length one.
    matrix : csr_matrix of shape (n, n)
        A, from :func:`smoothing_matrix`.
    steps : int, default=2
        s, how far influence travels: two steps reach the neighbours' neighbours; from about ten, distant clusters
        blur into each other.
    strength : float, default=1.0
        Weight of the neighbours against the row itself; 0 leaves the rows unchanged.

    Returns
    -------
    ndarray of shape (n, d)
        Rows of length one.

    Examples
    --------
    >>> matrix = smoothing_matrix(csr_matrix([[0.0, 1.0], [1.0, 0.0]], dtype=np.float32))
    >>> smoothed(np.eye(2, dtype=np.float32), matrix, steps=1).round(2)
    array([[0.92, 0.38],
           [0.38, 0.92]], dtype=float32)
    """
    spread = vectors
    for _ in range(steps):
        spread = matrix @ spread
    spread = unit_rows(spread)
    spread *= np.float32(strength)
    spread += vectors
    return unit_rows(spread)
