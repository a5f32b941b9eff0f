"""An objective without clusters of its own: k-means follows the vectors while they are trained."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from shoal.clusterers import Clusterer
from shoal.training import Objective, best_kmeans, first_kmeans
from shoal.vectors import Vectors


class TrackedObjective(Objective):
    """Base of objectives whose loss knows no clusters; evaluations track a partition by k-means.

    Parameters
    ----------
    encoder : nn.Module
        Maps texts to vectors of length ``dimension``.
    n_clusters, dimension : int
        Size of the partition.
    n_init : int
        Number of k-means starts.
    """

    centers: Tensor

    def __init__(self, encoder: nn.Module, *, n_clusters: int, dimension: int, n_init: int) -> None:
        super().__init__(encoder)
        self.n_init = n_init
        self.register_buffer("centers", torch.zeros(n_clusters, dimension))

    def initialise(self, embeddings: Vectors, rng: np.random.RandomState) -> None:
        """Place the centres by k-means."""
        found = first_kmeans(embeddings, len(self.centers), rng, n_init=self.n_init, spherical=self.spherical).centers
        self.centers.copy_(torch.from_numpy(found))

    def clusterer(self, embeddings: Vectors, rng: np.random.RandomState | None = None) -> Clusterer:
        """Return k-means from the initial centres; with ``rng``, from fresh starts too."""
        centers = self.centers.cpu().numpy()
        return best_kmeans(embeddings, centers, rng, n_init=self.n_init, spherical=self.spherical)
