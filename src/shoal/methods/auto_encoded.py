"""What AE + k-means, DEC, IDEC and DCN share: vectors, an auto-encoder, its pre-training, clusters in its code."""

from __future__ import annotations

import hashlib
import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from torch import Tensor, nn
from torch.nn.functional import dropout, mse_loss

from shoal.clusterers import Clusterer, Vectors, fit_kmeans
from shoal.encoder.auto_encoder import AutoEncoder, VectorEncoder, hidden_sizes, unit_power_scale
from shoal.errors import ParameterError
from shoal.methods.checks import check_choices, check_counts, check_positive, given
from shoal.methods.inputs import Rows
from shoal.methods.represented import RepresentedClusterer
from shoal.methods.trained import StagedClusterer
from shoal.training import EpochSampler, Objective, Stage, TrainingOptions, VectorBatch, VectorCorpus, seeded

PRETRAININGS = ("joint", "layer-wise")
# DEC's network and text features: the 2,000 most frequent words, greedy pre-training.
PAPER: dict[str, Any] = {
    "representation": "tfidf",
    "max_features": 2000,
    "hidden": [500, 500, 2000],
    "n_components": 10,
    "pretraining": "layer-wise",
}
# A stage of the pre-training has so many steps at least: in as many passes as others a small corpus takes too few.
LEAST_STEPS = 300
_FILE = "auto_encoder.safetensors"


class Reconstruction(Objective):
    """Denoising: the vectors back from the code of their noisy twins.

    Parameters
    ----------
    auto_encoder : AutoEncoder
        Both halves are trained.
    noise : float
        Share of the values that are set to zero.
    """

    def __init__(self, auto_encoder: AutoEncoder, noise: float) -> None:
        super().__init__(auto_encoder.encoder)
        self.decoder = auto_encoder.decoder
        self.noise = noise

    def forward(self, batch: VectorBatch) -> dict[str, Tensor]:
        """Return the mean squared error."""
        z = self.encoder(dropout(batch.vectors, self.noise, self.training))
        return {"reconstruction": mse_loss(self.decoder(z), batch.vectors)}


class LayerReconstruction(Reconstruction):
    """Greedy pre-training of one layer: what comes into it, back from what goes out of it (DEC, section 3.3).

    Parameters
    ----------
    auto_encoder : AutoEncoder
        One layer of either half is trained.
    noise : float
        Share of the values that are set to zero, before the layer and behind it.
    layer : int
        Which layer, 0 being the first of the encoder.
    """

    def __init__(self, auto_encoder: AutoEncoder, noise: float, layer: int) -> None:
        super().__init__(auto_encoder, noise)
        self.layer = layer

    def forward(self, batch: VectorBatch) -> dict[str, Tensor]:
        """Return the mean squared error."""
        encoder = cast(nn.Sequential, self.encoder)
        down = 2 * self.layer  # a ReLU stands between two layers
        up = len(encoder) - 1 - down
        x = encoder[:down](batch.vectors).detach()
        h = encoder[down : down + 2](dropout(x, self.noise, self.training))
        return {"reconstruction": mse_loss(self.decoder[up : up + 2](dropout(h, self.noise, self.training)), x)}


