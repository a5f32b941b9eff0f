"""Shoal's own method: meaning and words, two views of the same texts that correct each other.

The encoder's vectors say what a text means, word statistics say what it is about in this corpus; a graph of
neighbours in both, cluster sizes held by optimal transport, and a choice by evidence that needs no labels do the
rest. With more effort the sure part of the answer then teaches the encoder, and the question is put again.
``docs/methods/shoal.md`` tells how and why.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from torch import nn

from shoal.clusterers import (
    UNEQUAL,
    Heads,
    Partition,
    TwoViewOptions,
    Vectors,
    Views,
    cluster_means,
    fit_softmax,
    partition_two_views,
    unit_rows,
)
from shoal.encoder.frozen_layers import FrozenLayersEncoder
from shoal.encoder.representation import Frozen, make_representation
from shoal.encoder.token_states import POOLINGS
from shoal.encoder.tokens import tokenise
from shoal.encoder.transformer import LONG_TEXTS, TransformerEncoder
from shoal.encoder.word_statistics import WordStatistics as WordView
from shoal.errors import ParameterError
from shoal.methods.checks import check_choices, check_counts, check_positive
from shoal.methods.inputs import Rows
from shoal.methods.memory import Memory, row_keys
from shoal.methods.represented import RepresentedClusterer
from shoal.methods.teaching import TeacherObjective
from shoal.methods.trained import StagedClusterer
from shoal.training import CorpusViews, Stage
from shoal.training.options import ALL_LAYERS

_MEAN = "mean.safetensors"
# How often the partition teaches the encoder.
ROUNDS = {"fast": 0, "balanced": 1, "best": 2}


class Shoal(RepresentedClusterer, StagedClusterer):
    """Cluster texts by what they mean and by the words they share.

    Equal texts (but for case and white space) count once. Which of several partitions is
    the answer, and why, is in ``outcome_``.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    effort : {"fast", "balanced", "best"}, default="fast"
        Nothing is fine-tuned; the sure texts of the partition teach the encoder's last layers, once; or twice, the
        second time with the partition that the first made possible. Clusters of unequal sizes, by linkage, are far
        apart already and teach nothing: they stay as ``"fast"`` finds them.
    backbone : str, default="builtin"
        The encoder: ``"builtin"``, a folder, or a name on the model hub.
    pooling : {"mean", "cls"}, default="mean"
        How token states become a text's vector.
    max_length : int, default=64
        Tokens read of each text.
    long_texts : {"truncate", "chunk"}, default="truncate"
        Read longer texts' heads, or all of them in pieces.
    words : bool, default=True
        Whether the words that texts share are the second view; without them the encoder's is the only one.
    word_dimensions : int, default=200
        Dimensions of the word view; topics of short texts fit into it, single rare words do not.
    n_neighbors : int, default=10
        Neighbours of each text in either view. Few: a cluster may have only a handful of texts.
    smoothing_steps : int, default=2
        Steps over the neighbour graph. More blur small clusters; ten or more are unstable.
    smoothing : sequence of float, default=(0, 0.5, 1)
        How far the neighbour graph is trusted; each value is tried and the evidence decides. Where both views mean
        the same by near, smoothing joins what belongs together; where they do not, it blurs what either knows.
    equal_sizes : bool, default=True
        Start from clusters of equal sizes, by optimal transport; otherwise spherical k-means.
    unequal : bool, default=True
        Also try clusters of any sizes, by linkage; taken if they are about as distinct as the balanced ones or more.
    regrouping : bool, default=True
        Of these, cut those that fall apart where the neighbour graph is weakest, and let as many that belong to
        another join it. Linkage alone spends many clusters on a text or two and leaves two themes in others.
    co_training : bool, default=True
        Let heads in both views correct the partition, unless the evidence gets weaker.
    n_init : int, default=4
        Starts of k-means for each of the smoothings, the best of which by evidence is kept. Not every start ends in
        a good place.
    temperature : float, default=0.05
        Of cosines in the transport; that of the built-in encoder's own training.
    sure_share : float, default=0.8
        Share of each cluster, the surest, that teaches the heads.
    learning_rate, head_learning_rate : float, default=1e-4 and 1e-3
        Of the encoder's layers and of the centres; these and the following matter only if there is fine-tuning.
    batch_size : int, default=128
        Texts a batch.
    epochs, max_steps : int, default=1 and None
        Passes over the texts in each round, and the most steps. One pass is enough to pull clusters apart; several
        harden the teacher's errors.
    trainable_layers : "all" or int, default=2
        The last so many layers are trained, the rest is computed once.
    checkpoint_every, device, precision
        See :class:`shoal.training.TrainingOptions`.
    log_to : {"tensorboard", "tensorboard:FOLDER", "mlflow"}, optional
        Where else the history of the training goes.
    random_state : int, RandomState or None, default=0
        Seed.
    cache : bool, default=True
        Keep the texts' vectors on disk for the next fit.

    Attributes
    ----------
    outcome_ : dict
        ``reason`` (a sentence), ``branch`` (what the answer began as), ``smoothing`` (trust in the neighbour graph, 0
        to 1) and ``weighed``: the evidence for each partition that was considered.
        ``training``: what became of the fine-tuning, by stage; None if there was none.

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

    tolerance = None  # a round is short: it runs to its end

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        effort: str = "fast",
        backbone: str = "builtin",
        pooling: str = "mean",
        max_length: int = 64,
        long_texts: str = "truncate",
        words: bool = True,
        word_dimensions: int = 200,
        n_neighbors: int = 10,
        smoothing_steps: int = 2,
        smoothing: Sequence[float] = (0.0, 0.5, 1.0),
        equal_sizes: bool = True,
        unequal: bool = True,
        regrouping: bool = True,
        co_training: bool = True,
        n_init: int = 4,
        temperature: float = 0.05,
        sure_share: float = 0.8,
        learning_rate: float = 1e-4,
        head_learning_rate: float = 1e-3,
        batch_size: int = 128,
        epochs: int = 1,
        max_steps: int | None = None,
        trainable_layers: str | int = 2,
        checkpoint_every: int = 25,
        device: str = "auto",
        precision: str = "auto",
        log_to: str | None = None,
        random_state: int | np.random.RandomState | None = 0,
        cache: bool = True,
    ) -> None:
        self.n_clusters = n_clusters
        self.effort = effort
        self.backbone = backbone
        self.pooling = pooling
        self.max_length = max_length
        self.long_texts = long_texts
        self.words = words
        self.word_dimensions = word_dimensions
        self.n_neighbors = n_neighbors
        self.smoothing_steps = smoothing_steps
        self.smoothing = smoothing
        self.equal_sizes = equal_sizes
        self.unequal = unequal
        self.regrouping = regrouping
        self.co_training = co_training
        self.n_init = n_init
        self.temperature = temperature
        self.sure_share = sure_share
        self.learning_rate = learning_rate
        self.head_learning_rate = head_learning_rate
        self.batch_size = batch_size
        self.epochs = epochs
        self.max_steps = max_steps
        self.trainable_layers = trainable_layers
        self.checkpoint_every = checkpoint_every
        self.device = device
        self.precision = precision
        self.log_to = log_to
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
        if ROUNDS[self.effort] and (rows.texts is None or rows.vectors is not None):
            raise ParameterError(
                f"effort={self.effort!r} fine-tunes an encoder but there are only vectors; pass effort='fast', or "
                "texts without vectors=."
            )
        encoded = self._fit_representation(rows)
        started = time.perf_counter()
        self.words_: WordView | None = None
        if self.words and rows.texts is not None:
            self.words_ = WordView(n_components=self.word_dimensions).fit(rows.texts)
        views = self._views(rows, encoded, first)
        found = self._partition(views.rows(first), rng)
        self._start_found = found.start[copies]
        self._log("cluster", started, reason=found.reason)
        training: dict[str, Any] | None = None
        # Unequal clusters are far apart already: on none of the corpora that we know did they gain by fine-tuning.
        if ROUNDS[self.effort] and found.branch != UNEQUAL:
            training, views, found = self._teach(rows, first, copies, views, found, rng)
        embedded = np.hstack(views.each)
        heads = [fit_softmax(view, found.labels, self.n_clusters) for view in views.rows(first).each]
        self.clusterer_ = Heads(heads, cluster_means(embedded[first], found.labels, self.n_clusters))
        self.memory_ = Memory(keys, found.labels, of_texts=rows.texts is not None)
        rolled_back = training is not None and training["rolled_back"]
        self.outcome_ = {"rolled_back": rolled_back, **found.as_facts(), "training": training}
        return embedded

    def _partition(self, views: Views, rng: np.random.RandomState) -> Partition:
        """Cluster distinct rows that are seen in two views."""
        named = {field.name: getattr(self, field.name) for field in fields(TwoViewOptions)}
        options = TwoViewOptions(**{**named, "smoothing": tuple(map(float, self.smoothing))})
        return partition_two_views(views, self.n_clusters, rng, options)

    def _teach(
        self,
        rows: Rows,
        first: NDArray[np.int64],
        copies: NDArray[np.int64],
        views: Views,
        found: Partition,
        rng: np.random.RandomState,
    ) -> tuple[dict[str, Any], Views, Partition]:
        """Let the partition teach the encoder, round after round; return the outcome, the new views and partition."""
        texts = cast(Sequence[str], rows.texts)
        encoder = cast(TransformerEncoder, cast(Frozen, self.representation_).encoder)
        distinct = views.rows(first)
        options = self._options(int(rng.randint(np.iinfo(np.int32).max)))

        def teach(embeddings: Vectors, generator: np.random.RandomState) -> Partition:
            meaning = unit_rows(embeddings - embeddings.mean(axis=0)).astype(np.float32)
            return self._partition(replace(distinct, meaning=meaning), generator)

        # Of a long text the head teaches: its other chunks have no vector of their own to compare.
        tokens = CorpusViews.repeated(tokenise(encoder.tokenizer, texts, self.max_length), 1)
        encoder.to(options.resolve_device())
        trained: nn.Module = encoder
        if options.trainable_layers != ALL_LAYERS:
            trained = FrozenLayersEncoder(encoder, tokens.tokens, int(options.trainable_layers))
        stages = [
            Stage(
                f"round {number + 1}",
                TeacherObjective(
                    trained,
                    (lambda *_: found) if number == 0 else teach,
                    first=first,
                    copies=copies,
                    n_clusters=self.n_clusters,
                    dimension=encoder.dimension,
                    temperature=self.temperature,
                    sure_share=self.sure_share,
                ),
            )
            for number in range(ROUNDS[self.effort])
        ]
        outcome = self._train(tokens, stages, options, texts).outcome
        if any(stage["kept_step"] for stage in outcome["stages"]):
            started = time.perf_counter()
            self.representation_ = Frozen(encoder, self.cache)  # another encoder now, by its fingerprint too
            views = self._views(rows, self._represent(rows), first)
            found = self._partition(views.rows(first), np.random.RandomState(options.seed))
            self._log("cluster again", started, reason=found.reason)
        return outcome, views, found

    def _views(self, rows: Rows, encoded: Vectors, distinct: NDArray[np.int64] | None = None) -> Views:
        """Return both views of some rows; without texts there is one. In a fit, ``distinct`` rows give the mean."""
        if distinct is not None:
            self.mean_ = encoded[distinct].mean(axis=0)
        meaning = unit_rows(encoded - self.mean_).astype(np.float32)
        if self.words_ is None:
            return Views(meaning)
        if rows.texts is None:
            raise ParameterError("this model was fitted on texts and vectors; pass the texts too.")
        return Views(meaning, self.words_.encode(rows.texts), self.words_.tfidf(rows.texts))

    def before_and_after(self, X: Any) -> tuple[Vectors, Vectors]:
        """Return the vectors of texts by the encoder as it was before training, and as it is."""
        rows = self._rows(X, None)
        after = self._represent(rows)
        if not ROUNDS[self.effort] or rows.texts is None:
            return after, after
        return make_representation("transformer", self._representation_options()).encode(rows.texts), after

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
        choices = {
            "effort": tuple(ROUNDS),
            "pooling": tuple(POOLINGS),
            "long_texts": LONG_TEXTS,
            "cache": (True, False),
        }
        check_choices(params, choices)
        parts = ("words", "equal_sizes", "unequal", "regrouping", "co_training")
        check_choices(params, dict.fromkeys(parts, (True, False)))
        amounts: Any = self.smoothing
        if not isinstance(amounts, list | tuple) or not amounts or not all(0 <= amount <= 1 for amount in amounts):
            raise ParameterError(
                f"smoothing={self.smoothing!r} but it must be a list of one or more numbers from 0 to 1."
            )
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
