"""Whether confidence means something: accuracy against confidence."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import DataError
from shoal.metrics._labels import Labels
from shoal.metrics.external import match_clusters

# Equal parts of the texts, from the least to the most confident; and bins of confidence for the calibration error.
N_PARTS = 5
N_BINS = 10
# Probabilities in float32 may be above 1 by this.
_ROUNDING = 1e-6
_NO_CLUSTER = (-1, None)
# Not equal to any class.
_NONE = object()


@dataclass(frozen=True)
class Reliability:
    """How far confidence can be relied on.

    Attributes
    ----------
    accuracy : tuple of float
        Accuracy of each fifth of the texts, from the least to the most confident: clusters match classes one to one.
    purity : tuple of float
        Share of each fifth whose class is the most frequent one of their cluster.
    confidence : tuple of float
        Their mean confidence.
    error : float
        Expected calibration error: the mean difference between confidence and accuracy in ten bins of confidence,
        weighted by their texts.
    """

    accuracy: tuple[float, ...]
    purity: tuple[float, ...]
    confidence: tuple[float, ...]
    error: float


def rises(values: Sequence[float]) -> bool:
    """Tell whether every value is above the one before.

    Examples
    --------
    >>> rises([0.5, 0.6, 0.9]), rises([0.5, 0.9, 0.9])
    (True, False)
    """
    return all(later > earlier for earlier, later in itertools.pairwise(values))


def reliability(labels_true: Labels, labels_pred: Labels, confidence: ArrayLike) -> Reliability:
    """Compare confidence with accuracy and purity.

    If the numbers of clusters and classes differ, some texts are wrong by accuracy for that alone: those of a class
    that shares a cluster with a larger one, and those of a cluster that is a part of a class, however well it is told
    apart. The latter are right by purity.

    Parameters
    ----------
    labels_true : sequence of int or str
        The class of each text.
    labels_pred : sequence of int, str or None
        The cluster of each text; a text without a cluster counts as wrong.
    confidence : array-like of shape (n,)
        From 0 to 1.

    Returns
    -------
    Reliability

    Examples
    --------
    >>> found = reliability([0, 0, 0, 1, 1], [0, 1, 0, 1, 1], [0.5, 0.1, 0.9, 0.6, 0.9])
    >>> found.accuracy, round(found.error, 2)
    ((0.0, 1.0, 1.0, 1.0, 1.0), 0.24)
    """
    sure = np.asarray(confidence, dtype=np.float64)
    classes = match_clusters(labels_true, labels_pred)
    if sure.shape != (len(labels_true),) or not ((sure >= 0) & (sure <= 1 + _ROUNDING)).all():
        raise DataError(
            f"confidence has shape {sure.shape} for {len(labels_true)} texts; pass one from 0 to 1 for each."
        )
    right = np.array([classes.get(found, _NONE) == true for found, true in zip(labels_pred, labels_true, strict=True)])
    common = _most_frequent(labels_true, labels_pred)
    pure = np.array([common.get(found, _NONE) == true for found, true in zip(labels_pred, labels_true, strict=True)])
    order = np.array_split(np.argsort(sure, kind="stable"), N_PARTS)
    bins = np.minimum((sure * N_BINS).astype(np.int64), N_BINS - 1)
    return Reliability(_means(right, order), _means(pure, order), _means(sure, order), _error(right, sure, bins))


def _most_frequent(labels_true: Labels, labels_pred: Labels) -> dict[Hashable, Hashable]:
    """Return the most frequent class of each cluster."""
    counts: dict[Hashable, Counter[Hashable]] = {}
    for found, true in zip(labels_pred, labels_true, strict=True):
        if found not in _NO_CLUSTER:
            counts.setdefault(found, Counter())[true] += 1
    return {cluster: classes.most_common(1)[0][0] for cluster, classes in counts.items()}


def _means(values: NDArray[np.generic], parts: list[NDArray[np.int64]]) -> tuple[float, ...]:
    """Return the mean of each part that has texts."""
    return tuple(float(values[part].mean()) for part in parts if len(part))


def _error(right: NDArray[np.bool_], sure: NDArray[np.float64], bins: NDArray[np.int64]) -> float:
    """Return the expected calibration error."""
    differences = np.bincount(bins, right, N_BINS) - np.bincount(bins, sure, N_BINS)
    return float(np.abs(differences).sum() / len(sure))
