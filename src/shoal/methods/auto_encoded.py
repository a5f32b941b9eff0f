"""Base of AE + k-means, DEC, IDEC and DCN: pre-train an auto-encoder of vectors, then cluster its codes."""

from __future__ import annotations

import hashlib
import math
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from shoal.clusterers import Clusterer, fit_kmeans
from shoal.encoder.auto_encoder import AutoEncoder, VectorEncoder, hidden_sizes, unit_power_scale
from shoal.methods import shared_parameters as shared
from shoal.methods.base import TextClusterer
from shoal.methods.context import FitContext, saved_outcome
from shoal.methods.inputs import Rows
from shoal.methods.objectives.auto_encoding import LayerReconstruction, Reconstruction
from shoal.methods.represented import fit_representation, represent, restore_representation, save_representation
from shoal.methods.run_stages import run_stages, training_options
from shoal.parameters import Limit, declared, number, one_of, optional, parameter, share_of, whole, width
from shoal.training import EpochSampler, Objective, Stage, VectorCorpus, seeded
from shoal.training.options import TRAINING
from shoal.vectors import Vectors

# DEC's network and text features: the 2,000 most frequent words, greedy pre-training.
PAPER: dict[str, Any] = {
    "representation": "tfidf",
    "max_features": 2000,
    "hidden": [500, 500, 2000],
    "n_components": 10,
    "pretraining": "layer-wise",
    "guard": False,
}
# Minimum number of steps in a pre-training stage: the usual number of epochs is too small for a small corpus.
LEAST_STEPS = 300
_FILE = "auto_encoder.safetensors"


def _are_widths(value: Any) -> bool:
    """Tell whether a value is a list of whole numbers >= 1."""
    return isinstance(value, list | tuple) and len(value) <= 20 and all(map(width().allows, value))


