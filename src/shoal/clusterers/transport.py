"""k-means by optimal transport: soft assignments with fixed cluster sizes, which are then gradually relaxed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.clusterers.sinkhorn import sinkhorn
from shoal.errors import ParameterError
from shoal.progress import progress
from shoal.vectors import Vectors, membership, unit_rows

# Steps with equal sizes: k-means tends to split a large cluster and to join two small
# ones, and equal sizes undo both. Ten are enough for the centres to settle.
START_SCHEDULE = (0.0,) * 10
# Then they are relaxed: equal sizes, the square root of the current ones, nearly the current ones. With an
# exponent of 1 small clusters would vanish, since nothing fixes their size.
RELAX_SCHEDULE = (0.0,) * 2 + (0.5,) * 5 + (0.9,) * 10
# A cluster that lost all its rows can still win some back.
SMALLEST_SHARE = 1e-9


@dataclass(frozen=True)
class TransportState:
    """The state after a transport step.

    Parameters
    ----------
    assignment : ndarray of shape (n, n_clusters)
        Soft assignment; rows sum to 1.
    centers : ndarray of shape (n_clusters, d)
        Unit vectors.
    sizes : ndarray of shape (n_clusters,)
        Shares of the clusters; they sum to 1.
    """

    assignment: Vectors
    centers: Vectors
    sizes: Vectors

    @property
    def labels(self) -> NDArray[np.int64]:
        """The most probable cluster of each row."""
        labels: NDArray[np.int64] = self.assignment.argmax(axis=1)
        return labels


def transport_steps(
    vectors: Vectors,
    centers: Vectors,
    sizes: NDArray[np.floating],
    exponents: Sequence[float],
    temperature: float = 0.05,
    n_iterations: int = 20,
) -> TransportState:
    """Alternate between assignments with given cluster sizes and the centres of those assignments.

    One step, with x the rows, M the centres, b the sizes and g the step's exponent:
    S = x Mᵀ minus the maximum of each row; Q = Sinkhorn(exp(S / temperature)) with column sums proportional to bᵍ;
    M = l2(Qᵀx); b = the column means of Q.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        Rows of length one.
    centers : ndarray of shape (n_clusters, d)
        Unit vectors to start from.
    sizes : ndarray of shape (n_clusters,)
        Shares to start from; no effect if the first exponent is 0.
    exponents : sequence of float
        One per step: 0 asks for equal sizes, 1 for those of the previous step.
    temperature : float, default=0.05
        Divides the cosines; 0.05 is the value of the built-in encoder's training.
    n_iterations : int, default=20
        Sinkhorn sweeps per step. The next step continues from there, so they need not converge.

    Returns
    -------
    TransportState

    Examples
    --------
    >>> vectors = np.repeat(np.eye(2, dtype=np.float32), [3, 1], axis=0)
    >>> transport_steps(vectors, np.eye(2, dtype=np.float32), np.array([0.75, 0.25]), [1.0]).sizes.tolist()
    [0.75, 0.25]
    """
    if not exponents:
        raise ParameterError("exponents is empty; pass one exponent per step, at least one.")
    points = np.ascontiguousarray(vectors, dtype=np.float32)
    for exponent in exponents:
        targets = np.maximum(sizes, SMALLEST_SHARE).astype(np.float32) ** np.float32(exponent)
        scores: Vectors = points @ centers.T
        # Relative to the row's maximum: every row then has the same weight in Sinkhorn's first column sums.
        scores -= scores.max(axis=1, keepdims=True)
        assignment: Vectors = sinkhorn(scores, targets, temperature, n_iterations)
        sizes = assignment.mean(axis=0)
        centers = unit_rows(assignment.T @ points)
    return TransportState(assignment, centers, sizes.astype(np.float32, copy=False))


def equal_sizes(vectors: Vectors, centers: Vectors, temperature: float = 0.05) -> TransportState:
    """Give every cluster the same size, starting from these centres: ten transport steps.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        Rows of length one.
    centers : ndarray of shape (n_clusters, d)
        Unit vectors.
    temperature : float, default=0.05
        As in :func:`transport_steps`.

    Returns
    -------
    TransportState

    Examples
    --------
    >>> vectors = np.repeat(np.eye(2, dtype=np.float32), [3, 1], axis=0)
    >>> equal_sizes(vectors, np.eye(2, dtype=np.float32)).sizes.round(2).tolist()
    [0.5, 0.5]
    """
    return _schedule(vectors, centers, START_SCHEDULE, temperature)


def relaxed_sizes(vectors: Vectors, state: TransportState, temperature: float = 0.05) -> TransportState:
    """Let clusters of equal size grow and shrink, step by step, towards the sizes that suit the rows.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        Rows of length one.
    state : TransportState
        From :func:`equal_sizes`.
    temperature : float, default=0.05
        As in :func:`transport_steps`.

    Returns
    -------
    TransportState

    Examples
    --------
    >>> vectors = np.repeat(np.eye(3, dtype=np.float32), [6, 3, 3], axis=0)
    >>> state = relaxed_sizes(vectors, equal_sizes(vectors, np.eye(3, dtype=np.float32)))
    >>> np.bincount(state.labels).tolist()
    [6, 3, 3]
    """
    return _schedule(vectors, state.centers, RELAX_SCHEDULE, temperature)


def _schedule(vectors: Vectors, centers: Vectors, exponents: Sequence[float], temperature: float) -> TransportState:
    """Transport with equal sizes first, one step per exponent, with a progress line."""
    state = TransportState(np.empty(0, np.float32), centers, np.full(len(centers), 1 / len(centers), np.float32))
    with progress("Transport", len(exponents), unit="steps") as bar:
        for exponent in exponents:
            state = transport_steps(vectors, state.centers, state.sizes, [exponent], temperature)
            bar.advance(1)
    return state


def cosine_silhouette(vectors: Vectors, labels: NDArray[np.int64]) -> float:
    """Mean silhouette width by cosine distance to the clusters' mean directions.

    Like :func:`shoal.metrics.simplified_silhouette` for rows of length one, but in float32 and without a copy of the
    vectors, for use inside a fit on large corpora.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        Rows of length one.
    labels : ndarray of shape (n,)
        The cluster of each row, 0, 1, …; some may have no members.

    Returns
    -------
    float
        In [-1, 1]; 0 for a row alone in its cluster, and with fewer than two clusters.

    Examples
    --------
    >>> cosine_silhouette(np.repeat(np.eye(2, dtype=np.float32), 3, axis=0), np.array([0, 0, 0, 1, 1, 1]))
    1.0
    """
    _, owner, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if len(counts) < 2:
        return 0.0
    each = np.arange(len(owner))
    distances = vectors @ unit_rows(membership(owner, len(counts)) @ vectors).T
    np.subtract(1, distances, out=distances)
    np.maximum(distances, 0, out=distances)
    inner = distances[each, owner]
    distances[each, owner] = np.inf
    outer = distances.min(axis=1)
    widths = (outer - inner) / np.maximum(np.maximum(outer, inner), 1e-9)
    return float(np.where(counts[owner] > 1, widths, 0).mean(dtype=np.float64))
