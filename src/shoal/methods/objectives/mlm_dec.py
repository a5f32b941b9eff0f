"""MLM + DEC: a masked language model joined with a clustering loss (Huang et al., COLING 2020)."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from shoal.clusterers import Clusterer, StudentT
from shoal.encoder.masked_head import MaskedHead
from shoal.encoder.masking import MaskedOutput, Masking, read_masked
from shoal.encoder.shared_work import mean_of_all
from shoal.encoder.token_states import TokenStatesEncoder
from shoal.functional import cluster_kl, masked_cross_entropy, student_t, target_distribution
from shoal.training import Batch, Objective, first_kmeans
from shoal.vectors import Vectors


class _MaskedObjective(Objective):
    """Base of both stages: reads the texts of a batch with some tokens masked.

    Parameters
    ----------
    encoder : TokenStatesEncoder
        f of section 2.
    masking : Masking or None
        Masks tokens; None masks nothing.
    head : MaskedHead or None
        Predicts the masked tokens.
    """

    views = (0,)
    encoder: TokenStatesEncoder

    def __init__(self, encoder: nn.Module, masking: Masking | None, head: MaskedHead | None) -> None:
        super().__init__(encoder)
        self.masking = masking
        self.head = head

    def read(self, batch: Batch) -> MaskedOutput:
        """Read the texts once, with fresh masks."""
        if self.masking is None:
            (vectors,) = self.encode(batch)
            return MaskedOutput(vectors, vectors[:0], torch.empty(0, dtype=torch.long, device=vectors.device))
        texts = batch.tokens.select(batch.views[0])
        return read_masked(self.encoder, texts, self.masking(texts))


def masked_lm_loss(head: MaskedHead, words: Tensor, reading: MaskedOutput) -> Tensor:
    """Return L_m (section 2.1), over the masks of all workers if the work is shared."""
    scores = head(reading.states, words)
    return mean_of_all(masked_cross_entropy(scores.float(), reading.answers), len(reading.answers))


class HeadWarmUp(_MaskedObjective):
    """The masked-language-model loss of a new head alone; the encoder is not trained."""

    head: MaskedHead

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return L_m; no gradient leaves the head."""
        with torch.no_grad():
            reading = self.read(batch)
        return {"masked_lm": masked_lm_loss(self.head, self.encoder.words.detach(), reading)}


class MLMDECObjective(_MaskedObjective):
    """Equation 1.

    Parameters
    ----------
    encoder, masking, head
        As in the warm-up; without a head, L_m is omitted.
    masked_lm : float
        Weight of L_m.
    n_texts, n_clusters, dimension : int
        Number of texts, number of clusters, and length of a vector.
    alpha, scale, n_init
        As in :class:`MLMDEC`.
    """

    targets: Tensor

    def __init__(
        self,
        encoder: nn.Module,
        masking: Masking | None,
        head: MaskedHead | None,
        *,
        masked_lm: float,
        n_texts: int,
        n_clusters: int,
        dimension: int,
        alpha: float,
        scale: float,
        n_init: int,
    ) -> None:
        super().__init__(encoder, masking, head)
        self.masked_lm = masked_lm
        self.alpha, self.scale = alpha, scale
        self.n_init = n_init
        self.centers = nn.Parameter(torch.zeros(n_clusters, dimension))
        self.register_buffer("targets", torch.zeros(n_texts, n_clusters))

    def initialise(self, embeddings: Vectors, rng: np.random.RandomState) -> None:
        """Place the centres by k-means on the original model's vectors (section 2.2); compute the targets from them."""
        found = first_kmeans(embeddings, len(self.centers), rng, n_init=self.n_init, spherical=self.spherical).centers
        with torch.no_grad():
            self.centers.copy_(torch.from_numpy(found) * self.scale)
        self.refresh(embeddings)

    def refresh(self, embeddings: Vectors) -> None:
        """Update P over the whole corpus, read without masks (section 2.2, last paragraph)."""
        with torch.no_grad():
            q = student_t(self.scale * torch.from_numpy(embeddings).to(self.centers), self.centers, self.alpha)
            self.targets.copy_(target_distribution(q))  # eq. 5

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return the terms of equation 1, both from one pass over the masked texts (figure 1)."""
        reading = self.read(batch)
        terms = {}
        if self.head is not None:
            terms["masked_lm"] = self.masked_lm * masked_lm_loss(self.head, self.encoder.words, reading)
        q = student_t(self.scale * reading.vectors.float(), self.centers, self.alpha)  # eq. 3
        terms["cluster"] = cluster_kl(self.targets[torch.from_numpy(batch.rows).to(q.device)], q)  # eq. 2
        return terms

    def clusterer(self, embeddings: Vectors, rng: np.random.RandomState | None = None) -> Clusterer:
        """Return the current clusters: arg max q (eq. 4)."""
        return StudentT((self.centers.detach() / self.scale).cpu().numpy(), self.alpha, self.scale)
