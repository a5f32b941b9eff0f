"""A linear softmax head, fitted to hard or soft labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from shoal.errors import DataError, ParameterError
from shoal.vectors import Vectors

# Adam (Kingma and Ba 2015) with its published moments. Full batches have no noise, so the step may be large.
LEARNING_RATE = 0.05
FIRST_MOMENT, SECOND_MOMENT, EPSILON = 0.9, 0.999, 1e-8


@dataclass(frozen=True)
class SoftmaxHead:
    """Cluster probabilities as a softmax of a linear map.

    Parameters
    ----------
    weights : ndarray of shape (d, n_clusters)
        Apply to unscaled vectors: the scale used in fitting is included.
    bias : ndarray of shape (n_clusters,)
        One per cluster.
    """

    weights: Vectors
    bias: Vectors

    def log_probabilities(self, vectors: Vectors) -> Vectors:
        """Return the log-probability of each cluster for each row, (n, n_clusters)."""
        return np.asarray(log_softmax(vectors @ self.weights + self.bias, axis=1), dtype=np.float32)


def fit_softmax(
    vectors: Vectors,
    targets: NDArray[Any],
    n_clusters: int,
    *,
    scale: float = 10.0,
    weight_decay: float = 1e-4,
    n_iter: int = 60,
    max_rows: int = 30_000,
) -> SoftmaxHead:
    """Fit a softmax head by cross-entropy; the same input gives the same head.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        Rows of length one.
    targets : ndarray of shape (n,) or (n, n_clusters)
        The cluster of each row, or its probabilities.
    n_clusters : int
        The number of clusters.
    scale : float, default=10.0
        Length of the rows while fitting: coordinates of unit vectors are small, and the head would need weights
        too large for weight decay and few iterations.
    weight_decay : float, default=1e-4
        Half the squared weights times this are added to the loss.
    n_iter : int, default=60
        Full-batch steps of Adam. Few on purpose: labels from a clustering are partly wrong, and a head that stops
        early does not memorise the wrong ones.
    max_rows : int, default=30_000
        If there are more rows, a fixed random sample is used, as balanced between clusters as possible.

    Returns
    -------
    SoftmaxHead

    Examples
    --------
    >>> head = fit_softmax(np.eye(2, dtype=np.float32), np.array([0, 1]), 2)
    >>> np.exp(head.log_probabilities(np.eye(2, dtype=np.float32))).round().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    _check(vectors, targets, n_clusters)
    hard = targets if targets.ndim == 1 else targets.argmax(axis=1)
    rows = _balanced(hard, max_rows) if len(hard) > max_rows else np.arange(len(hard))
    # The bias is the weight of a coordinate that is always 1.
    points = np.hstack([vectors[rows] * scale, np.ones((len(rows), 1))]).astype(np.float32)
    wanted = (np.eye(n_clusters)[targets[rows]] if targets.ndim == 1 else targets[rows]).astype(np.float32)
    weights: Vectors = np.zeros((points.shape[1], n_clusters), dtype=np.float32)
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, n_iter + 1):
        gradient = _gradient(points, wanted, weights, weight_decay)
        first += (1 - FIRST_MOMENT) * (gradient - first)
        second += (1 - SECOND_MOMENT) * (gradient**2 - second)
        root = np.sqrt(second / (1 - SECOND_MOMENT**step)) + EPSILON
        weights -= LEARNING_RATE / (1 - FIRST_MOMENT**step) * first / root
    return SoftmaxHead(weights[:-1] * np.float32(scale), weights[-1])


def _check(vectors: Vectors, targets: NDArray[Any], n_clusters: int) -> None:
    """Refuse targets that do not match the vectors or the clusters."""
    if targets.shape not in ((len(vectors),), (len(vectors), n_clusters)):
        raise DataError(
            f"targets has shape {targets.shape} for {len(vectors)} vectors and n_clusters={n_clusters}; "
            f"pass shape ({len(vectors)},) or ({len(vectors)}, {n_clusters})."
        )
    if targets.ndim == 1 and not ((targets >= 0) & (targets < n_clusters)).all():
        raise ParameterError(
            f"targets has labels from {targets.min()} to {targets.max()} but n_clusters={n_clusters}; "
            f"pass labels from 0 to {n_clusters - 1}."
        )


def _balanced(labels: NDArray[np.int64], max_rows: int) -> NDArray[np.int64]:
    """Draw equally many rows from every cluster, or all it has; in ascending order."""
    shuffled = np.random.default_rng(0).permutation(len(labels))
    order = shuffled[np.argsort(labels[shuffled], kind="stable")]
    counts = np.bincount(labels)
    rank = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)  # within the cluster
    return np.sort(order[np.argsort(rank, kind="stable")[:max_rows]])


def _gradient(points: Vectors, targets: Vectors, weights: Vectors, weight_decay: float) -> Vectors:
    """Gradient of the mean cross-entropy + weight_decay/2 · |W|², for targets whose rows sum to 1."""
    errors = points @ weights
    # Softmax in place: scipy's makes four copies of rows times clusters, and takes longer than the products.
    errors -= errors.max(axis=1, keepdims=True)
    np.exp(errors, out=errors)
    errors /= errors.sum(axis=1, keepdims=True)
    errors -= targets
    gradient: Vectors = points.T @ errors / len(points) + weight_decay * weights
    return gradient
