"""DCN: towards k-means-friendly spaces (Yang, Fu, Sidiropoulos and Hong, ICML 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import mse_loss

from shoal.clusterers import Centroids, Clusterer, Vectors, fit_kmeans, squared_distances
from shoal.encoder.auto_encoder import AutoEncoder
from shoal.functional import kmeans_term, nearest_center, running_centers
from shoal.methods.auto_encoded import PAPER, AutoEncoderClusterer
from shoal.methods.checks import check_positive
from shoal.training import Objective, Stage, VectorBatch

PRESETS: dict[str, dict[str, Any]] = {"paper": PAPER}
# What a centre's count begins with, if its cluster has as many texts. The paper does not say. With a large count the
# centres hardly move; with a small one they jump to the first batch's means.
FIRST_COUNT = 100.0


class DCNObjective(Objective):
    """The joint cost, alternating over a batch: assignments, centres, then (by the trainer's gradient) the network.

    The paper begins a batch with the network, under assignments that are an epoch old by then. The order of the
    three is the same, only the beginning is shifted.

    Parameters
    ----------
    auto_encoder : AutoEncoder
        f and g.
    n_clusters : int
        Number of centres.
    kmeans_weight : float
        λ.
    n_init : int
        Starts of the k-means that gives the first centres.
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
        """Start centres and counts by k-means."""
        found = fit_kmeans(embeddings, len(self.centers), rng, n_init=self.n_init)
        sizes = np.bincount(found.scores(embeddings).argmax(axis=1), minlength=len(self.centers))
        self.centers.copy_(torch.from_numpy(found.centers))
        self.counts.copy_(torch.from_numpy(sizes.clip(1, FIRST_COUNT)))

    def forward(self, batch: VectorBatch) -> dict[str, Tensor]:
        """Move assignments and centres, then return the terms of the cost, both divided by the vectors' length."""
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

    def clusterer(self, embeddings: Vectors) -> Centroids:
        """Return the clusters as they stand."""
        return Centroids.around(self.centers.cpu().numpy(), embeddings)

    def labels(self, embeddings: Vectors) -> NDArray[np.int64]:
        """Return the nearest centres."""
        found: NDArray[np.int64] = squared_distances(embeddings, self.centers.cpu().numpy()).argmin(axis=1)
        return found


@dataclass(eq=False, repr=False, kw_only=True)
class DCN(AutoEncoderClusterer):
    """Deep clustering network.

    Minimises Σ_i ||g(f(x_i)) - x_i||² + λ/2 ||f(x_i) - M s_i||² in turns: each row's centre s_i is the nearest, the
    centres M are running means of what was assigned to them, the network takes a gradient step.

    Parameters
    ----------
    epochs : int, default=50
        The most passes over the corpus, after the pre-training.
    kmeans_weight : float, default=0.05
        λ; the paper's for MNIST (it has others for other sets).
    tolerance : float or None, default=0.001
        Stop when less than this share of the labels moved in an epoch; the paper trains a fixed number of epochs.

    Further parameters: see :class:`~shoal.methods.auto_encoded.AutoEncoderClusterer`.

    Attributes
    ----------
    encoder_ : VectorEncoder
        The encoding half after training.
    outcome_ : dict
        Label-free signs before and after, and whether and why the training was rolled back.

    References
    ----------
    Yang, Fu, Sidiropoulos and Hong (2017), *Towards K-means-friendly Spaces: Simultaneous Deep Learning and
    Clustering*, ICML.

    Examples
    --------
    >>> from shoal.methods.dcn import DCN
    >>> texts = ["red apple", "green apple", "ripe apple", "fast car", "slow car", "new car"]
    >>> model = DCN(n_clusters=2, representation="tfidf", pretrain_epochs=20, epochs=5).fit(texts)
    >>> bool((model.predict(texts) == model.labels_).all())
    True
    """

    epochs: int = 50
    kmeans_weight: float = 0.05
    tolerance: float | None = 0.001

    def _stages(self, auto_encoder: AutoEncoder, n_texts: int) -> list[Stage]:
        objective = DCNObjective(
            auto_encoder, n_clusters=self.n_clusters, kmeans_weight=self.kmeans_weight, n_init=self.n_init
        )
        return [Stage("cluster", objective)]

    def _final_clusterer(
        self, stages: Sequence[Stage], vectors: Vectors, rng: np.random.RandomState | None
    ) -> Clusterer:
        return cast(DCNObjective, stages[-1].objective).clusterer(vectors)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive(self.get_params(deep=False), {"kmeans_weight": 0.05})
