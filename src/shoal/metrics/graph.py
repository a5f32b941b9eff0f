"""Quality of a clustering by a graph of the points, without known classes."""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix

from shoal.errors import DataError
from shoal.metrics._labels import Labels, encode


def modularity(graph: csr_matrix, labels: Labels) -> float:
    r"""Weight of the edges inside clusters beyond what the nodes' degrees alone would give (Newman, 2004).

    .. math:: Q = \frac{1}{2m} \sum_{ij} \Big( A_{ij} - \frac{d_i d_j}{2m} \Big) [c_i = c_j]

    Parameters
    ----------
    graph : csr_matrix of shape (n, n)
        A, weights >= 0; if it is not symmetric, the mean of both directions counts.
    labels : sequence of int or str
        The cluster of each node; nodes labelled -1 and their edges are ignored.

    Returns
    -------
    float
        In [-1/2, 1), 0 for one cluster of all; NaN without edges.

    Examples
    --------
    >>> two_pairs = csr_matrix([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> modularity(two_pairs, ["a", "a", "b", "b"])
    0.5
    """
    codes = encode(labels, "labels").codes
    if graph.shape != (codes.size, codes.size):
        raise DataError(
            f"graph has shape {graph.shape} and labels has {codes.size} entries; "
            "pass a graph of shape (n, n) and n labels."
        )
    edges = coo_matrix(graph)
    start, end, weight = codes[edges.row], codes[edges.col], edges.data.astype(np.float64)
    kept = (start >= 0) & (end >= 0)
    start, end, weight = start[kept], end[kept], weight[kept]
    total = weight.sum()
    if not total > 0:
        return math.nan
    degrees = (np.bincount(start, weight, codes.size) + np.bincount(end, weight, codes.size)) / 2
    return float(weight[start == end].sum() / total - ((degrees / total) ** 2).sum())
