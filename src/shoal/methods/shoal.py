"""Shoal's own method: meaning and words, two views of the same texts that correct each other.

Nothing is trained but linear heads. The encoder's vectors say what a text means, word statistics say what it is
about in this corpus; a graph of neighbours in both, cluster sizes held by optimal transport, and a choice by
evidence that needs no labels do the rest. ``docs/methods/shoal.md`` tells how and why.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from shoal.clusterers import Heads, TwoViewOptions, Vectors, Views, fit_softmax, partition_two_views, unit_rows
from shoal.encoder.token_states import POOLINGS
from shoal.encoder.transformer import LONG_TEXTS
from shoal.encoder.word_view import WordView
from shoal.errors import ParameterError
from shoal.methods.checks import check_choices, check_counts, check_positive
from shoal.methods.inputs import Rows
from shoal.methods.memory import Memory, row_keys
from shoal.methods.represented import RepresentedClusterer

_MEAN = "mean.safetensors"


class Shoal(RepresentedClusterer):
    """Cluster texts by what they mean and by the words they share.

    Texts are encoded once. Equal texts (but for case and white space) count once. Which of several partitions is
    the answer, and why, is in ``outcome_``.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    backbone : str, default="builtin"
        The encoder: ``"builtin"``, a folder, or a name on the model hub.
    pooling : {"mean", "cls"}, default="mean"
        How token states become a text's vector.
    max_length : int, default=64
        Tokens read of each text.
    long_texts : {"truncate", "chunk"}, default="truncate"
        Read longer texts' heads, or all of them in pieces.
    word_dimensions : int, default=200
        Dimensions of the word view; topics of short texts fit into it, single rare words do not.
    n_neighbors : int, default=10
        Neighbours of each text in either view. Few: a cluster may have only a handful of texts.
    smoothing_steps : int, default=2
        Steps over the neighbour graph. More blur small clusters; ten or more are unstable.
    n_init : int, default=8
        Starts of k-means, the best of which by evidence is kept. Not every start ends in a good place.
    temperature : float, default=0.05
        Of cosines in the transport; that of the built-in encoder's own training.
    sure_share : float, default=0.8
        Share of each cluster, the surest, that teaches the heads.
    random_state : int, RandomState or None, default=0
        Seed.
    cache : bool, default=True
        Keep the texts' vectors on disk for the next fit.

    Attributes
    ----------
    outcome_ : dict
        ``reason`` (a sentence), ``smoothing`` (trust in the neighbour graph, 0 to 1) and ``weighed``: the evidence
        for each partition that was considered.

    Examples
    --------
    >>> from shoal import Shoal
    >>> texts = ["red apple", "green apple", "ripe apple", "fast car", "slow car", "new car"]
    >>> model = Shoal(n_clusters=2).fit(texts)
    >>> bool(model.labels_[0] == model.labels_[2] != model.labels_[3])
    True
    >>> bool((model.predict(texts) == model.labels_).all())
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        backbone: str = "builtin",
        pooling: str = "mean",
        max_length: int = 64,
        long_texts: str = "truncate",
        word_dimensions: int = 200,
        n_neighbors: int = 10,
        smoothing_steps: int = 2,
        n_init: int = 8,
        temperature: float = 0.05,
        sure_share: float = 0.8,
        random_state: int | np.random.RandomState | None = 0,
        cache: bool = True,
    ) -> None:
        self.n_clusters = n_clusters
        self.backbone = backbone
        self.pooling = pooling
        self.max_length = max_length
        self.long_texts = long_texts
        self.word_dimensions = word_dimensions
        self.n_neighbors = n_neighbors
        self.smoothing_steps = smoothing_steps
        self.n_init = n_init
        self.temperature = temperature
        self.sure_share = sure_share
        self.random_state = random_state
        self.cache = cache

    def _fit(self, rows: Rows, rng: np.random.RandomState) -> Vectors:
        self._check_parameters()
        keys, first, copies = np.unique(row_keys(rows), return_index=True, return_inverse=True)
        if self.n_clusters > len(keys):
            raise ParameterError(
                f"n_clusters={self.n_clusters} but only {len(keys)} texts differ in more than case and white space; "
                f"pass n_clusters <= {len(keys)}."
            )
        encoded = self._fit_representation(rows)
        started = time.perf_counter()
        self.words_: WordView | None = None
        if rows.texts is not None:
            self.words_ = WordView(n_components=self.word_dimensions).fit(rows.texts)
        self.mean_ = encoded[first].mean(axis=0)
        views = self._views(rows, encoded)
        distinct = views.rows(first)
        found = partition_two_views(
            distinct,
            self.n_clusters,
            rng,
            TwoViewOptions(self.n_neighbors, self.smoothing_steps, self.n_init, self.temperature, self.sure_share),
        )
        heads = [fit_softmax(view, found.labels, self.n_clusters) for view in distinct.each]
        embedded = np.hstack(views.each)
        one_hot = np.eye(self.n_clusters, dtype=np.float32)[found.labels]
        sizes = np.maximum(one_hot.sum(axis=0), 1)[:, None]
        self.clusterer_ = Heads(heads, (one_hot.T @ embedded[first] / sizes).astype(np.float32))
        self.memory_ = Memory(keys, found.labels, of_texts=rows.texts is not None)
        self.outcome_ = {"rolled_back": False, **found.as_facts()}
        self._start_found = found.start[copies]
        self._log("cluster", started, reason=found.reason)
        return embedded

    def _views(self, rows: Rows, encoded: Vectors) -> Views:
        """Return both views of some rows; without texts there is one."""
        meaning = unit_rows(encoded - self.mean_).astype(np.float32)
        if self.words_ is None:
            return Views(meaning)
        if rows.texts is None:
            raise ParameterError("this model was fitted on texts and vectors; pass the texts too.")
        return Views(meaning, self.words_.encode(rows.texts), self.words_.tfidf(rows.texts))

    def _embed(self, rows: Rows) -> Vectors:
        return np.hstack(self._views(rows, self._represent(rows)).each)

    def _assign(self, rows: Rows, embedded: Vectors) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Assign by the heads; a text of the fit keeps the cluster that it got there, with all its neighbours."""
        found, scores = super()._assign(rows, embedded)
        known = self.memory_.recall(rows)
        for i in np.flatnonzero((known >= 0) & (known != found)):
            scores[i, [found[i], known[i]]] = scores[i, [known[i], found[i]]]
        return np.where(known >= 0, known, found), scores

    def _representation_options(self) -> dict[str, Any]:
        return {**self.get_params(deep=False), "representation": "transformer", "normalize": True}

    def _check_parameters(self) -> None:
        """Name the first parameter that does not work."""
        params = self.get_params(deep=False)
        choices = {"pooling": tuple(POOLINGS), "long_texts": LONG_TEXTS, "cache": (True, False)}
        check_choices(params, choices)
        check_counts(params, ("max_length", "word_dimensions", "n_neighbors", "smoothing_steps", "n_init"))
        check_positive(params, {"temperature": 0.05})
        if not isinstance(self.sure_share, int | float | np.number) or not 0 < self.sure_share <= 1:
            raise ParameterError(f"sure_share={self.sure_share!r} but it must be a share: above 0, at most 1.")

    def _save(self, folder: Path) -> dict[str, Any]:
        if self.words_ is not None:
            self.words_.save(folder)
        self.memory_.save(folder)
        save_file({"mean": self.mean_}, folder / _MEAN)
        return {**super()._save(folder), "knows_words": self.words_ is not None, "outcome": self.outcome_}

    def _restore(self, folder: Path, config: dict[str, Any]) -> None:
        super()._restore(folder, config)
        self.words_ = WordView.load(folder) if config["knows_words"] else None
        self.memory_ = Memory.load(folder)
        self.mean_ = load_file(folder / _MEAN)["mean"]
        self.outcome_ = config["outcome"]
