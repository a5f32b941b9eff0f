"""What a stage minimises."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shoal.clusterers import Vectors
from shoal.training.batch import Batch


class Objective(nn.Module):
    """What a stage minimises; the one thing that differs between methods.

    Everything it learns or must remember is a parameter or a buffer, and has its final shape when the
    constructor is done: a checkpoint then holds it whole.

    Parameters
    ----------
    encoder : nn.Module
        Called with tokens and sequence numbers, gives vectors; shared by the stages of a run.

    Attributes
    ----------
    views : tuple of int or None
        The views that ``forward`` wants in its batch, 0 being the texts themselves; None for all.
    """

    views: tuple[int, ...] | None = None

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def initialise(self, embeddings: Vectors, rng: np.random.RandomState) -> None:
        """Start from the corpus as it is: centres by k-means, say. Not called when a run is resumed."""

    @abstractmethod
    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return the weighted terms of the loss; the trainer sums, logs and back-propagates them."""

    def refresh(self, embeddings: Vectors) -> None:
        """Renew targets over the whole corpus; called as ``Stage.refresh_every`` says."""

    @abstractmethod
    def labels(self, embeddings: Vectors) -> NDArray[np.int64]:
        """Return each text's cluster as things stand. It draws no random number and changes nothing."""

    def encode(self, batch: Batch) -> tuple[Tensor, ...]:
        """Return the vectors of each view of the batch, all views encoded together."""
        vectors: Tensor = self.encoder(batch.tokens, batch.views.ravel())
        return torch.split(vectors.float(), len(batch))
