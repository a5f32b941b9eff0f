"""Iterative classification: clusters refined by a classifier of their most typical members (Rakib et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.special import log_softmax

from shoal.clusterers.base import State
from shoal.clusterers.isolation import isolation_depths
from shoal.progress import progress
from shoal.vectors import Vectors

# The paper's: a tenth of each cluster are outliers, and between half and 95 % of an average cluster are trained on.
OUTLIERS = 0.1
LEAST_SHARE, MOST_SHARE = 0.5, 0.95
# L-BFGS converges slowly on labels that are partly wrong; stopping early is also what keeps it from learning them.
ITERATIONS = 50


@dataclass(frozen=True)
class Classifier:
    """Logistic regression on word weights and vectors.

    Parameters
    ----------
    words : ndarray of shape (n_words, n_clusters)
        Weights of the words; no rows if there are no words.
    vectors : ndarray of shape (d, n_clusters)
        Weights of the vectors.
    bias : ndarray of shape (n_clusters,)
        The constants.
    """

    words: Vectors
    vectors: Vectors
    bias: Vectors

    def scores(self, words: csr_matrix, vectors: Vectors) -> NDArray[np.float64]:
        """Return the log-probability of each cluster, (n, n_clusters)."""
        found = words @ self.words.astype(np.float64) + vectors.astype(np.float64) @ self.vectors + self.bias
        return np.asarray(log_softmax(found, axis=1))

    def state(self) -> State:
        """Return its arrays, for safetensors."""
        return {"words": self.words, "vectors": self.vectors, "bias": self.bias}

    @classmethod
    def from_state(cls, state: State) -> Classifier:
        """Rebuild it from :meth:`state`."""
        return cls(*(np.asarray(state[name], np.float32) for name in ("words", "vectors", "bias")))


def iterative_classification(
    words: csr_matrix,
    vectors: Vectors,
    labels: NDArray[np.int64],
    n_clusters: int,
    rng: np.random.RandomState,
    *,
    max_iter: int = 10,
    tolerance: float = 0.001,
) -> tuple[Classifier, int]:
    """Relabel what is not typical of a cluster by a classifier of what is, until the sizes settle.

    Each iteration draws a share p from 0.5 to 0.95. A cluster's training set is its members without the tenth that an
    isolation forest finds least typical, and at most p times the average size, so that no cluster outvotes the others;
    all other texts take the cluster that the classifier gives them. The last classifier then answers for all texts.

    Parameters
    ----------
    words : csr_matrix of shape (n, n_words)
        TF-IDF weights, on which the paper classifies; no columns if there are no words.
    vectors : ndarray of shape (n, d)
        Vectors, on which outliers are found, and which the classifier sees too: they know what a rare word means.
    labels : ndarray of shape (n,)
        The clusters to start from.
    n_clusters : int
        The number of clusters.
    rng : RandomState
        Draws the shares, the training sets and the forests.
    max_iter : int, default=10
        The most iterations; 50 in the paper, of which the first few do the work.
    tolerance : float, default=0.001
        Stop when fewer texts than this share have changed the sizes.

    Returns
    -------
    classifier : Classifier
    n_iter : int

    Examples
    --------
    >>> points = np.repeat(np.eye(2, dtype=np.float32), 20, axis=0)
    >>> labels = np.repeat([0, 1], 20)
    >>> labels[:3] = 1
    >>> classifier, _ = iterative_classification(csr_matrix((40, 0)), points, labels, 2, np.random.RandomState(0))
    >>> classifier.scores(csr_matrix((40, 0)), points).argmax(axis=1)[:5].tolist()
    [0, 0, 0, 0, 0]
    """
    iteration = 0
    with progress("Iterative classification", max_iter, unit="iterations") as bar:
        while True:
            iteration += 1
            share = rng.uniform(LEAST_SHARE, MOST_SHARE)
            typical = _typical(vectors, labels, max(1, int(share * len(labels) / n_clusters)), rng)
            classifier = fit_classifier(words[typical], vectors[typical], labels[typical], n_clusters)
            found = classifier.scores(words, vectors).argmax(axis=1)
            found[typical] = labels[typical]
            changes = np.bincount(found, minlength=n_clusters) - np.bincount(labels, minlength=n_clusters)
            labels = found
            bar.advance(1)
            if iteration == max_iter or np.abs(changes).sum() / 2 <= tolerance * len(labels):
                return classifier, iteration


def _typical(vectors: Vectors, labels: NDArray[np.int64], most: int, rng: np.random.RandomState) -> NDArray[np.int64]:
    """Return the rows to train on: no outliers, at most ``most`` of a cluster, at least one."""
    depths = isolation_depths(vectors, labels, rng)
    rows = []
    for cluster in np.unique(labels):
        members = np.flatnonzero(labels == cluster)
        deep = members[np.argsort(-depths[members], kind="stable")][: int(np.ceil((1 - OUTLIERS) * len(members)))]
        rows.append(rng.permutation(deep)[:most])
    return np.sort(np.concatenate(rows))


def fit_classifier(words: csr_matrix, vectors: Vectors, labels: NDArray[np.int64], n_clusters: int) -> Classifier:
    """Fit logistic regression: the sum of cross-entropies plus half the squared weights, by L-BFGS.

    Vectors are scaled to a mean squared length of one, that of the rows of TF-IDF. scikit-learn gives the same weights,
    but takes words and vectors in one matrix: dense, it does not fit into memory; sparse, it is twenty times slower.

    Parameters
    ----------
    words : csr_matrix of shape (n, n_words)
        Word weights.
    vectors : ndarray of shape (n, d)
        Vectors.
    labels : ndarray of shape (n,)
        The clusters.
    n_clusters : int
        Their number; those without a row get a bias that no row overcomes.

    Returns
    -------
    Classifier

    Examples
    --------
    >>> words = csr_matrix([[1.0, 0.0], [0.0, 1.0]])
    >>> fit_classifier(words, np.zeros((2, 1)), np.array([0, 1]), 2).words.argmax(axis=1).tolist()
    [0, 1]
    """
    scale = float(np.mean(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))) ** -0.5 if vectors.any() else 1.0
    points = vectors.astype(np.float64) * scale
    n_words, n_weights = words.shape[1], words.shape[1] + points.shape[1]
    wanted = np.eye(n_clusters)[labels]

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = flat.reshape(-1, n_clusters)
        logs = log_softmax(words @ weights[:n_words] + points @ weights[n_words:-1] + weights[-1], axis=1)
        errors = np.exp(logs) - wanted
        gradient = np.concatenate([words.T @ errors, points.T @ errors, errors.sum(axis=0, keepdims=True)])
        gradient[:-1] += weights[:-1]
        return 0.5 * float(np.square(weights[:-1]).sum()) - float(logs[wanted > 0].sum()), gradient.ravel()

    start = np.zeros((n_weights + 1, n_clusters))
    found = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS}).x
    weights = found.reshape(-1, n_clusters).astype(np.float32)
    return Classifier(weights[:n_words], weights[n_words:-1] * np.float32(scale), weights[-1])
