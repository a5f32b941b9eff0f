"""DCN: reconstruction and k-means on the codes, in alternation (Yang et al. 2017)."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import mse_loss

from shoal.clusterers import Centroids, Clusterer, fit_kmeans
from shoal.encoder.auto_encoder import AutoEncoder
from shoal.functional import kmeans_term, nearest_center, running_centers
from shoal.training import Objective, VectorBatch
from shoal.vectors import Vectors

# Initial count of a centre, if its cluster has as many texts; not given in the paper. With a large count the centres
# hardly move; with a small one they jump to the means of the first batch.
FIRST_COUNT = 100.0


class DCNObjective(Objective):
    """The joint cost, alternating over a batch: assignments, centres, then the network by the trainer's gradient step.

    The paper starts a batch with the network, with assignments that are one epoch old. The order of the three is the
    same; only the starting point differs.

    Parameters
    ----------
    auto_encoder : AutoEncoder
        f and g.
    n_clusters : int
        Number of centres.
    kmeans_weight : float
        λ.
    n_init : int
        Number of starts of the k-means that places the first centres.
    """

    centers: Tensor
    counts: Tensor

    def __init__(self, auto_encoder: AutoEncoder, *, n_clusters: int, kmeans_weight: float, n_init: int) -> None:
        super().__init__(auto_encoder.encoder)
        self.decoder = auto_encoder.decoder
        self.kmeans_weight = kmeans_weight
        self.n_init = n_init
        self.register_buffer("centers", torch.zeros(n_clusters, auto_encoder.dimension))
        self.register_buffer("counts", torch.ones(n_clusters))

    def initialise(self, embeddings: Vectors, rng: np.random.RandomState) -> None:
        """Initialise centres and counts by k-means."""
        found = fit_kmeans(embeddings, len(self.centers), rng, n_init=self.n_init)
        sizes = np.bincount(found.scores(embeddings).argmax(axis=1), minlength=len(self.centers))
        self.centers.copy_(torch.from_numpy(found.centers))
        self.counts.copy_(torch.from_numpy(sizes.clip(1, FIRST_COUNT)))

    def forward(self, batch: VectorBatch) -> dict[str, Tensor]:
        """Update assignments and centres, then return the terms of the cost, both divided by the vectors' length."""
        (z,) = self.encode(batch)
        assigned = nearest_center(z.detach(), self.centers)  # s, M and W fixed
        if self.training:
            centers, counts = running_centers(z.detach(), assigned, self.centers, self.counts)  # M, s and W fixed
            self.centers.copy_(centers)
            self.counts.copy_(counts)
        weight = self.kmeans_weight / 2 / batch.vectors.shape[1]
        return {
            "reconstruction": mse_loss(self.decoder(z), batch.vectors),
            "kmeans": weight * kmeans_term(z, self.centers, assigned),
        }

    def clusterer(self, embeddings: Vectors, rng: np.random.RandomState | None = None) -> Clusterer:
        """Return the current clusters: the nearest centres."""
        return Centroids.around(self.centers.cpu().numpy(), embeddings)
