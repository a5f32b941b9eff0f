"""Refining the clusters of any method: iterative classification, and the classifier that then answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from scipy.sparse import csr_matrix

from shoal.clusterers import Classifier, iterative_classification
from shoal.encoder.word_statistics import WordStatistics
from shoal.errors import ParameterError
from shoal.methods.inputs import Rows
from shoal.parameters import one_of, parameter
from shoal.vectors import Vectors

NONE, ITERATIVE = "none", "iterative-classification"
REFINE = parameter(
    NONE,
    "What to do with the clusters at the end: 'iterative-classification' trains a classifier, by words and by the "
    "method's vectors, on the typical members of each cluster, relabels the others, and repeats (Rakib et al. 2020).",
    one_of(NONE, ITERATIVE),
)
FOLDER = "refined"
_FILE = "classifier.safetensors"


class Refined:
    """A classifier by words and vectors, which answers instead of the clusterer that it was trained on.

    Parameters
    ----------
    words : WordStatistics or None
        TF-IDF; None for vectors without texts.
    classifier : Classifier
        The classifier.
    """

    def __init__(self, words: WordStatistics | None, classifier: Classifier) -> None:
        self.words = words
        self.classifier = classifier

    def scores(self, rows: Rows, vectors: Vectors) -> NDArray[np.float64]:
        """Return the log-probability of each cluster, (n, n_clusters)."""
        return self.classifier.scores(weights_of(self.words, rows), vectors)

    def save(self, folder: Path) -> None:
        """Write it to a new folder."""
        folder.mkdir()
        if self.words is not None:
            self.words.save(folder)
        save_file(
            {name: np.ascontiguousarray(array) for name, array in self.classifier.state().items()}, folder / _FILE
        )

    @classmethod
    def load(cls, folder: Path) -> Refined:
        """Read what :meth:`save` wrote."""
        classifier = Classifier.from_state(load_file(folder / _FILE))
        return cls(WordStatistics.load(folder) if len(classifier.words) else None, classifier)


def refine(
    rows: Rows, vectors: Vectors, labels: NDArray[np.int64], n_clusters: int, rng: np.random.RandomState
) -> tuple[Refined, int]:
    """Refine clusters; return the classifier and the number of iterations."""
    words = None if rows.texts is None else WordStatistics(n_components=1).fit(rows.texts)
    weights = weights_of(words, rows)
    if not weights.shape[1]:
        words = None
    classifier, n_iter = iterative_classification(weights, vectors, labels, n_clusters, rng)
    return Refined(words, classifier), n_iter


def weights_of(words: WordStatistics | None, rows: Rows) -> csr_matrix:
    """Return the TF-IDF weights of some rows; no columns without words."""
    if words is None:
        return csr_matrix((len(rows), 0), dtype=np.float32)
    if rows.texts is None:
        raise ParameterError("this model was refined by the words of texts; pass the texts too.")
    return words.tfidf(rows.texts)
