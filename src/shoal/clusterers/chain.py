"""Agglomerative merging by nearest-neighbour chains, on a matrix of distances that it overwrites."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from shoal.progress import progress

Floats = NDArray[np.floating]


def _average(to_left: Floats, to_right: Floats, left: float, right: float, others: Floats, between: float) -> Floats:
    """Mean over all pairs of members."""
    return (left * to_left + right * to_right) / (left + right)


def _ward(to_left: Floats, to_right: Floats, left: float, right: float, others: Floats, between: float) -> Floats:
    """Growth of the squared distances to the means, on squared distances (Ward 1963)."""
    grown: Floats = (left + others) * to_left + (right + others) * to_right - others * between
    return grown / (left + right + others)


def _complete(to_left: Floats, to_right: Floats, *_: object) -> Floats:
    """Keep the distance of the farthest pair of members."""
    return np.maximum(to_left, to_right)


def _single(to_left: Floats, to_right: Floats, *_: object) -> Floats:
    """Keep the distance of the nearest pair of members."""
    return np.minimum(to_left, to_right)


# The distances from a merged cluster to the others, from those of its two halves (Lance and Williams 1967).
JOINED: dict[str, Callable[..., Floats]] = {
    "average": _average,
    "ward": _ward,
    "complete": _complete,
    "single": _single,
}


def merge_labels(
    distances: Floats, n_clusters: int, *, sizes: NDArray[np.int64] | None = None, linkage: str = "average"
) -> NDArray[np.int64]:
    """Merge the closest clusters until ``n_clusters`` are left (Murtagh 1983).

    Needs no memory besides the matrix, and n² steps instead of the n³ of looking for the closest pair each time.

    Parameters
    ----------
    distances : ndarray of shape (n, n)
        Symmetric; overwritten.
    n_clusters : int
        The exact number of clusters; at most n.
    sizes : ndarray of shape (n,), optional
        How many rows each item stands for; by default one.
    linkage : {"average", "ward", "complete", "single"}, default="average"
        The distance of two clusters.

    Returns
    -------
    ndarray of shape (n,)
        Labels 0, 1, … in order of first appearance.

    Examples
    --------
    >>> points = np.array([0.0, 1.0, 10.0, 12.0, 30.0])
    >>> merge_labels(abs(points - points[:, None]), 3).tolist()
    [0, 0, 1, 1, 2]
    """
    n_rows = len(distances)
    joined = JOINED[linkage]
    if linkage == "ward":
        np.square(distances, out=distances)
    np.fill_diagonal(distances, np.inf)
    weights = np.ones(n_rows, distances.dtype) if sizes is None else sizes.astype(distances.dtype)
    alive = np.ones(n_rows, dtype=bool)
    heights: list[float] = []
    left: list[int] = []
    right: list[int] = []
    chain: list[int] = []
    with progress("Merging", n_rows, unit="merges") as bar:
        while len(heights) < n_rows - 1:
            chain = chain or [int(alive.argmax())]
            tip = chain[-1]
            near = int(distances[tip].argmin())
            if len(chain) < 2 or distances[tip, near] < distances[tip, chain[-2]]:
                chain.append(near)
                continue
            gone, kept = chain.pop(), chain.pop()  # nearest to each other
            between = distances[gone, kept]
            heights.append(float(between))
            left.append(gone)
            right.append(kept)
            row = joined(distances[gone], distances[kept], weights[gone], weights[kept], weights, between)
            weights[kept] += weights[gone]
            alive[gone] = False
            row[~alive] = np.inf
            row[kept] = np.inf
            distances[kept], distances[:, kept] = row, row
            distances[:, gone] = np.inf  # its row is never read again
            bar.advance(1)
    # Chains find the merges in another order than their heights. Any n - K of them leave exactly K clusters.
    lowest = np.argsort(heights, kind="stable")[: n_rows - n_clusters]
    return in_order(components(np.array(left, int)[lowest], np.array(right, int)[lowest], n_rows))


def components(left: NDArray[np.int64], right: NDArray[np.int64], n_nodes: int) -> NDArray[np.int64]:
    """Find the connected components of a graph given by its edges."""
    edges = csr_matrix((np.ones(len(left), np.int8), (left, right)), shape=(n_nodes, n_nodes))
    parts: NDArray[np.int64] = connected_components(edges, directed=False)[1].astype(np.int64)
    return parts


def in_order(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Renumber the clusters by their first rows."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return first.argsort().argsort()[inverse].astype(np.int64)
