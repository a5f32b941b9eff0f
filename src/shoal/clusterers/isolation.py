"""Outliers of clusters, by how few random cuts isolate them (Liu, Ting and Zhou 2008)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.vectors import Vectors

# Rows that a tree is grown from, as published: more blur the outliers.
SAMPLE = 256
EULER = 0.5772156649


def isolation_depths(
    vectors: Vectors, labels: NDArray[np.int64], rng: np.random.RandomState, n_trees: int = 50
) -> NDArray[np.float64]:
    """Return how deep each row lies in the isolation forest of its own cluster; outliers are near the root.

    A tree cuts a random coordinate at a random place between the lowest and the highest value of its sample, until
    each row of the sample is alone. The trees of all clusters grow at once, level by level, and every row of a cluster
    passes down with the sample: scikit-learn's forests, one per cluster, take twenty times as long for small clusters.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        The rows.
    labels : ndarray of shape (n,)
        The cluster of each.
    rng : RandomState
        Draws samples and cuts.
    n_trees : int, default=50
        Trees per cluster.

    Returns
    -------
    ndarray of shape (n,)
        The mean depth, as a share of that of a row in a tree without outliers.

    Examples
    --------
    >>> points = np.array([[0.0], [0.1], [0.2], [0.3], [9.0]])
    >>> int(isolation_depths(points, np.zeros(5, int), np.random.RandomState(0)).argmin())
    4
    """
    n_rows, deepest = len(vectors), int(np.log2(SAMPLE))
    row = np.tile(np.arange(n_rows), n_trees)
    _, node = np.unique(np.repeat(np.arange(n_trees), n_rows) * (labels.max() + 1) + labels[row], return_inverse=True)
    sampled = _ranks(node, rng) < SAMPLE
    depth = np.zeros(len(row))
    going = np.arange(len(row))
    for level in range(deepest + 1):
        _, node = np.unique(node, return_inverse=True)
        n_nodes = node.max(initial=-1) + 1
        values = vectors[row[going], rng.randint(vectors.shape[1], size=n_nodes)[node]]
        inside = sampled[going]
        low, high = np.full(n_nodes, np.inf), np.full(n_nodes, -np.inf)
        np.minimum.at(low, node[inside], values[inside])
        np.maximum.at(high, node[inside], values[inside])
        size = np.bincount(node[inside], minlength=n_nodes)
        ends = (size < 2) | (low >= high) | (level == deepest)
        stays = ends[node]
        depth[going[stays]] = level + _usual_depth(size)[node[stays]]
        with np.errstate(invalid="ignore"):  # the ends of a node without a sample are infinite
            cut = low + (high - low) * rng.random_sample(n_nodes)
        right = values > cut[node]
        node, going = (2 * node + right)[~stays], going[~stays]
    usual = _usual_depth(np.minimum(np.bincount(labels), SAMPLE))[labels]
    shares: NDArray[np.float64] = depth.reshape(n_trees, n_rows).mean(axis=0) / np.maximum(usual, 1)
    return shares


def _ranks(groups: NDArray[np.int64], rng: np.random.RandomState) -> NDArray[np.int64]:
    """Give the members of each group numbers in random order, from 0."""
    order = np.lexsort((rng.random_sample(len(groups)), groups))
    counts = np.bincount(groups)
    ranks = np.empty(len(groups), dtype=np.int64)
    ranks[order] = np.arange(len(groups)) - np.repeat(np.cumsum(counts) - counts, counts)
    return ranks


def _usual_depth(size: NDArray[np.int64]) -> NDArray[np.float64]:
    """Mean depth in a tree of ``size`` rows: 2 H(size - 1) - 2 (size - 1) / size (equation 1)."""
    rows = np.maximum(size, 2).astype(np.float64)
    harmonic = np.where(rows > 2, np.log(rows - 1) + EULER, 1.0)
    return np.where(size < 2, 0.0, 2 * harmonic - 2 * (rows - 1) / rows)
