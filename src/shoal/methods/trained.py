"""What the methods that train share, and what those share that fine-tune an encoder: load, embed, save."""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from shoal.clusterers import Clusterer, Vectors
from shoal.encoder.last_layers import LastLayersEncoder
from shoal.encoder.transformer import TransformerEncoder
from shoal.errors import DataError
from shoal.methods.base import TextClusterer
from shoal.methods.inputs import Rows
from shoal.training import (
    Callback,
    Checkpoints,
    CorpusViews,
    EarlyStopping,
    Stage,
    Trainer,
    TrainingOptions,
    TrainingResult,
    VectorCorpus,
    make_writer,
    seeded,
)
from shoal.training.options import ALL_LAYERS

# These say where to compute and what to write beside it, not what comes out.
_NO_PART_OF_THE_RUN = ("random_state", "checkpoint_every", "log_to")


class StagedClusterer(TextClusterer):
    """Base of the methods that train in stages.

    A method's parameters that bear a name of :class:`~shoal.training.TrainingOptions` go there.

    Attributes
    ----------
    outcome_ : dict
        What became of the training: signs at ``start`` and ``end``, ``rolled_back``, ``reason``; by stage too.
    """

    tolerance: float | None
    log_to: str | None
    outcome_: dict[str, Any]

    @abstractmethod
    def _check_parameters(self) -> None:
        """Name the first parameter of the method's own that does not work."""

    def _train(
        self,
        views: CorpusViews | VectorCorpus,
        stages: Sequence[Stage],
        options: TrainingOptions,
        texts: Sequence[str],
    ) -> TrainingResult:
        """Run the stages; ``texts``, or what names the vectors, tell this run's checkpoints from others."""
        trainer = Trainer(
            views,
            options,
            n_clusters=self.n_clusters,
            callbacks=[*self._callbacks(), *self._listeners],
            checkpoints=Checkpoints(self._checkpoints, self._identity(texts, options.seed))
            if self._checkpoints is not None
            else None,
        )
        result = trainer.run(stages)
        self.history_ += result.history
        self.outcome_ = result.outcome
        return result

    def _options(self, seed: int) -> TrainingOptions:
        """Return those of the method's parameters that are the trainer's."""
        params = self.get_params(deep=False)
        named = {field.name: params[field.name] for field in fields(TrainingOptions) if field.name in params}
        return TrainingOptions(**named, seed=seed)

    def _callbacks(self) -> list[Callback]:
        """Return who listens to the training."""
        callbacks: list[Callback] = [] if self.tolerance is None else [EarlyStopping(self.tolerance)]
        return callbacks if self.log_to is None else [*callbacks, make_writer(self.log_to)]

    def _identity(self, texts: Sequence[str], seed: int) -> str:
        """Return a hash of all that decides the result."""
        params = {k: v for k, v in self.get_params(deep=False).items() if k not in _NO_PART_OF_THE_RUN}
        content = [type(self).__name__, seed, params, *texts]
        return hashlib.sha256(json.dumps(content, default=repr, sort_keys=True).encode()).hexdigest()


class TrainedClusterer(StagedClusterer):
    """Base of the methods that fine-tune an encoder.

    A method says which views of the texts it needs, which stages it trains and which clusterer comes out.

    Attributes
    ----------
    encoder_ : TransformerEncoder
        The encoder after training.
    """

    backbone: str
    pooling: str
    max_length: int
    normalize: bool
    encoder_: TransformerEncoder

    @abstractmethod
    def _views(self, texts: list[str], seed: int) -> CorpusViews:
        """Return the texts and whatever other views the stages need, tokenised by ``encoder_``."""

    @abstractmethod
    def _stages(self, encoder: nn.Module) -> list[Stage]:
        """Return what is trained, on ``encoder``: ``encoder_`` itself or its last layers."""

    @abstractmethod
    def _final_clusterer(
        self, stages: Sequence[Stage], vectors: Vectors, rng: np.random.RandomState | None
    ) -> Clusterer:
        """Return the clusterer of the trained space; without ``rng`` the one that the training began with."""

    def untrained_encoder(self) -> TransformerEncoder:
        """Return the encoder as it was before training, under the same options."""
        return self._load_encoder(self.backbone)

    def before_and_after(self, X: Any) -> tuple[Vectors, Vectors]:
        """Return the vectors of texts by the encoder as it was before training, and as it is."""
        texts = self._rows(X, None).texts or []
        return self.untrained_encoder().encode(texts), self.encoder_.encode(texts)

    def _fit(self, rows: Rows, rng: np.random.RandomState) -> Vectors:
        if rows.texts is None or rows.vectors is not None:
            raise DataError(
                f"{type(self).__name__} trains an encoder and cannot start from vectors; pass texts without "
                "vectors=, or use TwoStage."
            )
        self._check_parameters()
        seed = int(rng.randint(np.iinfo(np.int32).max))
        options = self._options(seed)
        self.encoder_ = self.untrained_encoder().to(options.resolve_device())
        views = self._views(rows.texts, seed)
        encoder: nn.Module = self.encoder_
        if options.trainable_layers != ALL_LAYERS:
            encoder = LastLayersEncoder(self.encoder_, views.tokens, int(options.trainable_layers))
        with seeded(seed):  # the heads' first weights
            stages = self._stages(encoder)
        result = self._train(views, stages, options, rows.texts)
        self._start_found = result.start_labels
        vectors = self._embed(rows)
        self.n_features_in_ = vectors.shape[1]
        # Rolled back to where it began, a run gives the labels it began with: no new starts then.
        trained = any(stage["kept_step"] for stage in result.outcome["stages"])
        self.clusterer_ = self._final_clusterer(stages, vectors, np.random.RandomState(seed) if trained else None)
        return vectors

    def _embed(self, rows: Rows) -> Vectors:
        if rows.texts is None or rows.vectors is not None:
            raise DataError(f"{type(self).__name__} encodes texts itself; pass texts without vectors=.")
        vectors = self.encoder_.encode(rows.texts)
        self.truncated_ = self.encoder_.truncated
        return vectors

    def _load_encoder(self, backbone: str) -> TransformerEncoder:
        """Load the encoder under this method's options."""
        return TransformerEncoder.load(
            backbone, pooling=self.pooling, max_length=self.max_length, normalize=self.normalize
        )

    def _save(self, folder: Path) -> dict[str, Any]:
        self.encoder_.save(folder)
        return {"outcome": getattr(self, "outcome_", None)}

    def _restore(self, folder: Path, config: dict[str, Any]) -> None:
        self.encoder_ = self._load_encoder(str(folder))
        self.outcome_ = config["outcome"]
        self.fitted_on_vectors_ = False
