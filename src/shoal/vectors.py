"""Arithmetic on rows of vectors that several rooms need."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Float = TypeVar("Float", bound=np.floating[Any])


def unit_rows(vectors: NDArray[Float]) -> NDArray[Float]:
    """Scale each row to length one; a zero row stays zero.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    unit: NDArray[Float] = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return unit


def squared_distances(rows: NDArray[np.float64], columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squared Euclidean distance of every row to every column; what is within rounding error of 0 is 0.

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
    squares = np.einsum("ij,ij->i", rows, rows)[:, None] + np.einsum("ij,ij->i", columns, columns)
    distances: NDArray[np.float64] = rows @ columns.T
    distances *= -2  # in place: these matrices are large
    distances += squares
    # the expansion |x|² + |y|² - 2xy loses this much, and leaves it between two equal points
    squares *= np.finfo(np.float64).eps * rows.shape[1]
    distances[distances <= squares] = 0
    return distances
