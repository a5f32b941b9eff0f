"""What a training has come to after each of its stages: scores, shape, and more where a suite asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.manifold import TSNE

from shoal.methods.base import TextClusterer
from shoal.metrics import dunn, moved_pairs, scores, silhouette
from shoal.vectors import Vectors
from shoal_bench.data_sets import LabelledTexts
from shoal_bench.question_ranking import QuestionRanking
from shoal_bench.suite import Extra

START = "start"
# What a suite may ask for beyond the scores. Places and pairs are numbers: no record holds a text.
PLACES, PAIRS, RANKING, MAPS = get_args(Extra)

# As many texts as figure 2 of MLM + DEC has; whole numbers up to the second are as fine as a picture shows.
MAPPED_TEXTS = 1_000
SIDE = 999
PERPLEXITY = 30.0
PLACED_TEXTS = 500
PAIRS_OF_A_KIND = 10


class Snapshots:
    """Takes stock at the start of a training and after each stage.

    Parameters
    ----------
    model : TextClusterer
        What is being trained; its encoder is looked at as it stands.
    data : LabelledTexts
        The texts with their true classes.
    extras : sequence of str
        What else is wanted: ``places`` of 500 texts on a plane by t-SNE (ClusterBERT, figure 1), ``pairs`` of texts
        that the training moved most (table 5), ``ranking`` of questions by MAP and MRR (figure 4).

    Attributes
    ----------
    stages : list of dict
        ``stage``, ``acc``, ``nmi``, ``silhouette``, ``dunn`` (figure 3); with ``ranking`` also ``map`` and ``mrr``, in
        percent.
    """

    def __init__(self, model: TextClusterer, data: LabelledTexts, extras: Sequence[str] = ()) -> None:
        self.model = model
        self.data = data
        self.extras = extras
        self.stages: list[dict[str, Any]] = []
        self._places: list[list[list[float]]] = []
        self._start: Vectors | None = None
        self._pairs: list[dict[str, Any]] = []
        self._questions = QuestionRanking.load() if RANKING in extras else None
        n_texts = len(data.texts)
        self._rows = np.sort(np.random.RandomState(0).permutation(n_texts)[:PLACED_TEXTS])

    def take(self, stage: str, vectors: Vectors, labels: NDArray[np.int64]) -> None:
        """Take stock of the state after ``stage``."""
        found = scores(self.data.labels, labels)
        entry: dict[str, Any] = {"stage": stage, "acc": found["acc"], "nmi": found["nmi"]}
        entry |= {"silhouette": silhouette(vectors, labels).value, "dunn": dunn(vectors, labels)}
        if self._questions is not None:
            precision, reciprocal_rank = self._questions.scores(self.model.encoder_.encode)
            entry |= {"map": 100 * precision, "mrr": 100 * reciprocal_rank}
        if PLACES in self.extras:
            self._places.append(np.round(_on_a_plane(vectors[self._rows]), 1).tolist())
        if PAIRS in self.extras:
            self._start = vectors if self._start is None else self._start
            moved = moved_pairs(self._start, vectors, self.data.labels, n=PAIRS_OF_A_KIND)
            self._pairs = [
                {**vars(pair), "classes": [self.data.labels[pair.left], self.data.labels[pair.right]]} for pair in moved
            ]
        self.stages.append(entry)

    def found(self) -> dict[str, Any]:
        """Return the extras as a record holds them; nothing of a method that does not train."""
        classes = [self.data.labels[i] for i in self._rows]
        contents: dict[str, Any] = {
            PLACES: {"classes": classes, "stages": self._places},
            PAIRS: self._pairs,
            RANKING: len(self._questions.queries) if self._questions is not None else None,
            MAPS: "trace",  # they are there, one map per evaluation
        }
        return {name: contents[name] if self.stages else None for name in self.extras}


def text_map(vectors: Vectors, clusters: NDArray[np.int64]) -> dict[str, Any]:
    """Place some texts on a plane by t-SNE; the same texts for any vectors of the same corpus.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        Vectors of all texts.
    clusters : ndarray of int64, shape (n,)
        Their clusters.

    Returns
    -------
    dict
        ``x`` and ``y`` from 0 to ``SIDE``, and ``cluster``: lists with a whole number per text.

    Examples
    --------
    >>> points = np.repeat(np.eye(2, dtype=np.float32), 5, axis=0)
    >>> found = text_map(points, np.repeat([0, 1], 5))
    >>> len(found["x"]), sorted(found["cluster"])
    (10, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    """
    rows = np.random.RandomState(0).permutation(len(vectors))[:MAPPED_TEXTS]
    places = _on_a_plane(vectors[rows])
    low, high = places.min(axis=0), places.max(axis=0)
    x, y = np.rint(SIDE * (places - low) / np.maximum(high - low, 1e-12)).astype(int).T
    return {"x": x.tolist(), "y": y.tolist(), "cluster": np.asarray(clusters)[rows].tolist()}


def _on_a_plane(vectors: Vectors) -> NDArray[np.float64]:
    """Return places by t-SNE; all the same of a collapsed space, on which it would crash."""
    if not (np.isfinite(vectors).all() and np.ptp(vectors, axis=0).any()):
        return np.zeros((len(vectors), 2))
    tsne = TSNE(perplexity=min(PERPLEXITY, (len(vectors) - 1) / 3), init="pca", random_state=0)
    return np.asarray(tsne.fit_transform(vectors))