@declared
class AutoEncoded(TextClusterer):
    """Base of the methods that cluster the codes of an auto-encoder.

    One factor scales all vectors so that their values have a mean square of 1, as in DEC. ``transform`` returns the
    codes. ``start_labels_`` are those of k-means on the unscaled vectors. A method implements :meth:`_stages`, which
    returns the stages after pre-training.

    Attributes
    ----------
    representation_ : Representation or None
        Turns texts into vectors; None if vectors were given.
    encoder_ : VectorEncoder
        The encoder half after training.
    """

    representation: Any = shared.REPRESENTATION.but(
        meaning=shared.REPRESENTATION.meaning + " DEC uses TF-IDF; sentence vectors are a better start."
    )
    backbone: str = shared.BACKBONE
    pooling: str = shared.POOLING
    max_length: int = shared.MAX_LENGTH
    long_texts: str = shared.LONG
    keep_language: bool = shared.KEEP_LANGUAGE
    encoder_precision: str = shared.ENCODER_PRECISION
    normalize: bool = shared.NORMALIZE
    max_features: int = shared.MAX_FEATURES
    stop_words: str | list[str] | None = shared.STOP_WORDS
    word_vectors: str = shared.WORD_VECTORS
    sif_a: float = shared.SIF_A
    word_frequencies: str = shared.WORD_FREQUENCIES
    hidden: Sequence[int] | None = parameter(
        None,
        "Widths of the encoder's hidden layers, mirrored in the decoder; [500, 500, 2000] in DEC. By "
        "default two layers as wide as the vectors, but from 100 to 500, which suits a CPU and a few thousand "
        "texts.",
        optional(Limit(_are_widths, "is not a list of widths; pass e.g. [500, 500, 2000].")),
    )
    n_components: int | None = parameter(
        None,
        "Length of the code; 10 in DEC. By default K + 1, as in ClusterBERT for IDEC: ten numbers are few "
        "for a hundred clusters.",
        optional(width()),
    )
    pretraining: str = parameter(
        "joint",
        "How to pre-train: denoise through the whole network, or layer by layer and then the whole without "
        "noise, as in DEC. Layer by layer adds one stage per layer of the encoder.",
        one_of("joint", "layer-wise"),
    )
    pretrain_epochs: int = parameter(
        30, "Passes over the corpus in each stage of pre-training; more if that is less than 300 steps.", whole()
    )
    pretrain_learning_rate: float = parameter(
        1e-3,
        "Learning rate of Adam in pre-training. DEC uses plain gradient descent, in pre-training at ten "
        "times its later rate.",
        number(above=0),
    )
    noise: float = parameter(
        0.2, "Share of the values that pre-training sets to zero, as in DEC.", share_of("the values")
    )
    n_init: int = shared.N_INIT.but(meaning="Number of k-means starts; 20 in DEC.")
    batch_size: int = TRAINING["batch_size"].but(256, "Rows per batch, as in DEC and IDEC.")
    max_steps: int | None = TRAINING["max_steps"]
    learning_rate: float = TRAINING["learning_rate"].but(
        1e-3, "Learning rate of Adam after pre-training, as in IDEC for MNIST."
    )
    guard: bool = TRAINING["guard"]
    checkpoint_every: int = TRAINING["checkpoint_every"].but(200)
    device: str = TRAINING["device"]
    log_to: str | None = shared.LOG_TO
    cache: bool = shared.CACHE

    @abstractmethod
    def _stages(self, auto_encoder: AutoEncoder, n_texts: int) -> list[Stage]:
        """Return the stages after pre-training."""

    def _clusterer(self, stages: Sequence[Stage], code: Vectors, rng: np.random.RandomState) -> Clusterer:
        """Return the clusters of the codes: those of the last objective."""
        return stages[-1].objective.clusterer(code, rng)

    def _fit(self, context: FitContext) -> Vectors:
        seed = context.draw_seed()
        # One learning rate for everything; evaluations coincide with updates of the targets.
        interval = self.get_params(deep=False).get("update_interval")
        options = training_options(self, seed, head_learning_rate=self.learning_rate, evaluate_every=interval)
        self.representation_, vectors = fit_representation(self, context, self._reading_options())
        start = fit_kmeans(vectors, self.n_clusters_, np.random.RandomState(seed), n_init=self.n_init)
        context.start_labels = start.scores(vectors).argmax(axis=1)
        scale = unit_power_scale(vectors)
        with seeded(seed):  # initial weights of the network
            auto_encoder = AutoEncoder(self._sizes(vectors.shape[1]))
        stages = [*self._pretraining_stages(auto_encoder, len(vectors)), *self._stages(auto_encoder, len(vectors))]
        corpus = VectorCorpus(vectors * np.float32(scale), options.resolve_device())
        run_stages(self, corpus, stages, options, context, _content(context.rows, vectors))
        self.encoder_ = VectorEncoder(auto_encoder.encoder, scale)
        code = self.encoder_.encode(vectors)
        self.clusterer_ = self._clusterer(stages, code, np.random.RandomState(seed))
        return code

    def before_and_after(self, X: Any) -> tuple[Vectors, Vectors]:
        """Return the input of the auto-encoder and its codes."""
        rows = self._rows(X, None)
        return represent(self, self.representation_, rows), self._embed(rows)

    def _embed(self, rows: Rows) -> Vectors:
        return self.encoder_.encode(represent(self, self.representation_, rows))

    def _sizes(self, dimension: int) -> tuple[int, ...]:
        """Return the widths of the encoder's layers, input and code included."""
        hidden = hidden_sizes(dimension) if self.hidden is None else tuple(self.hidden)
        return (dimension, *hidden, self.n_components or self.n_clusters_ + 1)  # K + 1: ClusterBERT, appendix 1.2.2

    def _pretraining_stages(self, auto_encoder: AutoEncoder, n_texts: int) -> list[Stage]:
        """Return the stages of pre-training, not watched: there are no clusters yet."""
        objectives: dict[str, Objective] = {}
        if self.pretraining == "layer-wise":
            for layer in range((len(auto_encoder.encoder) + 1) // 2):
                objectives[f"pretrain layer {layer + 1}"] = LayerReconstruction(auto_encoder, self.noise, layer)
        objectives["pretrain"] = Reconstruction(auto_encoder, 0.0 if objectives else self.noise)
        epochs = max(self.pretrain_epochs, math.ceil(LEAST_STEPS / self.steps_per_epoch(n_texts)))
        rate = self.pretrain_learning_rate
        return [
            Stage(name, part, epochs=epochs, learning_rate=rate, watched=False) for name, part in objectives.items()
        ]

    def steps_per_epoch(self, n_texts: int) -> int:
        """Return the number of steps per epoch."""
        return EpochSampler(n_texts, self.batch_size, seed=0).batches_per_epoch

    def _save(self, folder: Path) -> dict[str, Any]:
        save_file(self.encoder_.state(), folder / _FILE)
        return {**save_representation(self.representation_, folder, self.representation), "outcome": self.outcome_}

    def _restore(self, folder: Path, config: dict[str, Any]) -> None:
        self.representation_ = restore_representation(self, folder, config, self._reading_options())
        self.encoder_ = VectorEncoder.from_state(load_file(folder / _FILE))
        self.outcome_ = saved_outcome(config["outcome"])


def _content(rows: Rows, vectors: Vectors) -> list[str]:
    """Return what identifies the corpus: the texts, or a digest of vectors from elsewhere."""
    if rows.texts is not None and rows.vectors is None:
        return rows.texts
    return [hashlib.sha256(np.ascontiguousarray(vectors).tobytes()).hexdigest()]
