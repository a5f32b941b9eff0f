"""DECCRL: contrastive loss, cluster selection, and centres that must rebuild the words (Yin et al., COLING 2022)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from shoal.clusterers import Clusterer, StudentT
from shoal.functional import cluster_kl, cross_view_contrast, student_t, target_distribution
from shoal.methods.objectives.cluster_topics import LatentReconstruction, TopicReconstruction
from shoal.training import LEFT, ORIGINAL, RIGHT, Batch, Objective, first_kmeans, kmeans_from
from shoal.vectors import Vectors


class InstanceObjective(Objective):
    """The instance-level module alone (eq. 1-4): the warm-up before the centres are placed.

    Parameters
    ----------
    encoder : LatentEncoder
        Maps texts to h.
    latent_dim, n_clusters, projection_dim : int
        Sizes.
    temperature : float
        τ.
    n_init : int
        Number of k-means starts.
    """

    views: tuple[int, ...] | None = (LEFT, RIGHT)
    centers: Tensor

    def __init__(
        self,
        encoder: nn.Module,
        *,
        latent_dim: int,
        n_clusters: int,
        projection_dim: int,
        temperature: float,
        n_init: int,
    ) -> None:
        super().__init__(encoder)
        self.temperature = temperature
        self.n_init = n_init
        self.centers = nn.Parameter(torch.zeros(n_clusters, latent_dim))
        self.project = nn.Sequential(
            nn.Linear(latent_dim, latent_dim), nn.ReLU(), nn.Linear(latent_dim, projection_dim)
        )

    @property
    def spherical(self) -> bool:
        """Whether FC_e turns vectors of length one: then all h are at first equally long."""
        return bool(getattr(getattr(self.encoder, "encoder", None), "normalize", False))

    def initialise(self, embeddings: Vectors, rng: np.random.RandomState) -> None:
        """Place the centres by k-means; after the warm-up, from its centres, so that clusters keep their numbers."""
        centers = self.centers.detach().cpu().numpy()
        placed = bool(centers.any())
        found = (
            kmeans_from(embeddings, centers, spherical=self.spherical)
            if placed
            else first_kmeans(embeddings, len(centers), rng, n_init=self.n_init, spherical=self.spherical)
        )
        length = np.linalg.norm(embeddings, axis=1).mean() if self.spherical else 1.0  # centres as long as the texts
        with torch.no_grad():
            self.centers.copy_(torch.from_numpy(np.float32(length) * found.centers))

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return the contrastive term."""
        left, right = self.encode(batch)
        return {"contrastive": self.contrast(left, right)}

    def contrast(self, left: Tensor, right: Tensor) -> Tensor:
        """Return the contrastive loss of two views (eq. 2-4)."""
        return cross_view_contrast(self.project(left), self.project(right), self.temperature)

    def clusterer(self, embeddings: Vectors, rng: np.random.RandomState | None = None) -> Clusterer:
        """Return k-means from the centres."""
        return kmeans_from(embeddings, self.centers.detach().cpu().numpy(), spherical=self.spherical)


class DECCRLObjective(InstanceObjective):
    """Equation 16.

    Parameters
    ----------
    reconstruction : TopicReconstruction, LatentReconstruction or None
        The module of L_RC.
    cluster_weight, reconstruction_weight : float
        λ_c and λ_r.
    alpha : float
        Degrees of freedom of equation 5.
    encoder, latent_dim, n_clusters, projection_dim, temperature, n_init
        As in :class:`InstanceObjective`.
    """

    views = (ORIGINAL, LEFT, RIGHT)

    def __init__(
        self,
        encoder: nn.Module,
        reconstruction: TopicReconstruction | LatentReconstruction | None,
        *,
        cluster_weight: float,
        reconstruction_weight: float,
        alpha: float,
        **sizes: Any,
    ) -> None:
        super().__init__(encoder, **sizes)
        self.reconstruction = reconstruction
        self.cluster_weight = cluster_weight
        self.reconstruction_weight = reconstruction_weight
        self.alpha = alpha

    def initialise(self, embeddings: Vectors, rng: np.random.RandomState) -> None:
        """Place the centres, and initialise the topics from them."""
        super().initialise(embeddings, rng)
        if isinstance(self.reconstruction, TopicReconstruction):
            self.reconstruction.start(self.centers)

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return the terms of equation 16."""
        h, left, right = self.encode(batch)
        o = student_t(h, self.centers, self.alpha)  # eq. 5
        t = target_distribution(o).detach()  # eq. 7
        terms = {
            "contrastive": self.contrast(left, right),  # eq. 2-4
            "cluster": self.cluster_weight * cluster_kl(t, o),  # eq. 8-9
        }
        if self.reconstruction is not None:
            rebuilt = self.reconstruction(batch.rows, h, o, self.centers)  # eq. 6, 10-15
            terms["reconstruction"] = self.reconstruction_weight * rebuilt
        return terms

    def clusterer(self, embeddings: Vectors, rng: np.random.RandomState | None = None) -> Clusterer:
        """Return the current cluster selection: the arg max of o, and of s."""
        return StudentT(self.centers.detach().cpu().numpy(), self.alpha)
