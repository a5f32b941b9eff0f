"""Confidence that means something: as high, on average, as two independent descriptions of the texts agree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from shoal.clusterers import fit_softmax, threads_for
from shoal.encoder.word_statistics import WordStatistics, weight_of_words
from shoal.vectors import Vectors, unit_rows

# Rows that agreement is measured on, and the fewest per cluster with which it can be.
SAMPLE_ROWS = 3_000
LEAST_ROWS = 4
# Words in few dimensions, as in the default method.
WORD_DIMENSIONS = 200
# The temperatures to choose from, and how often the interval is halved.
TEMPERATURES = (1e-2, 1e3)
HALVINGS = 40


def calibrated_temperature(
    vectors: Vectors, texts: Sequence[str] | None, labels: NDArray[np.int64], scores: NDArray[np.float64]
) -> float:
    """Return the temperature at which the mean confidence equals the held-out agreement of meaning and words.

    Half of the texts train one head on their vectors and one on their words; the other half is sorted by both, and the
    share on which they agree is what a text's cluster is worth on average. Labels are not needed: a cluster that only
    one of the two descriptions can recognise is not to be trusted much. Without texts, the share of held-out rows that
    the vectors' head sorts as the fit did takes its place; with few, from whose words little can be learnt, in part.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        The rows in the space of the clusters.
    texts : sequence of str, optional
        Their texts.
    labels : ndarray of shape (n,)
        Their clusters.
    scores : ndarray of shape (n, n_clusters)
        Their scores, whose softmax at the temperature is the confidence.

    Returns
    -------
    float
        1 if there are too few rows to measure, or only one cluster.

    Examples
    --------
    >>> rng = np.random.RandomState(0)
    >>> labels = np.repeat([0, 1], 100)
    >>> vectors = (np.eye(2)[labels] + rng.normal(scale=0.6, size=(200, 2))).astype(np.float32)
    >>> temperature = calibrated_temperature(vectors, None, labels, 100.0 * vectors)
    >>> bool(0.6 < softmax(100 * vectors / temperature, axis=1)[np.arange(200), labels].mean() < 0.95)
    True
    """
    n_clusters = scores.shape[1]
    if n_clusters < 2 or len(labels) < LEAST_ROWS * n_clusters:
        return 1.0
    rows = np.arange(len(labels))
    if len(rows) > SAMPLE_ROWS:
        rows = np.sort(np.random.RandomState(0).permutation(rows)[:SAMPLE_ROWS])
    views = [unit_rows(vectors[rows])]
    if texts is not None:
        chosen = [texts[int(i)] for i in rows]
        views.append(WordStatistics(n_components=WORD_DIMENSIONS).fit(chosen).encode(chosen))
    target = held_out_agreement(views, labels[rows], n_clusters)
    own = scores[rows]
    return _temperature(own - own.max(axis=1, keepdims=True), labels[rows], max(target, 1.01 / n_clusters))


def held_out_agreement(views: Sequence[Vectors], labels: NDArray[np.int64], n_clusters: int) -> float:
    """Return the share of rows on which heads that have not seen them agree: with each other, or with the labels.

    The first view is the vectors, the second, if there is one, the words; of few texts, both shares count.

    Examples
    --------
    >>> view = np.repeat(np.eye(2, dtype=np.float32), 10, axis=0)
    >>> held_out_agreement([view, view], np.repeat([0, 1], 10), 2)
    1.0
    """
    fold = np.random.RandomState(0).permutation(len(labels)) % 2 == 0
    found = []
    with threads_for(len(labels)):
        for view in views:
            predicted = np.empty(len(labels), dtype=np.int64)
            for held_out in (fold, ~fold):
                head = fit_softmax(view[~held_out], labels[~held_out], n_clusters)
                predicted[held_out] = head.log_probabilities(view[held_out]).argmax(axis=1)
            found.append(predicted)
    with_labels = float((found[0] == labels).mean())
    if len(found) == 1:
        return with_labels
    trust = weight_of_words(len(labels))
    return trust * float((found[0] == found[1]).mean()) + (1 - trust) * with_labels


def _temperature(scores: NDArray[np.float64], labels: NDArray[np.int64], target: float) -> float:
    """Return the temperature at which the mean confidence is the target: it falls as the temperature rises."""
    low, high = TEMPERATURES
    rows = np.arange(len(labels))
    for _ in range(HALVINGS):
        middle = float(np.sqrt(low * high))
        confident = softmax(scores / middle, axis=1)[rows, labels].mean() > target
        low, high = (middle, high) if confident else (low, middle)
    return middle
