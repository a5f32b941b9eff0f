"""9. Shoal's own method: features by meaning and by words, which correct each other.

The encoder's vectors say what a text means; word statistics say what it is about in this corpus. A graph of
neighbours by both, cluster sizes controlled by optimal transport, and a choice by evidence that needs no labels do
the rest. With more effort the confident part of the answer then teaches the encoder, and the texts are clustered
again. ``docs/methods/shoal.md`` explains how and why.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from scipy.special import softmax

from shoal.clusterers import Heads, fit_softmax, threads_for
from shoal.encoder.language_free import LanguageFree
from shoal.encoder.representation import CachedEncoder, Representation, make_representation
from shoal.encoder.tokens import PRECISIONS, tokenise
from shoal.encoder.word_statistics import WordStatistics
from shoal.errors import ParameterError
from shoal.methods import shared_parameters as shared
from shoal.methods.base import TextClusterer
from shoal.methods.context import FitContext, outcome_of, saved_outcome
from shoal.methods.inputs import Rows
from shoal.methods.represented import fit_representation, represent, restore_representation, save_representation
from shoal.methods.shoal.candidates import PARTITION, PartitionOptions, confident_rows
from shoal.methods.shoal.distinct_rows import DistinctRows
from shoal.methods.shoal.evidence import UNEQUAL
from shoal.methods.shoal.features import Features
from shoal.methods.shoal.few_texts import FEW_TEXTS, center_of, find_partition_of_few
from shoal.methods.shoal.memory import Memory
from shoal.methods.shoal.partition import Partition, find_partition
from shoal.metrics import ari
from shoal.parameters import FLAG, declared, one_of, parameter, whole
from shoal.progress import progress
from shoal.scratch import gathered, in_blocks, scratch
from shoal.training.options import TRAINING
from shoal.vectors import Vectors, cluster_means, unit_rows

if TYPE_CHECKING:
    from shoal.encoder.transformer import TransformerEncoder

_MEAN = "mean.safetensors"
UNTAUGHT = "clusters of very unequal sizes are far apart already, and gained from fine-tuning on no corpus we know"
# The partitions that are considered on most corpora, for the bar that shows how far the clustering is.
STEPS = 7
# Where clusters are looked for in a sample, so many times as many texts train the heads that sort the others.
TEACHERS = 4
# Rounds in which the partition teaches the encoder.
ROUNDS = {"fast": 0, "balanced": 1, "best": 2}


def _encoder_of(representation: Representation | None) -> Any:
    """Return the encoder inside a representation."""
    inner = representation.inner if isinstance(representation, LanguageFree) else representation
    return cast(CachedEncoder, inner).encoder


@declared
class Shoal(TextClusterer):
    """Cluster texts by their meaning and by the words they share.

    Texts that differ only in case and white space count once. ``outcome_`` says which of several partitions was
    chosen, and why.

    Attributes
    ----------
    outcome_ : dict
        ``choice``: ``reason`` (a sentence), ``branch`` (the candidate that was chosen), ``stability`` (how much of each
        kind of clusters is found again among four fifths of the texts, 0 to 1; empty if that was not needed) and
        ``weighed``, the evidence for each partition considered. ``stages``: the outcome of each round of fine-tuning,
        if any.

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

    summary = "features by meaning and by words, which correct each other; fine-tuned on request"
    source = "our own (docs/methods/shoal.md)"

    effort: str = parameter(
        "fast",
        "Amount of fine-tuning: none ('fast'), one round that trains the encoder's last layers on the "
        "confident texts of the partition ('balanced'), or a second round on the partition that results ('best'). "
        "Clusters of unequal sizes, by linkage, are not fine-tuned: they are far apart already and gain nothing.",
        one_of(*ROUNDS),
    )
    backbone: str = shared.BACKBONE
    pooling: str = shared.POOLING
    max_length: int = shared.MAX_LENGTH
    long_texts: str = shared.LONG
    keep_language: bool = shared.KEEP_LANGUAGE
    encoder_precision: str = shared.ENCODER_PRECISION
    words: bool = parameter(True, "Use features by words; otherwise only the encoder's vectors.", FLAG)
    word_dimensions: int = parameter(
        200,
        "Dimensions of the features by words: enough for the topics of short texts, too few for single rare words.",
        whole(),
    )
    partition_rows: int = parameter(
        50_000,
        "Number of distinct texts, at most, among which clusters are looked for. Of more, so many are drawn at random, "
        "and heads trained on them sort the others: all but encoding then costs the same for any number of texts.",
        whole(2),
    )
    n_neighbors: int = PARTITION["n_neighbors"]
    smoothing_steps: int = PARTITION["smoothing_steps"]
    smoothing: float = PARTITION["smoothing"]
    equal_sizes: bool = PARTITION["equal_sizes"]
    unequal: bool = PARTITION["unequal"]
    regrouping: bool = PARTITION["regrouping"]
    co_training: bool = PARTITION["co_training"]
    n_init: int = PARTITION["n_init"]
    temperature: float = PARTITION["temperature"]
    sure_share: float = PARTITION["sure_share"]
    learning_rate: float = TRAINING["learning_rate"].but(
        1e-4,
        "Learning rate of the encoder. This and the other training parameters matter only with fine-tuning.",
    )
    head_learning_rate: float = TRAINING["head_learning_rate"].but(1e-3, "Learning rate of the centres.")
    batch_size: int = TRAINING["batch_size"].but(128)
    epochs: int = TRAINING["epochs"].but(
        1,
        "Passes over the texts in each round. One pulls clusters apart; several reinforce the errors of the partition.",
    )
    max_steps: int | None = TRAINING["max_steps"].but(meaning="Maximum number of steps in a round.")
    trainable_layers: str | int = TRAINING["trainable_layers"].but(2)
    guard: bool = TRAINING["guard"]
    checkpoint_every: int = TRAINING["checkpoint_every"]
    device: str = TRAINING["device"]
    precision: str = TRAINING["precision"]
    log_to: str | None = shared.LOG_TO
    cache: bool = shared.CACHE

    def _fit(self, context: FitContext) -> Vectors:
        rows = context.rows
        corpus = DistinctRows.of(rows)
        self._check_corpus(corpus)
        self.representation_, encoded = fit_representation(self, context, self._representation_options())
        started = time.perf_counter()
        drawn = corpus.draw(self.partition_rows, context.rng)
        looked_at = gathered(encoded, drawn.first)
        self.mean_ = center_of(looked_at)
        self.words_: WordStatistics | None = None
        # Two languages share no words: by words, texts would be grouped by language.
        if self.words and rows.texts is not None and not self.reading_.free:
            read = rows if drawn is corpus else rows.take(drawn.first)
            self.words_ = WordStatistics(n_components=self.word_dimensions).fit(cast(list[str], read.texts))
        features = self._features(rows.take(drawn.first), looked_at)
        del looked_at
        found = self._partition(features, context.rng)
        context.log("cluster", started, reason=found.reason, n_texts=len(drawn.first))
        start, training, before = found.start, None, found.labels
        if ROUNDS[self.effort] and found.branch != UNEQUAL:  # see UNTAUGHT
            training, encoded, features, found = self._teach(corpus, encoded, features, found, context)
        labels = drawn.numbered(found.labels)
        self.clusterer_ = self._heads(np.hstack(features.each), labels)
        self.memory_ = Memory(drawn.keys, labels, of_texts=rows.texts is not None)
        embedded = self._joined(rows, encoded)
        if drawn is corpus:
            context.start_labels = start[corpus.copies]
        else:
            nearest = cluster_means(features.meaning, start, self.n_clusters_)
            context.start_labels = np.empty(len(rows), dtype=np.int64)
            for block in in_blocks(embedded):
                context.start_labels[block] = (self._meaning(embedded[block]) @ nearest.T).argmax(axis=1)
            more = corpus.draw(TEACHERS * len(labels), context.rng).first
            self.clusterer_ = self._taught_by_more(rows.take(more), gathered(embedded, more))
        self.outcome_ = outcome_of(training, found.as_dict())
        if ROUNDS[self.effort] and training is None:
            self.outcome_["reason"] = f"effort={self.effort!r} trained nothing: {UNTAUGHT}"
        elif ROUNDS[self.effort] and not self.outcome_["rolled_back"] and ari(before, found.labels) == 1:
            self.outcome_["reason"] = f"effort={self.effort!r} has trained the encoder, but no text changed its cluster"
        return embedded

    def _heads(self, joined: Vectors, labels: NDArray[np.int64]) -> Heads:
        """Train a head on the features by meaning and one on those by words."""
        parts = np.split(joined, [len(self.mean_)], axis=1)
        with threads_for(len(labels)):
            heads = [fit_softmax(part, labels, self.n_clusters_) for part in parts if part.shape[1]]
        return Heads(heads, cluster_means(joined, labels, self.n_clusters_))

    def _taught_by_more(self, rows: Rows, joined: Vectors) -> Heads:
        """Train the heads again on more rows than the partition had: those that they are confident of, and its own."""
        assignment = softmax(self.clusterer_.scores(joined), axis=1)
        known = self.memory_.recall(rows)
        sure = confident_rows(assignment, self.sure_share) | (known >= 0)
        labels = np.where(known >= 0, known, assignment.argmax(axis=1))
        return self._heads(joined[sure], labels[sure])

    def _check_corpus(self, corpus: DistinctRows) -> None:
        """Reject more clusters than distinct texts, and fine-tuning without texts."""
        n_distinct, rows = len(corpus.keys), corpus.rows
        if self.n_clusters_ > n_distinct:
            raise ParameterError(
                f"n_clusters={self.n_clusters_} but only {n_distinct} texts differ in more than case and white space; "
                f"pass n_clusters <= {n_distinct}."
            )
        if ROUNDS[self.effort] and n_distinct > self.partition_rows:
            raise ParameterError(
                f"effort={self.effort!r} fine-tunes on up to partition_rows={self.partition_rows} distinct texts, but "
                f"there are {n_distinct}; pass effort='fast', or a larger partition_rows."
            )
        if ROUNDS[self.effort] and (rows.texts is None or rows.vectors is not None):
            raise ParameterError(
                f"effort={self.effort!r} fine-tunes an encoder and cannot start from vectors; pass "
                "effort='fast', or texts without vectors=."
            )

    def _check(self) -> None:
        if ROUNDS[self.effort] and self.encoder_precision != PRECISIONS[0]:
            raise ParameterError(
                f"effort={self.effort!r} trains the encoder, but encoder_precision={self.encoder_precision!r} is only "
                f"for encoding; pass effort='fast' or encoder_precision={PRECISIONS[0]!r}."
            )

    def _partition(self, features: Features, rng: np.random.RandomState) -> Partition:
        """Find the partition of distinct rows."""
        named = {field.name: getattr(self, field.name) for field in fields(PartitionOptions)}
        options = PartitionOptions(**named)
        with threads_for(len(features.meaning)), progress("Clustering", STEPS, unit="steps") as bar:
            find = find_partition if len(features.meaning) > FEW_TEXTS else find_partition_of_few
            return find(features, self.n_clusters_, rng, options, hear=lambda *_: bar.advance(1))

    def _teach(
        self, corpus: DistinctRows, encoded: Vectors, distinct: Features, found: Partition, context: FitContext
    ) -> tuple[dict[str, Any], Vectors, Features, Partition]:
        """Let the partition teach the encoder, round by round; return the outcome, new vectors, features, partition."""
        from shoal.methods.fine_tuned import trained_part  # torch, which a saved model may not need
        from shoal.methods.run_stages import run_stages, training_options
        from shoal.methods.shoal.teaching import TeacherObjective
        from shoal.training import CorpusViews, Stage

        rows, texts = corpus.rows, cast(list[str], corpus.rows.texts)
        encoder = cast("TransformerEncoder", _encoder_of(self.representation_))
        options = training_options(self, context.draw_seed())

        def teach(embeddings: Vectors, generator: np.random.RandomState) -> Partition:
            meaning = unit_rows(embeddings - center_of(embeddings)).astype(np.float32)
            return self._partition(replace(distinct, meaning=meaning), generator)

        # Only the beginning of a long text is used: its other chunks have no vector of their own to compare.
        tokens = CorpusViews.repeated(tokenise(encoder.tokenizer, texts, self.max_length), 1)
        encoder.to(options.resolve_device())
        trained = trained_part(encoder, tokens, options)
        stages = [
            Stage(
                f"round {number + 1}",
                TeacherObjective(
                    trained,
                    (lambda *_: found) if number == 0 else teach,
                    first=corpus.first,
                    copies=corpus.copies,
                    n_clusters=self.n_clusters_,
                    dimension=encoder.dimension,
                    temperature=self.temperature,
                    sure_share=self.sure_share,
                ),
            )
            for number in range(ROUNDS[self.effort])
        ]
        outcome = run_stages(self, tokens, stages, options, context, texts).outcome
        if any(stage["kept_step"] for stage in outcome["stages"]):
            started = time.perf_counter()
            self.representation_ = self._trained_representation(encoder, texts)
            encoded = represent(self, self.representation_, rows)
            self.mean_ = center_of(encoded[corpus.first])
            distinct = self._features(rows.take(corpus.first), encoded[corpus.first])
            found = self._partition(distinct, np.random.RandomState(options.seed))
            context.log("cluster again", started, reason=found.reason)
        return outcome, encoded, distinct, found

    def _features(self, rows: Rows, encoded: Vectors) -> Features:
        """Return the features of some rows, by words if there are texts."""
        meaning = unit_rows(encoded - self.mean_).astype(np.float32)
        if self.words_ is None:
            return Features(meaning)
        if rows.texts is None:
            raise ParameterError("this model was fitted on texts and vectors; pass the texts too.")
        weights = self.words_.tfidf(rows.texts)
        return Features(meaning, self.words_.projected(weights), weights)

    def _meaning(self, embedded: Vectors) -> Vectors:
        return embedded[:, : len(self.mean_)]

    def _typical(self, embedded: Vectors, found: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return how typical of its cluster each row is, by meaning and by words."""
        if not self.own_clusters_:
            return super()._typical(embedded, found)
        heads = cast(Heads, self.clusterer_)
        typical = np.empty((len(found), len(heads.heads)), dtype=np.float32)
        for block in in_blocks(embedded):
            typical[block] = heads.typical(embedded[block], found[block])
        return typical

    def before_and_after(self, X: Any) -> tuple[Vectors, Vectors]:
        """Return the vectors of texts from the encoder before training and from the trained one."""
        rows = self._rows(X, None)
        after = represent(self, self.representation_, rows)
        if not ROUNDS[self.effort] or rows.texts is None:
            return after, after
        untrained = make_representation("transformer", self._representation_options()).fit(rows.texts)
        return untrained.encode(rows.texts), after

    def _embed(self, rows: Rows) -> Vectors:
        return self._joined(rows, represent(self, self.representation_, rows))

    def _joined(self, rows: Rows, encoded: Vectors) -> Vectors:
        """Return the features of rows side by side, block by block: they are never there twice."""
        width = len(self.mean_) + (0 if self.words_ is None else self.words_.dimension)
        joined = scratch((len(encoded), width))
        for block in in_blocks(encoded, joined):
            some = rows.take(np.arange(block.start, block.stop))
            joined[block] = np.hstack(self._features(some, encoded[block]).each)
        return joined

    def _assign(self, rows: Rows, embedded: Vectors) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Assign by the heads; a fitted text keeps its cluster, which was found with all its neighbours known."""
        found, scores = super()._assign(rows, embedded)
        known = self.memory_.recall(rows)
        for i in np.flatnonzero((known >= 0) & (known != found)):
            scores[i, [found[i], known[i]]] = scores[i, [known[i], found[i]]]
        return np.where(known >= 0, known, found), scores

    def _representation_options(self) -> Mapping[str, Any]:
        """Return the options of the representation."""
        return {**self._reading_options(), "representation": "transformer", "normalize": True}

    def _trained_representation(self, encoder: TransformerEncoder, texts: list[str]) -> Representation:
        """Return the representation with an encoder that was trained, and so has a new fingerprint."""
        cached, languages = CachedEncoder(encoder, self.cache), self.reading_.options["languages"]
        return cached if languages is None else LanguageFree(cached, languages).fit(texts)

    def _trains_encoder(self) -> bool:
        return ROUNDS[self.effort] > 0

    def _save(self, folder: Path) -> dict[str, Any]:
        if self.words_ is not None:
            self.words_.save(folder)
        self.memory_.save(folder)
        save_file({"mean": self.mean_}, folder / _MEAN)
        config = save_representation(self.representation_, folder, "transformer")
        return {**config, "knows_words": self.words_ is not None, "outcome": self.outcome_}

    def _restore(self, folder: Path, config: dict[str, Any]) -> None:
        self.representation_ = restore_representation(self, folder, config, self._representation_options())
        self.words_ = WordStatistics.load(folder) if config["knows_words"] else None
        self.memory_ = Memory.load(folder)
        self.mean_ = load_file(folder / _MEAN)["mean"]
        self.outcome_ = saved_outcome(config["outcome"])
