"""Denoising: write a text from the vector of a damaged copy (TSDAE; ClusterBERT, stage 1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from shoal.clusterers import Clusterer
from shoal.encoder.decoder import SentenceDecoder
from shoal.encoder.noise import delete_tokens
from shoal.training import Batch, Objective, best_kmeans, first_kmeans
from shoal.vectors import Vectors


class DenoisingObjective(Objective):
    """Reconstruction of a text from the vector of a damaged copy.

    Parameters
    ----------
    encoder : nn.Module
        Maps texts to vectors.
    decoder : SentenceDecoder
        Writes texts from vectors.
    special : tuple of int
        Number of special tokens before and after a text; they are never deleted.
    deletion, scale, n_init
        As in :class:`TSDAE`.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: SentenceDecoder,
        *,
        special: tuple[int, int],
        deletion: float,
        scale: float,
        n_init: int,
    ) -> None:
        super().__init__(encoder)
        self.decoder = decoder
        self.special = special
        self.deletion, self.scale, self.n_init = deletion, scale, n_init

    def damaged(self, batch: Batch) -> Tensor:
        """Return z of the damaged texts, with fresh noise at each call."""
        noisy = delete_tokens(batch.tokens, batch.views[0], self.deletion, *self.special)
        z: Tensor = self.encoder(noisy, np.arange(len(batch)))
        return self.scale * z.float()

    def reconstruction(self, z: Tensor, batch: Batch) -> Tensor:
        """Return the mean cross-entropy of the undamaged texts, given z (eq. 1)."""
        costs: Tensor = self.decoder(z, batch.tokens, batch.views[0])
        return costs.mean()


class TSDAEObjective(DenoisingObjective):
    """Equation 1: write the undamaged text from the vector of the damaged one.

    Parameters
    ----------
    encoder, decoder, options
        As in :class:`DenoisingObjective`.
    n_clusters, dimension : int
        Size of the partition that evaluations track; it is not part of the loss.
    """

    centers: Tensor

    def __init__(
        self, encoder: nn.Module, decoder: SentenceDecoder, *, n_clusters: int, dimension: int, **options: Any
    ) -> None:
        super().__init__(encoder, decoder, **options)
        self.register_buffer("centers", torch.zeros(n_clusters, dimension))

    def initialise(self, embeddings: Vectors, rng: np.random.RandomState) -> None:
        """Place the centres by k-means."""
        found = first_kmeans(embeddings, len(self.centers), rng, n_init=self.n_init, spherical=self.spherical).centers
        self.centers.copy_(torch.from_numpy(found))

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return the loss of equation 1."""
        return {"reconstruction": self.reconstruction(self.damaged(batch), batch)}

    def clusterer(self, embeddings: Vectors, rng: np.random.RandomState | None = None) -> Clusterer:
        """Return k-means from the initial centres; with ``rng``, from fresh starts too."""
        centers = self.centers.cpu().numpy()
        return best_kmeans(embeddings, centers, rng, n_init=self.n_init, spherical=self.spherical)
