"""Colours of clusters: clusters next to each other on the map never look alike, to colour-blind eyes either."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from shoal.report.places import Places

# The same colours twice, for a light and for a dark ground.
LIGHT = (
    *("#23408e", "#3f8fe0", "#8cc9ea", "#0e7c7b", "#43a047", "#b4bd2f"),
    *("#f2a516", "#e2562d", "#8f1d2c", "#ea94b8", "#9457c9", "#5b2a59"),
)
DARK = (
    *("#5c7cfa", "#58b0ff", "#b5e3ff", "#1fb5ad", "#6fd07a", "#dfe36a"),
    *("#ffc247", "#ff7a4d", "#d9455f", "#ffb3d1", "#b98aff", "#a05a9c"),
)
# Colours nearer than this, in OKLab, are alike; Okabe and Ito's well-known eight are 0.076 apart.
ALIKE = 0.075

# How the three kinds of colour-blindness see linear RGB: Machado, Oliveira and Fernandes (2009), severity 1.
_EYES = np.array(
    [
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ]
)
# Linear RGB to the eye's cones, and their cube roots to OKLab: Ottosson (2020).
_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
# Points around a point on the map that count as next to it.
_NEAR_POINTS = 8
# The distance at which two colours are near, what being alike costs more, and what each use of a colour does.
_NEAR, _MUCH, _OFTEN = 0.06, 5.0, 1e-2
_ROUNDS = 30


def differences(palette: tuple[str, ...]) -> NDArray[np.float64]:
    """Return how different every two colours are to the eye that tells them apart worst.

    Examples
    --------
    >>> differences(("#000000", "#ffffff")).round(2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    srgb = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in palette]) / 255
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.einsum("eij,cj->eci", _EYES, linear), 0, 1)
    places = np.cbrt(seen @ _CONES.T) @ _OKLAB.T
    apart = np.linalg.norm(places[:, :, None] - places[:, None], axis=-1)
    return np.asarray(apart.min(axis=0), dtype=np.float64)


def neighbours_on_map(places: Places, labels: NDArray[np.int64], n_clusters: int) -> NDArray[np.int64]:
    """Count how often a point of one cluster is next to a point of another, (n_clusters, n_clusters)."""
    there = np.flatnonzero(np.isfinite(places[:, 0]) & (labels >= 0))
    counts = np.zeros((n_clusters, n_clusters), dtype=np.int64)
    if len(there) < 2:
        return counts
    _, near = KDTree(places[there]).query(places[there], k=min(_NEAR_POINTS + 1, len(there)))
    own, others = labels[there][:, None], labels[there][near[:, 1:]]
    np.add.at(counts, (np.broadcast_to(own, others.shape), others), 1)
    counts += counts.T
    np.fill_diagonal(counts, 0)
    return counts


def choose_colours(touching: NDArray[np.int64]) -> NDArray[np.int64]:
    """Choose a colour for each cluster, so that clusters that touch differ as much as possible.

    Parameters
    ----------
    touching : ndarray of shape (n_clusters, n_clusters)
        How much each two clusters touch; see :func:`neighbours_on_map`.

    Returns
    -------
    ndarray of int64, shape (n_clusters,)
        Indices into :data:`LIGHT` and :data:`DARK`.

    Examples
    --------
    >>> first, second = choose_colours(np.array([[0, 5], [5, 0]]))
    >>> bool(first != second)
    True
    """
    apart = np.minimum(differences(LIGHT), differences(DARK))
    # What it costs that two clusters that touch have two colours: much if they are alike, little if they are near.
    cost = np.exp(-apart / _NEAR) + _MUCH * (apart < ALIKE)
    margins = np.sqrt(np.maximum(touching.sum(axis=1), 1))
    weight = touching / margins[:, None] / margins
    order = np.argsort(-touching.sum(axis=1), kind="stable")
    chosen = np.full(len(touching), -1, dtype=np.int64)
    for _ in range(_ROUNDS):
        before = chosen.copy()
        for cluster in order:
            chosen[cluster] = -1
            there = chosen >= 0
            used = np.bincount(chosen[there], minlength=len(LIGHT))
            chosen[cluster] = int((cost[:, chosen[there]] @ weight[cluster, there] + _OFTEN * used).argmin())
        if (chosen == before).all():
            break
    return chosen
