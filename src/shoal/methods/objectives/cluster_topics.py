"""DECCRL's cluster-level representation learning: the cluster centres must rebuild the words (section 3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from torch import Tensor, nn

from shoal.clustering import Topic
from shoal.encoder.word_counts import WordCounts
from shoal.encoder.word_vectors import word_vectors
from shoal.errors import DataError
from shoal.functional import bag_nll, gaussian_kl, negative_elbo, topic_words
from shoal.naming import describe_topics
from shoal.text.stop_words import resolve_stop_words
from shoal.vectors import cluster_means

EXPECTATION, GUMBEL = "expectation", "gumbel"
# Fewer words make no topics.
LEAST_WORDS = 2
TEXTS_PER_BLOCK = 4096


@dataclass(frozen=True)
class Bags:
    """The texts as bags of words, and the words as vectors.

    Attributes
    ----------
    counts : csr_matrix of shape (n_texts, n_words)
        How often each word occurs in each text.
    words : list of str
        The vocabulary.
    vectors : ndarray of float32, shape (n_words, d)
        ρ, scaled to a root mean square of 1 per entry, so that a step changes the words' probabilities by as much
        whatever the length and source of the vectors.
    """

    counts: csr_matrix
    words: list[str]
    vectors: NDArray[np.float32]

    @classmethod
    def of(cls, texts: Sequence[str], size: int | None, source: str, dimension: int, seed: int) -> Bags:
        """Count the ``size`` most frequent words except function words; words without a vector are omitted.

        Parameters
        ----------
        texts : sequence of str
            The corpus.
        size : int or None
            Maximum number of words; None for all.
        source, dimension, seed
            As in :func:`shoal.encoder.word_vectors.word_vectors`.

        Raises
        ------
        DataError
            If there are too few words.
        """
        stop_words = {part for word in resolve_stop_words("auto", texts) for part in WordCounts.words(word)}
        # the same words for the vectors as for the counts
        known, table = word_vectors(source, [" ".join(WordCounts.words(text)) for text in texts], dimension, seed)
        row_of = {word: row for row, word in enumerate(known)}
        counter = WordCounts(max_features=size, stop_words=sorted(stop_words))
        counter.terms_ = []
        with suppress(DataError):  # no words at all: reported below
            counter.fit(texts)
        counter.terms_ = [word for word in counter.terms_ if word in row_of]
        if len(counter.terms_) < LEAST_WORDS:
            raise DataError(
                f"{len(counter.terms_)} words besides function words have a vector; at least two are needed."
            )
        vectors = table[[row_of[word] for word in counter.terms_]]
        scale = np.sqrt(np.mean(np.square(vectors))) or 1.0
        return cls(counter.count(texts), counter.terms_, (vectors / scale).astype(np.float32))


class TopicReconstruction(nn.Module):
    """Rebuilds the words of the texts from the centres of the clusters.

    Parameters
    ----------
    bags : Bags
        The whole corpus. It is not part of the module's state, since the texts determine it.
    latent_dim : int
        L.
    n_topics : int
        T.
    cluster_sampling : {"expectation", "gumbel"}
        How the cluster of a text enters: as a mean over all clusters, or as one that is drawn.
    sharpness : float or None
        s ∝ o^sharpness; None for equation 6.
    free_bits : float
        Nats by which a topic's dimension may diverge at no cost.
    """

    words: Tensor

    def __init__(
        self,
        bags: Bags,
        latent_dim: int,
        n_topics: int,
        *,
        cluster_sampling: str,
        sharpness: float | None,
        free_bits: float,
    ) -> None:
        super().__init__()
        self.bags = bags
        self.cluster_sampling = cluster_sampling
        self.sharpness = sharpness
        self.free_bits = free_bits
        n_words, width = bags.vectors.shape
        self.register_buffer("words", torch.from_numpy(bags.vectors), persistent=False)
        self.topic_inputs = nn.Parameter(torch.randn(n_topics, latent_dim))  # u_1 … u_T
        # FC_g, with a hidden layer: if it were linear, all clusters would have the same topics, shifted by a vector
        self.generate = nn.Sequential(
            nn.Linear(2 * latent_dim, 2 * latent_dim), nn.ReLU(), nn.Linear(2 * latent_dim, width)
        )
        # first layer of the inference network: linear on the normalised bag, at a cost proportional to the words in it
        self.infer = nn.EmbeddingBag(n_words, latent_dim, mode="sum")
        self.mean = nn.Linear(latent_dim, n_topics)
        self.log_variance = nn.Linear(latent_dim, n_topics)

    @torch.no_grad()
    def start(self, centers: Tensor) -> None:
        """Make the topics' own vectors as long as the centres, so that neither dominates FC_g."""
        self.topic_inputs.mul_(centers.square().mean().sqrt())

    def forward(self, rows: NDArray[np.int64], h: Tensor, o: Tensor, centers: Tensor) -> Tensor:
        """Return the negative ELBO of some texts (eq. 15).

        Parameters
        ----------
        rows : ndarray of shape (n,)
            Row numbers of the texts.
        h : Tensor of shape (n, l)
            Not used: only the centres may rebuild the words.
        o : Tensor of shape (n, k)
            Assignment of the texts (eq. 5).
        centers : Tensor of shape (k, l)
        """
        owner, word, count = self._entries(rows)
        mean, log_variance = self._posterior(owner, word, count, len(rows))
        x = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()  # eq. 14
        nll = bag_nll(owner, word, count, x.softmax(dim=1), self.topics(centers))  # eq. 12-13
        s = self._selection(o)
        return negative_elbo((s * nll).sum(dim=1), gaussian_kl(mean, log_variance), self.free_bits)

    def topics(self, centers: Tensor) -> Tensor:
        """Return the word probabilities of every topic of every cluster, (k, t, v) (eq. 10-11)."""
        n_clusters, n_topics = len(centers), len(self.topic_inputs)
        pairs = torch.cat(
            [
                centers[:, None].expand(-1, n_topics, -1),
                self.topic_inputs[None].expand(n_clusters, -1, -1),
            ],
            dim=2,
        )
        return topic_words(self.generate(pairs), self.words)

    def proportions(self, rows: NDArray[np.int64]) -> Tensor:
        """Return θ of some texts at the mean of their posterior, (n, t)."""
        mean, _ = self._posterior(*self._entries(rows), len(rows))
        return mean.softmax(dim=1)

    @torch.no_grad()
    def describe(self, centers: Tensor, labels: NDArray[np.int64]) -> list[tuple[Topic, ...]]:
        """Return the topics of every cluster as words; ``labels`` are the clusters of all texts."""
        theta = np.concatenate([self.proportions(rows).cpu().numpy() for rows in _blocks(len(labels))])
        shares = cluster_means(theta, labels, len(centers))
        return describe_topics(self.topics(centers).cpu().numpy(), shares, self.bags.words)

    def _selection(self, o: Tensor) -> Tensor:
        """Return the weight of each cluster for each text: s (eq. 6), or a cluster drawn from it."""
        tiny = torch.finfo(o.dtype).tiny
        logits = o if self.sharpness is None else self.sharpness * o.clamp_min(tiny).log()
        if self.cluster_sampling == GUMBEL and self.training:  # straight-through
            return nn.functional.gumbel_softmax(logits, hard=True, dim=1)
        return logits.softmax(dim=1)

    def _posterior(self, owner: Tensor, word: Tensor, count: Tensor, n: int) -> tuple[Tensor, Tensor]:
        """Return μ and log σ² of q(x̂ | normalised bag of words)."""
        lengths = count.new_zeros(n).index_add(0, owner, count)
        starts = torch.searchsorted(owner, torch.arange(n, device=owner.device))
        hidden = self.infer(word, starts, per_sample_weights=count / lengths[owner]).relu()
        return self.mean(hidden), self.log_variance(hidden)

    def _entries(self, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor, Tensor]:
        """Return row, word and count of every entry in the bags of some texts."""
        found = self.bags.counts[rows].tocoo()
        owner, word, count = (
            torch.from_numpy(part).to(self.words.device) for part in (found.row, found.col, found.data)
        )
        return owner.long(), word.long(), count


def _blocks(n: int) -> list[NDArray[np.int64]]:
    """Split the numbers below n into blocks."""
    return np.array_split(np.arange(n), -(-n // TEXTS_PER_BLOCK))


class LatentReconstruction(nn.Module):
    """The ablation of table 3: an auto-encoder L → L/2 → L on h instead of the topic model.

    The paper says "the difference between the inputs and outputs"; here it is the squared distance.
    """

    def __init__(self, latent_dim: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(latent_dim, latent_dim // 2), nn.ReLU(), nn.Linear(latent_dim // 2, latent_dim)
        )

    def forward(self, rows: NDArray[np.int64], h: Tensor, o: Tensor, centers: Tensor) -> Tensor:
        """Return the mean squared distance between h (n, l) and its reconstruction."""
        rebuilt: Tensor = self.layers(h)
        return (rebuilt - h).square().sum(dim=1).mean()
