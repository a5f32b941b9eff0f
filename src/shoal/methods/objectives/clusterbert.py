"""ClusterBERT: reconstruction and a clustering head, trained on k-means labels or its own sharpened predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from shoal.clusterers import Centroids, Clusterer, Heads, SoftmaxHead
from shoal.encoder.decoder import SentenceDecoder
from shoal.functional import target_distribution
from shoal.methods.objectives.denoising import DenoisingObjective
from shoal.training import Batch, best_kmeans, first_kmeans
from shoal.vectors import Vectors, cluster_means

# The source of a stage's targets Q.
NOWHERE, KMEANS, HEAD = "nowhere", "kmeans", "head"


class ClusterBERTObjective(DenoisingObjective):
    """Equation 4: λ times the clustering loss plus 1 - λ times the reconstruction loss.

    Parameters
    ----------
    encoder, decoder, head : nn.Module
        The architecture, shared by all stages; ``head`` is h of equation 2.
    weight : float
        λ; 0 omits the clustering loss, 1 the reconstruction.
    targets : {"nowhere", "kmeans", "head"}
        Source of Q: k-means at the start of the stage (section 3.3), or the head's own sharpened predictions at the end
        of every epoch (section 3.4).
    first : bool
        Whether the stage is the first of the run and must initialise the head.
    n_texts : int
        Number of texts.
    assign, options
        As in :class:`~shoal.ClusterBERT` and :class:`DenoisingObjective`.
    """

    targets: Tensor

    def __init__(
        self,
        encoder: nn.Module,
        decoder: SentenceDecoder,
        head: nn.Linear,
        *,
        weight: float,
        targets: str,
        first: bool,
        n_texts: int,
        assign: str,
        **options: Any,
    ) -> None:
        super().__init__(encoder, decoder, **options)
        self.head = head
        self.weight = weight
        self.targets_from = targets
        self.first = first
        self.assign = assign
        # One label per text, or one distribution over the clusters; cross_entropy takes both.
        soft = torch.zeros(n_texts, head.out_features)
        self.register_buffer("targets", soft if targets == HEAD else torch.zeros(n_texts, dtype=torch.long))

    def initialise(self, embeddings: Vectors, rng: np.random.RandomState) -> None:
        """Initialise the head in the first stage; make the stage's first targets."""
        if self.first:
            self._start_head(embeddings, rng)
        if self.targets_from == KMEANS:
            # Each cluster takes the number of the head's column with which it shares most texts.
            found = self._kmeans(embeddings, rng)
            self.targets.copy_(torch.from_numpy(found.scores(embeddings).argmax(axis=1)))
        elif self.targets_from == HEAD:
            self.refresh(embeddings)

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return the terms of equation 4."""
        z = self.damaged(batch)
        terms = {}
        if self.weight > 0:
            q = self.targets[torch.from_numpy(batch.rows).to(z.device)]
            terms["cluster"] = self.weight * nn.functional.cross_entropy(self.head(z), q)  # eq. 2-3
        if self.weight < 1:
            terms["reconstruction"] = (1 - self.weight) * self.reconstruction(z, batch)  # eq. 1
        return terms

    def refresh(self, embeddings: Vectors) -> None:
        """Make new targets from the predictions on the undamaged texts (eq. 5)."""
        with torch.no_grad():
            z = self.scale * torch.from_numpy(embeddings).to(self.targets.device)
            self.targets.copy_(target_distribution(torch.softmax(self.head(z), dim=1)))

    def clusterer(self, embeddings: Vectors, rng: np.random.RandomState | None = None) -> Clusterer:
        """Return the current partition: the head, or k-means from its clusters; with ``rng``, from fresh starts too."""
        if self.assign == HEAD:
            return self._head_clusterer(embeddings)
        return self._kmeans(embeddings, rng)

    def _start_head(self, embeddings: Vectors, rng: np.random.RandomState) -> None:
        """Make the head predict what k-means does: -|z - c|² is linear in z up to a term that all clusters share."""
        found = first_kmeans(embeddings, self.head.out_features, rng, n_init=self.n_init, spherical=self.spherical)
        centers = torch.from_numpy(found.centers)
        with torch.no_grad():
            self.head.weight.copy_(2 * centers / (found.bandwidth * self.scale))
            self.head.bias.copy_(-centers.square().sum(dim=1) / found.bandwidth)

    def _head_clusterer(self, embeddings: Vectors) -> Heads:
        """Return the head as a clusterer of unscaled vectors."""
        weights = self.scale * self.head.weight.detach().T.cpu().numpy()
        head = SoftmaxHead(np.ascontiguousarray(weights), self.head.bias.detach().cpu().numpy())
        labels = head.log_probabilities(embeddings).argmax(axis=1)
        return Heads([head], cluster_means(embeddings, labels, self.head.out_features))

    def _kmeans(self, embeddings: Vectors, rng: np.random.RandomState | None) -> Centroids:
        """Return k-means from the means of the head's clusters; with ``rng``, from fresh starts too."""
        means = self._head_clusterer(embeddings).centers
        return best_kmeans(embeddings, means, rng, n_init=self.n_init, spherical=self.spherical)
