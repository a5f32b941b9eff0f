"""DEC: sharpen the Student-t assignment of the codes (Xie et al. 2016). IDEC: keep the decoder (Guo et al. 2017)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from shoal.clusterers import Clusterer, StudentT, fit_kmeans
from shoal.functional import cluster_kl, student_t, target_distribution
from shoal.training import Objective, VectorBatch
from shoal.vectors import Vectors


class DECObjective(Objective):
    """Equation 2: KL from the target to the assignment; the target is fixed between two updates.

    Parameters
    ----------
    encoder : nn.Module
        f, with codes of length ``dimension``.
    n_texts, n_clusters, dimension : int
        Sizes of the target and of the centres.
    alpha : float
        Degrees of freedom of equation 1.
    n_init : int
        Number of starts of the k-means that places the first centres.
    """

    target: Tensor

    def __init__(
        self, encoder: nn.Module, *, n_texts: int, n_clusters: int, dimension: int, alpha: float, n_init: int
    ) -> None:
        super().__init__(encoder)
        self.alpha = alpha
        self.n_init = n_init
        self.centers = nn.Parameter(torch.zeros(n_clusters, dimension))
        self.register_buffer("target", torch.zeros(n_texts, n_clusters))

    def initialise(self, embeddings: Vectors, rng: np.random.RandomState) -> None:
        """Initialise the centres by k-means (section 3.3), and the target from them."""
        found = fit_kmeans(embeddings, len(self.centers), rng, n_init=self.n_init).centers
        with torch.no_grad():
            self.centers.copy_(torch.from_numpy(found))
        self.refresh(embeddings)

    def refresh(self, embeddings: Vectors) -> None:
        """Update the target of the whole corpus."""
        with torch.no_grad():
            z = torch.from_numpy(embeddings).to(self.centers.device)
            q = student_t(z, self.centers, self.alpha)  # eq. 1
            self.target.copy_(target_distribution(q))  # eq. 3

    def forward(self, batch: Any) -> dict[str, Tensor]:
        """Return the one term of the loss."""
        (z,) = self.encode(batch)
        return {"cluster": self.divergence(z, batch.rows)}

    def divergence(self, z: Tensor, rows: NDArray[np.int64]) -> Tensor:
        """Return KL(P || Q) of some rows of the corpus, with codes ``z``."""
        p = self.target[torch.from_numpy(rows).to(self.target.device)]
        return cluster_kl(p, student_t(z, self.centers, self.alpha))  # eq. 2

    def clusterer(self, embeddings: Vectors, rng: np.random.RandomState | None = None) -> Clusterer:
        """Return the current clusters: the arg max of q."""
        return StudentT(self.centers.detach().cpu().numpy(), self.alpha)


class IDECObjective(DECObjective):
    """L_r + γ L_c: reconstruction plus γ times DEC's divergence.

    Parameters
    ----------
    encoder, decoder : nn.Module
        The two halves of the auto-encoder.
    gamma : float
        γ.
    **head
        As in :class:`DECObjective`.
    """

    def __init__(self, encoder: nn.Module, decoder: nn.Module, *, gamma: float, **head: Any) -> None:
        super().__init__(encoder, **head)
        self.decoder = decoder
        self.gamma = gamma

    def forward(self, batch: VectorBatch) -> dict[str, Tensor]:
        """Return the two terms of the loss."""
        (z,) = self.encode(batch)
        return {
            "reconstruction": mse_loss(self.decoder(z), batch.vectors),  # L_r, as a mean over the values
            "cluster": self.gamma * self.divergence(z, batch.rows),  # L_c
        }
