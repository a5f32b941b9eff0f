"""Communities of a graph: groups of rows with more neighbours inside than outside, by the Leiden algorithm."""

from __future__ import annotations

import numpy as np
from graspologic_native import leiden_csr
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

# Each cycle starts from the communities of the one before; the second still moves a few rows, a third hardly any.
CYCLES = 2
# The resolutions between which a number of communities is looked for, and how often the interval is halved: after 12
# times its ends differ by half a percent.
RESOLUTIONS = (1e-4, 1e4)
HALVINGS = 12


def communities(graph: csr_matrix, resolution: float = 1.0, seed: int = 0) -> NDArray[np.int64]:
    """Find communities by modularity (Traag, Waltman and van Eck, 2019).

    Parameters
    ----------
    graph : csr_matrix of shape (n, n)
        Symmetric, weights >= 0.
    resolution : float, default=1.0
        Larger values give more and smaller communities; 1 is plain modularity.
    seed : int, default=0
        Draws the order in which rows are visited.

    Returns
    -------
    ndarray of shape (n,)
        Labels 0, 1, …, largest community first; a row without neighbours is alone.

    Examples
    --------
    >>> two_pairs = csr_matrix([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], dtype=float)
    >>> labels = communities(two_pairs)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """
    n_rows = graph.shape[0]
    if graph.nnz == 0:
        return np.arange(n_rows, dtype=np.int64)
    _, found = leiden_csr(
        graph.indptr.astype(np.int64),
        graph.indices.astype(np.int32),
        graph.data.astype(np.float64),
        n_rows,
        resolution=resolution,
        iterations=CYCLES,
        seed=seed,
    )
    labels = np.full(n_rows, -1, dtype=np.int64)
    labels[np.fromiter(found.keys(), np.int64, len(found))] = np.fromiter(found.values(), np.int64, len(found))
    alone = labels < 0
    labels[alone] = labels.max(initial=-1) + 1 + np.arange(alone.sum())
    _, owner, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return rank[owner]


def communities_at(graph: csr_matrix, n_clusters: int, seed: int = 0) -> NDArray[np.int64]:
    """Find about ``n_clusters`` communities, at the resolution that comes nearest to that number.

    Parameters
    ----------
    graph : csr_matrix of shape (n, n)
        As in :func:`communities`.
    n_clusters : int
        The number wanted. A graph in more separate parts has at least as many communities.
    seed : int, default=0
        As in :func:`communities`.

    Returns
    -------
    ndarray of shape (n,)
        Labels 0, 1, …, largest community first.

    Examples
    --------
    >>> two_pairs = csr_matrix([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], dtype=float)
    >>> communities_at(two_pairs, 2).max() + 1
    np.int64(2)
    """
    low, high = RESOLUTIONS
    best = communities(graph, 1.0, seed)
    for _ in range(HALVINGS):
        middle = float(np.sqrt(low * high))
        labels = communities(graph, middle, seed)
        n_found = labels.max() + 1
        if abs(n_found - n_clusters) < abs(best.max() + 1 - n_clusters):
            best = labels
        if n_found == n_clusters:
            break
        low, high = (middle, high) if n_found < n_clusters else (low, middle)
    return best
