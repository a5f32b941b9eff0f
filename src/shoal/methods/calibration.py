"""Confidence that means something: as high, on average, as two independent descriptions of the texts agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
# Temperature and doubt are looked for between these limits, by halving the interval so often.
LIMITS = (1e-4, 1e4)
HALVINGS = 50


@dataclass(frozen=True)
class Calibration:
    """How scores become probabilities; by itself, it is their softmax.

    Attributes
    ----------
    temperature : float
        Divides the scores.
    doubt : float
        How typical of its cluster a text must be to be trusted by half: a text of typicality t keeps the share
        t / (t + doubt) of its softmax, and the rest is spread over all clusters.

    Examples
    --------
    >>> scores = np.log([[0.8, 0.2], [0.8, 0.2]])
    >>> Calibration(doubt=0.5).probabilities(scores, np.array([[0.5], [np.inf]])).round(2).tolist()
    [[0.6499999761581421, 0.3499999940395355], [0.800000011920929, 0.20000000298023224]]
    """

    temperature: float = 1.0
    doubt: float = 0.0

    def __post_init__(self) -> None:
        if not (self.temperature > 0 and self.doubt >= 0):
            raise ValueError(f"temperature={self.temperature}, doubt={self.doubt}")

    def trust(self, typical: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the share of its softmax that each row keeps; every description has its say."""
        return np.asarray(np.prod(1 / (1 + self.doubt / typical.astype(np.float64)), axis=1))

    def probabilities(self, scores: NDArray[np.float64], typical: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the probability of each cluster, (n, n_clusters), in the order of the scores.

        Parameters
        ----------
        scores : ndarray of shape (n, n_clusters)
            Scores.
        typical : ndarray of shape (n, n_descriptions)
            How typical of its cluster each row is by each description, above 0; infinite where one says nothing.
        """
        kept = self.trust(typical)[:, None]
        return np.asarray(kept * softmax(scores / self.temperature, axis=1) + (1 - kept) / scores.shape[1], np.float32)


def calibrate(
    vectors: Vectors,
    texts: Sequence[str] | None,
    labels: NDArray[np.int64],
    scores: NDArray[np.float64],
    typical: NDArray[np.float32],
) -> Calibration:
    """Return the calibration at which the mean confidence equals the held-out agreement of meaning and words.

    Half of the texts train one head on their vectors and one on their words; the other half is sorted by both, and the
    share on which they agree is what a text's cluster is worth on average. Labels are not needed: a cluster that only
    one of the two descriptions can recognise is not to be trusted much. Without texts, the share of held-out rows that
    the vectors' head sorts as the fit did takes its place; with few, from whose words little can be learnt, in part.

    What is missing to full confidence has two equal causes (each its square root): a text may be near a border, which
    the scores say, or far from the centre of its cluster, which they do not. A cluster that holds two groups has clear
    borders and no typical text.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        The rows in the space of the clusters.
    texts : sequence of str, optional
        Their texts.
    labels : ndarray of shape (n,)
        Their clusters.
    scores : ndarray of shape (n, n_clusters)
        Their scores.
    typical : ndarray of shape (n, n_descriptions)
        How typical of their clusters they are, as in :meth:`Calibration.probabilities`; without a column, borders are
        the only cause.

    Returns
    -------
    Calibration
        The softmax as it is if there are too few rows to measure, or only one cluster.

    Examples
    --------
    >>> rng = np.random.RandomState(0)
    >>> labels = np.repeat([0, 1], 100)
    >>> vectors = (np.eye(2)[labels] + rng.normal(scale=0.6, size=(200, 2))).astype(np.float32)
    >>> found = calibrate(vectors, None, labels, 100.0 * vectors, np.empty((200, 0), np.float32))
    >>> bool(0.6 < softmax(100 * vectors / found.temperature, axis=1)[np.arange(200), labels].mean() < 0.95)
    True
    """
    n_clusters = scores.shape[1]
    if n_clusters < 2 or len(labels) < LEAST_ROWS * n_clusters:
        return Calibration()
    rows = np.arange(len(labels))
    if len(rows) > SAMPLE_ROWS:
        rows = np.sort(np.random.RandomState(0).permutation(rows)[:SAMPLE_ROWS])
    views = [unit_rows(vectors[rows])]
    if texts is not None:
        chosen = [texts[int(i)] for i in rows]
        views.append(WordStatistics(n_components=WORD_DIMENSIONS).fit(chosen).encode(chosen))
    target = max(held_out_agreement(views, labels[rows], n_clusters), 1.01 / n_clusters)
    own, near = scores[rows], typical[rows]
    own = own - own.max(axis=1, keepdims=True)
    doubt = 0.0
    if near.shape[1]:
        doubt = _where_it_falls_to(np.sqrt(target), lambda value: Calibration(1.0, value).trust(near).mean())

    def mean_confidence(temperature: float) -> float:
        found = Calibration(temperature, doubt).probabilities(own, near)
        return float(found[np.arange(len(rows)), labels[rows]].mean())

    return Calibration(_where_it_falls_to(target, mean_confidence), doubt)


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


def _where_it_falls_to(target: float, of: Callable[[float], float]) -> float:
    """Return the value at which a function that falls as its argument rises reaches the target."""
    low, high = LIMITS
    for _ in range(HALVINGS):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if of(middle) > target else (low, middle)
    return middle
