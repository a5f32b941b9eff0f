"""Base of the methods that fine-tune an encoder: load, train in stages, cluster, embed, save."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from shoal.clusterers import Clusterer
from shoal.clustering import Topic
from shoal.encoder.last_layers import LastLayersEncoder
from shoal.encoder.transformer import TransformerEncoder
from shoal.errors import DataError
from shoal.methods import shared_parameters as shared
from shoal.methods.base import TextClusterer
from shoal.methods.context import FitContext, saved_outcome
from shoal.methods.inputs import Rows
from shoal.methods.run_stages import run_stages, training_options
from shoal.parameters import declared
from shoal.training import CorpusViews, Stage, TrainingOptions, seeded
from shoal.training.options import ALL_LAYERS, TRAINING
from shoal.vectors import Vectors


@dataclass(frozen=True)
class Material:
    """What a method builds its stages from.

    Attributes
    ----------
    texts : list of str
        The texts.
    views : CorpusViews
        The texts and, if the method needs them, augmented views of them, tokenised.
    encoder : nn.Module
        The module to train: the method's encoder, or its last layers.
    seed : int
        The seed of the run.
    """

    texts: list[str]
    views: CorpusViews
    encoder: nn.Module
    seed: int


@declared
class FineTuned(TextClusterer):
    """Base of the methods that fine-tune an encoder.

    A method implements :meth:`_stages`, which returns the stages of training. The objective of the last stage
    provides the clusters.

    Attributes
    ----------
    encoder_ : TransformerEncoder
        The encoder after training.
    """

    backbone: str = shared.TRAINED_BACKBONE
    pooling: str = shared.POOLING
    max_length: int = shared.MAX_LENGTH.but(32)
    normalize: bool = shared.NORMALIZE.but(
        meaning="Scale vectors to unit length. This departs from the papers, which use the mean token state as it "
        "is: the built-in encoder was trained on cosines, and the lengths of its states are noise to k-means."
    )
    scale: float = shared.SCALE
    n_init: int = shared.N_INIT.but(meaning="Number of starts of every k-means.")
    batch_size: int = TRAINING["batch_size"].but(200)
    max_steps: int | None = TRAINING["max_steps"]
    learning_rate: float = TRAINING["learning_rate"].but(3e-5)
    head_learning_rate: float = TRAINING["head_learning_rate"]
    optimizer: str = TRAINING["optimizer"]
    weight_decay: float = TRAINING["weight_decay"]
    schedule: str = TRAINING["schedule"]
    warmup_steps: int = TRAINING["warmup_steps"]
    clip_norm: float | None = TRAINING["clip_norm"]
    accumulate: int = TRAINING["accumulate"]
    trainable_layers: str | int = TRAINING["trainable_layers"].but(
        2,
        "Layers to train: 'all', as in the papers, or only this many of the last ones. The others are "
        "computed once per text, which is about three times as fast on a CPU; damaged or masked texts need them at "
        "every step.",
    )
    evaluate_every: int | None = TRAINING["evaluate_every"]
    tolerance: float | None = shared.TOLERANCE
    guard: bool = TRAINING["guard"]
    checkpoint_every: int = TRAINING["checkpoint_every"]
    device: str = TRAINING["device"]
    precision: str = TRAINING["precision"]
    log_to: str | None = shared.LOG_TO

    def _trains_encoder(self) -> bool:
        return True

    @abstractmethod
    def _stages(self, material: Material) -> list[Stage]:
        """Return the stages of training, in order."""

    def _views(self, texts: list[str], seed: int, context: FitContext) -> CorpusViews:
        """Return the texts, tokenised by ``encoder_``, and any augmented views that the stages need."""
        return CorpusViews.repeated(self.encoder_.tokenise(texts), 1)

    def _topics(self, stages: Sequence[Stage], clusterer: Clusterer, vectors: Vectors) -> list[tuple[Topic, ...]]:
        """Return the topics of each cluster; none unless the method has a topic model."""
        return [()] * self.n_clusters_

    def untrained_encoder(self) -> TransformerEncoder:
        """Return the encoder as it was before training, with the same options."""
        return self._load_encoder(self.reading_.backbone)

    def before_and_after(self, X: Any) -> tuple[Vectors, Vectors]:
        """Return the vectors of texts from the encoder before training and from the trained one."""
        texts = self._rows(X, None).texts or []
        return self.untrained_encoder().encode(texts), self.encoder_.encode(texts)

    def _fit(self, context: FitContext) -> Vectors:
        rows = context.rows
        if rows.texts is None or rows.vectors is not None:
            raise DataError(
                f"{type(self).__name__} trains an encoder and cannot start from vectors; pass texts without "
                "vectors=, or use TwoStage."
            )
        seed = context.draw_seed()
        options = training_options(self, seed)
        self.encoder_ = self.untrained_encoder().to(options.resolve_device())
        views = self._views(rows.texts, seed, context)
        encoder = trained_part(self.encoder_, views, options)
        with seeded(seed):  # initial weights of the heads
            stages = self._stages(Material(rows.texts, views, encoder, seed))
        left, right = context.pairs or ([], [])
        result = run_stages(self, views, stages, options, context, [*rows.texts, *left, *right])
        context.start_labels = result.start_labels
        vectors = self._embed(rows)
        self.n_features_in_ = vectors.shape[1]
        # A run that was rolled back to its start returns its start labels: k-means gets no fresh starts.
        rng = np.random.RandomState(seed) if result.outcome["trained"] else None
        self.clusterer_ = stages[-1].objective.clusterer(vectors, rng)
        context.topics = self._topics(stages, self.clusterer_, vectors)
        return vectors

    def _embed(self, rows: Rows) -> Vectors:
        if rows.texts is None or rows.vectors is not None:
            raise DataError(f"{type(self).__name__} encodes texts itself; pass texts without vectors=.")
        vectors = self._on_top(self.encoder_.encode(rows.texts))
        self.truncated_ = self.encoder_.truncated
        return vectors

    def _on_top(self, vectors: Vectors) -> Vectors:
        """Apply the layers that a method trains on top of the encoder."""
        return vectors

    def _load_encoder(self, backbone: str) -> TransformerEncoder:
        """Load the encoder with this method's options."""
        return TransformerEncoder.load(
            backbone, pooling=self.pooling, max_length=self.max_length, normalize=self.normalize
        )

    def _save(self, folder: Path) -> dict[str, Any]:
        self.encoder_.save(folder)
        return {"outcome": self.outcome_}

    def _restore(self, folder: Path, config: dict[str, Any]) -> None:
        self.encoder_ = self._load_encoder(str(folder))
        self.outcome_ = saved_outcome(config["outcome"])
        self.fitted_on_vectors_ = False


def trained_part(encoder: TransformerEncoder, views: CorpusViews, options: TrainingOptions) -> nn.Module:
    """Return the module to train: the encoder, or its last layers over cached states of the others."""
    if options.trainable_layers == ALL_LAYERS:
        return encoder
    return LastLayersEncoder(encoder, views.tokens, int(options.trainable_layers))