@dataclass(eq=False, repr=False, kw_only=True)
class AutoEncoderClusterer(StagedClusterer, RepresentedClusterer):
    """Base of the methods that cluster the code of an auto-encoder.

    Vectors are scaled by one number for all, so that their values have a mean square of 1, as DEC does.
    ``transform`` gives the code. ``start_labels_`` are k-means on the vectors as they are.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    representation : str or object, default="transformer"
        What the texts become: "transformer", "bow", "tfidf", "sif", … as in :class:`~shoal.TwoStage`. DEC takes
        TF-IDF for its texts; sentence vectors are the better start.
    backbone, pooling, max_length, long_texts, normalize : default="builtin", "mean", 64, "truncate" and True
        Of "transformer", as in :class:`~shoal.TwoStage`.
    max_features, stop_words : default=1500 and None
        Of "bow" and "tfidf", as in :class:`~shoal.TwoStage`; 2000 words in DEC.
    word_vectors, sif_a : default="corpus" and 0.001
        Of "sif", as in :class:`~shoal.TwoStage`.
    hidden : list of int, optional
        Widths of the encoder's hidden layers, mirrored in the decoder; [500, 500, 2000] in DEC. By default two as
        wide as the vectors, but from 100 to 500, for a CPU and for corpora of some thousand texts.
    n_components : int, optional
        Length of the code; 10 in DEC. By default K + 1, as ClusterBERT sets it for IDEC: ten numbers are few for a
        hundred clusters.
    pretraining : {"joint", "layer-wise"}, default="joint"
        Denoise through the whole network, or layer by layer and then the whole without noise, as DEC does: that
        is as many stages more as the encoder has layers.
    pretrain_epochs : int, default=30
        Passes over the corpus in each stage of the pre-training; more if that is less than 300 steps.
    pretrain_learning_rate : float, default=0.001
        Of Adam, in the pre-training. DEC takes plain gradient descent, and for the pre-training ten times the rate.
    noise : float, default=0.2
        Share of the values that pre-training sets to zero; DEC's.
    n_init : int, default=10
        Starts of k-means; DEC takes 20.
    batch_size : int, default=256
        Rows a step; DEC's and IDEC's.
    max_steps : int, optional
        The most steps of a stage.
    learning_rate : float, default=0.001
        Of Adam, after the pre-training; IDEC's for MNIST.
    checkpoint_every : int, default=200
        Steps between two checkpoints.
    device : {"auto", "cpu", "cuda", "mps"}, default="auto"
        Where to compute.
    log_to : {"tensorboard", "tensorboard:FOLDER", "mlflow"}, optional
        Where else the history goes.
    random_state : int, RandomState or None, default=0
        Seed.
    cache : bool, default=True
        Keep a transformer's vectors on disk, found again by content.
    """

    n_clusters: int = field(default=8, kw_only=False)
    representation: Any = "transformer"
    backbone: str = "builtin"
    pooling: str = "mean"
    max_length: int = 64
    long_texts: str = "truncate"
    normalize: bool = True
    max_features: int = 1500
    stop_words: str | list[str] | None = None
    word_vectors: str = "corpus"
    sif_a: float = 1e-3
    hidden: Sequence[int] | None = None
    n_components: int | None = None
    pretraining: str = "joint"
    pretrain_epochs: int = 30
    pretrain_learning_rate: float = 1e-3
    noise: float = 0.2
    n_init: int = 10
    batch_size: int = 256
    max_steps: int | None = None
    learning_rate: float = 1e-3
    checkpoint_every: int = 200
    device: str = "auto"
    log_to: str | None = None
    random_state: int | np.random.RandomState | None = 0
    cache: bool = True

    @abstractmethod
    def _final_clusterer(
        self, stages: Sequence[Stage], vectors: Vectors, rng: np.random.RandomState | None
    ) -> Clusterer:
        """Return the clusterer of the trained space."""

    @abstractmethod
    def _stages(self, auto_encoder: AutoEncoder, n_texts: int) -> list[Stage]:
        """Return what follows the pre-training."""

    def _fit(self, rows: Rows, rng: np.random.RandomState) -> Vectors:
        self._check_parameters()
        seed = int(rng.randint(np.iinfo(np.int32).max))
        options = self._options(seed)
        vectors = self._fit_representation(rows)
        self._start_found = _kmeans_labels(vectors, self.n_clusters, np.random.RandomState(seed), self.n_init)
        scale = unit_power_scale(vectors)
        with seeded(seed):  # the network's first weights
            auto_encoder = AutoEncoder(self._sizes(vectors.shape[1]))
        stages = [*self._pretraining_stages(auto_encoder, len(vectors)), *self._stages(auto_encoder, len(vectors))]
        named = rows.texts if rows.texts is not None and rows.vectors is None else [_digest(vectors)]
        self._train(VectorCorpus(vectors * np.float32(scale), options.resolve_device()), stages, options, named)
        self.encoder_ = VectorEncoder(auto_encoder.encoder, scale)
        code = self.encoder_.encode(vectors)
        self.clusterer_ = self._final_clusterer(stages, code, np.random.RandomState(seed))
        return code

    def before_and_after(self, X: Any) -> tuple[Vectors, Vectors]:
        """Return what goes into the auto-encoder, and its code."""
        rows = self._rows(X, None)
        return self._represent(rows), self._embed(rows)

    def _embed(self, rows: Rows) -> Vectors:
        return self.encoder_.encode(self._represent(rows))

    def _sizes(self, dimension: int) -> tuple[int, ...]:
        """Return the widths of the encoder's layers, input and code included."""
        hidden = hidden_sizes(dimension) if self.hidden is None else tuple(self.hidden)
        return (dimension, *hidden, self.n_components or self.n_clusters + 1)  # K + 1: ClusterBERT, appendix 1.2.2

    def _pretraining_stages(self, auto_encoder: AutoEncoder, n_texts: int) -> list[Stage]:
        """Return the pre-training: there are no clusters to watch yet."""
        if self.pretraining == "joint":
            objectives: dict[str, Objective] = {"pretrain": Reconstruction(auto_encoder, self.noise)}
        else:
            n_layers = (len(auto_encoder.encoder) + 1) // 2
            layers = {
                f"pretrain layer {layer + 1}": LayerReconstruction(auto_encoder, self.noise, layer)
                for layer in range(n_layers)
            }
            objectives = {**layers, "pretrain": Reconstruction(auto_encoder, noise=0.0)}
        epochs = max(self.pretrain_epochs, math.ceil(LEAST_STEPS / self._steps_per_epoch(n_texts)))
        rate = self.pretrain_learning_rate
        return [
            Stage(name, part, epochs=epochs, learning_rate=rate, watched=False) for name, part in objectives.items()
        ]

    def _steps_per_epoch(self, n_texts: int) -> int:
        """Return the number of steps in a pass over the corpus."""
        return EpochSampler(n_texts, self.batch_size, seed=0).batches_per_epoch

    def _options(self, seed: int) -> TrainingOptions:
        return replace(super()._options(seed), head_learning_rate=self.learning_rate)  # one rate for all

    def _check_parameters(self) -> None:
        self._check_representation()
        params = self.get_params(deep=False)
        check_choices(params, {"pretraining": PRETRAININGS})
        check_positive(params, {"pretrain_learning_rate": 0.001})
        check_counts(params, ("pretrain_epochs", "n_init", *given(params, "n_components")))
        if self.hidden is not None:
            if not isinstance(self.hidden, list | tuple):
                raise ParameterError(f"hidden={self.hidden!r} is not a list of widths; pass e.g. [500, 500, 2000].")
            for width in self.hidden:
                check_counts({"hidden": width}, ("hidden",))
        if not isinstance(self.noise, int | float | np.number) or not 0 <= self.noise < 1:
            raise ParameterError(f"noise={self.noise!r} but it is a share of the values; pass at least 0, below 1.")

    def _save(self, folder: Path) -> dict[str, Any]:
        save_file(self.encoder_.state(), folder / _FILE)
        return {**super()._save(folder), "outcome": self.outcome_}

    def _restore(self, folder: Path, config: dict[str, Any]) -> None:
        super()._restore(folder, config)
        self.encoder_ = VectorEncoder.from_state(load_file(folder / _FILE))
        self.outcome_ = config["outcome"]


def _kmeans_labels(vectors: Vectors, n_clusters: int, rng: np.random.RandomState, n_init: int) -> NDArray[np.int64]:
    """Return the clusters that k-means finds in the vectors as they are."""
    found: NDArray[np.int64] = fit_kmeans(vectors, n_clusters, rng, n_init=n_init).scores(vectors).argmax(axis=1)
    return found


def _digest(vectors: Vectors) -> str:
    """Return what names a matrix."""
    return hashlib.sha256(np.ascontiguousarray(vectors).tobytes()).hexdigest()
