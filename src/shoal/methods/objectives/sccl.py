"""SCCL: an instance-wise contrastive loss joined with a Student-t clustering loss (Zhang et al., NAACL 2021)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn

from shoal.clusterers import Clusterer, StudentT
from shoal.functional import cluster_kl, nt_xent, student_t, target_distribution
from shoal.training import LEFT, ORIGINAL, RIGHT, Batch, Objective, best_kmeans, first_kmeans
from shoal.vectors import Vectors

CLUSTER_LOSSES = ("original", "pairs", "alternative1", "alternative2")


class SCCLObjective(Objective):
    """Equation 7, or a part of it.

    Parameters
    ----------
    encoder : nn.Module
        ψ, with vectors of length ``dimension``.
    dimension, n_clusters, projection_dim : int
        Sizes of the heads.
    contrastive, clustering : bool
        Which of the two terms to use.
    cluster_loss : {"original", "pairs", "alternative1", "alternative2"}
        The form of the clustering term.
    eta, temperature, alpha, scale, assign, n_init
        As in :class:`SCCL`.
    """

    centers: Tensor

    def __init__(
        self,
        encoder: nn.Module,
        *,
        dimension: int,
        n_clusters: int,
        projection_dim: int,
        contrastive: bool,
        clustering: bool,
        cluster_loss: str,
        eta: float,
        temperature: float,
        alpha: float,
        scale: float,
        assign: str,
        n_init: int,
    ) -> None:
        super().__init__(encoder)
        self.views = needed_views(contrastive, clustering, cluster_loss)
        self.contrastive = contrastive
        self.clustering = clustering
        self.cluster_loss = cluster_loss
        self.eta, self.temperature, self.alpha, self.scale = eta, temperature, alpha, scale
        self.assign = assign
        self.n_init = n_init
        # f of figure 2: a linear layer whose rows are the centres
        self.centers = nn.Parameter(torch.zeros(n_clusters, dimension), requires_grad=clustering)
        # g of figure 2: one hidden layer as wide as the encoder, 128 outputs (section 4)
        self.project = nn.Sequential(
            nn.Linear(dimension, dimension), nn.ReLU(), nn.Linear(dimension, projection_dim)
        ).requires_grad_(contrastive)

    def initialise(self, embeddings: Vectors, rng: np.random.RandomState) -> None:
        """Initialise the centres by k-means."""
        found = first_kmeans(embeddings, len(self.centers), rng, n_init=self.n_init, spherical=self.spherical).centers
        with torch.no_grad():
            self.centers.copy_(torch.from_numpy(found) * self.scale)

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return the terms of equation 7."""
        e = {view: self.scale * vectors for view, vectors in zip(self.views or (), self.encode(batch), strict=True)}
        terms = {}
        if self.contrastive:
            z_left, z_right = self.project(e[LEFT]), self.project(e[RIGHT])
            terms["contrastive"] = self.eta * nt_xent(z_left, z_right, self.temperature)  # eq. 1-2
        if self.clustering:
            terms["cluster"] = self._cluster_term(e)
        return terms

    def _cluster_term(self, e: Mapping[int, Tensor]) -> Tensor:
        """Return the clustering term in its chosen form."""
        q = {view: student_t(vectors, self.centers, self.alpha) for view, vectors in e.items()}  # eq. 3
        if self.cluster_loss == "pairs":
            both = torch.cat([q[LEFT], q[RIGHT]])
            return cluster_kl(target_distribution(both).detach(), both)
        p = {view: target_distribution(assigned).detach() for view, assigned in q.items()}  # eq. 4
        if self.cluster_loss == "alternative1":
            return cluster_kl(p[LEFT], q[RIGHT]) + cluster_kl(p[RIGHT], q[LEFT])  # eq. 8
        if self.cluster_loss == "alternative2":
            return cluster_kl(p[ORIGINAL], q[LEFT]) + cluster_kl(p[ORIGINAL], q[RIGHT])  # eq. 9
        return cluster_kl(p[ORIGINAL], q[ORIGINAL])  # eq. 5-6

    def clusterer(self, embeddings: Vectors, rng: np.random.RandomState | None = None) -> Clusterer:
        """Return the current partition: the head, or k-means; with ``rng``, from fresh starts too."""
        centers = (self.centers.detach() / self.scale).cpu().numpy()
        if self.assign == "head":
            return StudentT(centers, self.alpha, self.scale)
        return best_kmeans(embeddings, centers, rng, n_init=self.n_init, spherical=self.spherical)


def needed_views(contrastive: bool, clustering: bool, cluster_loss: str) -> tuple[int, ...]:
    """Return the views that the terms need; others are not encoded.

    Examples
    --------
    >>> needed_views(True, True, "original"), needed_views(True, True, "pairs"), needed_views(False, True, "original")
    ((0, 1, 2), (1, 2), (0,))
    """
    on_original = clustering and cluster_loss in ("original", "alternative2")
    on_pairs = contrastive or cluster_loss != "original"
    return (ORIGINAL,) * on_original + (LEFT, RIGHT) * on_pairs
