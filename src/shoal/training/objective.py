"""What a stage minimises."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shoal.clusterers import Clusterer
from shoal.training.batch import Batch, VectorBatch
from shoal.vectors import Vectors


class Objective(nn.Module):
    """What a stage minimises; the one thing that differs between methods.

    Everything it learns or must remember is a parameter or a buffer, and has its final shape after the
    constructor: a checkpoint then holds all of it.

    Parameters
    ----------
    encoder : nn.Module
        Called with tokens and sequence numbers, or with the rows of a matrix, returns vectors; shared by the
        stages of a run.

    Attributes
    ----------
    views : tuple of int or None
        The views that ``forward`` needs in its batch; 0 is the texts themselves, None means all.
    """

    views: tuple[int, ...] | None = None

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    @property
    def spherical(self) -> bool:
        """Whether the encoder's vectors have length one; k-means then compares by cosine."""
        return bool(getattr(self.encoder, "normalize", False))

    def initialise(self, embeddings: Vectors, rng: np.random.RandomState) -> None:
        """Initialise from the corpus, for example centres by k-means. Not called on resume."""

    @abstractmethod
    def forward(self, batch: Any) -> dict[str, Tensor]:
        """Return the weighted terms of the loss; the trainer sums, logs and back-propagates them.

        ``batch`` comes from the corpus: a :class:`Batch` of tokens or a :class:`VectorBatch`.
        """

    def refresh(self, embeddings: Vectors) -> None:
        """Recompute targets over the whole corpus; called as often as ``Stage.refresh_every`` says."""

    def clusterer(self, embeddings: Vectors, rng: np.random.RandomState | None = None) -> Clusterer:
        """Return the current partition of the space; with ``rng`` it may try new starts.

        An objective has none only if it is trained before there are clusters, in a stage that is not watched.
        """
        raise NotImplementedError(f"{type(self).__name__} has no clusters; run it in a Stage with watched=False.")

    def labels(self, embeddings: Vectors, rng: np.random.RandomState | None = None) -> NDArray[np.int64]:
        """Return the current cluster of each text; it changes nothing, and draws random numbers only from ``rng``."""
        found: NDArray[np.int64] = self.clusterer(embeddings, rng).scores(embeddings).argmax(axis=1)
        return found

    def encode(self, batch: Batch | VectorBatch) -> tuple[Tensor, ...]:
        """Return the vectors of each view of the batch; all views are encoded together."""
        return torch.split(batch.encoded_by(self.encoder).float(), len(batch))
