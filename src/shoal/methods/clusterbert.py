"""ClusterBERT: domain adaptation, clustering, hardening, three stages of fine-tuning on one architecture."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from shoal.clusterers import Clusterer, Heads, SoftmaxHead, Vectors, cluster_means, fit_kmeans
from shoal.encoder.decoder import SentenceDecoder
from shoal.functional import target_distribution
from shoal.methods.checks import check_counts, check_shares
from shoal.methods.reclustered import WITH_HEAD
from shoal.methods.tsdae import PAPER_TRAINING, TSDAE, DenoisingObjective
from shoal.training import Batch, Stage, best_kmeans, kmeans_from
from shoal.training.guard import REGRET

# Where a stage's targets Q come from.
NOWHERE, KMEANS, HEAD = "nowhere", "kmeans", "head"

# Rounds and epochs of stage 2 are 1 or 2 and 2 or 4 in the paper, the best by labels; here the least of both.
_PAPER = {
    **PAPER_TRAINING,
    "adaptation_epochs": 2,
    "adaptation_regret": REGRET,
    "clustering_epochs": 2,
    "reclusterings": 1,
    "hardening_epochs": 2,
    "clustering_weight": 0.8,
    "hardening_weight": 0.75,
}
PRESETS: dict[str, dict[str, Any]] = {"paper": {**_PAPER, "backbone": "roberta-base"}, "paper-offline": _PAPER}


class ClusterBERTObjective(DenoisingObjective):
    """Equation 4: λ times the clustering loss and 1 - λ times the reconstruction loss.

    Parameters
    ----------
    encoder, decoder, head : nn.Module
        The architecture, which all stages share; ``head`` is h of equation 2.
    weight : float
        λ; at 0 there is no clustering loss, at 1 no reconstruction.
    targets : {"nowhere", "kmeans", "head"}
        Where Q comes from: k-means at the start of the stage (section 3.3), or the head's own predictions, sharpened,
        at the end of every epoch (section 3.4).
    first : bool
        Whether the stage is the run's first, and has to start the head.
    n_texts : int
        Size of the corpus.
    assign, options
        As in :class:`ClusterBERT` and :class:`~shoal.methods.tsdae.DenoisingObjective`.
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
        # A label for each text, or a distribution over the clusters; cross_entropy takes both.
        soft = torch.zeros(n_texts, head.out_features)
        self.register_buffer("targets", soft if targets == HEAD else torch.zeros(n_texts, dtype=torch.long))

    def initialise(self, embeddings: Vectors, rng: np.random.RandomState) -> None:
        """Start the head at the run's start; make the stage's first targets."""
        if self.first:
            self._start_head(embeddings, rng)
        if self.targets_from == KMEANS:
            # Each cluster bears the number of the head's column that it shares most texts with.
            found = best_kmeans(embeddings, self._head_means(embeddings), rng, n_init=self.n_init)
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
        """Make new targets of the predictions on the undamaged texts (eq. 5)."""
        with torch.no_grad():
            z = self.scale * torch.from_numpy(embeddings).to(self.targets.device)
            self.targets.copy_(target_distribution(torch.softmax(self.head(z), dim=1)))

    def clusterer(self, embeddings: Vectors, rng: np.random.RandomState | None = None) -> Clusterer:
        """Return the partition as it stands: the head, or k-means from its clusters; with ``rng`` new starts too."""
        if self.assign == HEAD:
            return self._head_clusterer(embeddings)
        means = self._head_means(embeddings)
        return (
            kmeans_from(embeddings, means) if rng is None else best_kmeans(embeddings, means, rng, n_init=self.n_init)
        )

    def _start_head(self, embeddings: Vectors, rng: np.random.RandomState) -> None:
        """Make the head say what k-means says: -|z - c|² is linear in z but for a term that all clusters share."""
        found = fit_kmeans(embeddings, self.head.out_features, rng, n_init=self.n_init)
        centers = torch.from_numpy(found.centers)
        with torch.no_grad():
            self.head.weight.copy_(2 * centers / (found.bandwidth * self.scale))
            self.head.bias.copy_(-centers.square().sum(dim=1) / found.bandwidth)

    def _head_clusterer(self, embeddings: Vectors) -> Heads:
        """Return the head as a clusterer of vectors that are not scaled."""
        weights = self.scale * self.head.weight.detach().T.cpu().numpy()
        head = SoftmaxHead(np.ascontiguousarray(weights), self.head.bias.detach().cpu().numpy())
        labels = head.log_probabilities(embeddings).argmax(axis=1)
        return Heads([head], cluster_means(embeddings, labels, self.head.out_features))

    def _head_means(self, embeddings: Vectors) -> Vectors:
        """Return the means of the head's clusters."""
        return self._head_clusterer(embeddings).centers


class ClusterBERT(TSDAE):
    """Three stages on one architecture, between which only the weights of the losses change.

    An encoder, a decoder that sees nothing but the text's vector z, and a linear head on z, trained on texts of which
    tokens are deleted at random:

    1. *Domain adaptation*: reconstruction alone (eq. 1).
    2. *Clustering*: k-means on z gives labels Q; cross-entropy of the head to them (eq. 2-3), with λ, and
       reconstruction, with 1 - λ (eq. 4). Done ``reclusterings`` times, each with new labels.
    3. *Hardening*: the same, but Q is the head's own prediction on the whole texts, sharpened (eq. 5), anew in every
       epoch.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    backbone, pooling, max_length, normalize, scale, deletion, decoder_layers, vocabulary
        As in :class:`~shoal.methods.tsdae.TSDAE`; ``scale`` is before the head too.
    adaptation_epochs, clustering_epochs, hardening_epochs : int, default=2
        Passes over the corpus in stage 1, in each round of stage 2, and in stage 3; 0 leaves stage 1 or 3 out.
        In the paper 2, 2 or 4, and 2.
    adaptation_regret : float, default=0.0
        How far stage 1 may let the quality of the clusters, the guard's label-free sign, fall below its best before it
        goes back to that; 0.03 in the other stages, and in all stages of the preset ``paper``. Stage 1 knows no
        clusters, and an encoder that knows the domain already has more to lose than to gain.
    reclusterings : int, default=2
        Rounds of stage 2; 1 or 2 in the paper, the better by labels.
    clustering_weight, hardening_weight : float, default=0.8 and 0.75
        λ of stages 2 and 3; 1 leaves the reconstruction out (figure 4).
    assign : {"kmeans", "head", "idec", "umap+kmeans", "umap+idec"}, default="kmeans"
        Final labels by k-means on z, as in table 2, from the head's clusters and from ``n_init`` fresh starts; by
        the head; or by what else table 3 has: IDEC, and UMAP to ``n_clusters`` + 1 dimensions before either.
    n_init : int, default=10
        Starts of every k-means.
    batch_size, learning_rate : int and float, default=64 and 1.6e-4
        8 and 2e-5 in the paper. A CPU is faster with larger batches; the rate grows with the batch.
    head_learning_rate : float, default=5e-4
        Of what is new: clustering head, attention to z, output layer; 2e-5 in the paper, over many more steps.
    max_steps : int, optional
        The most steps of each stage.
    optimizer, weight_decay, schedule, warmup_steps, clip_norm, accumulate, trainable_layers
        As in :class:`~shoal.methods.tsdae.TSDAE`.
    evaluate_every, tolerance, checkpoint_every, device, precision, log_to
        As in :class:`shoal.methods.sccl.SCCL`.
    random_state : int, RandomState or None, default=0
        Seed.

    Attributes
    ----------
    encoder_ : TransformerEncoder
        The encoder after training.
    outcome_ : dict
        Label-free signs before and after each stage, and whether and why one was rolled back.

    Notes
    -----
    The paper does not say how the head starts, nor what becomes of it when the texts are clustered again. Here it
    starts as k-means itself, in softmax form (Jabi et al. 2019), and keeps its weights; new k-means clusters bear the
    numbers of the head's columns with which they share most texts (Hungarian assignment).

    References
    ----------
    *ClusterBERT: Multi-Stage Fine-Tuning of Transformers for Deep Text Clustering*, under review at ICLR 2023.

    Examples
    --------
    >>> from shoal.methods.clusterbert import ClusterBERT
    >>> texts = ["red apple", "green apple", "ripe apple", "fast car", "slow car", "new car"]
    >>> model = ClusterBERT(n_clusters=2, max_steps=1).fit(texts)
    >>> [stage["stage"] for stage in model.outcome_["stages"]]
    ['adaptation', 'clustering 1', 'clustering 2', 'hardening']
    """

    assignments = WITH_HEAD

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        backbone: str = "builtin",
        pooling: str = "mean",
        max_length: int = 32,
        normalize: bool = True,
        scale: float = 6.0,
        deletion: float = 0.6,
        decoder_layers: int | None = 1,
        vocabulary: str = "corpus",
        adaptation_epochs: int = 2,
        clustering_epochs: int = 2,
        hardening_epochs: int = 2,
        adaptation_regret: float = 0.0,
        reclusterings: int = 2,
        clustering_weight: float = 0.8,
        hardening_weight: float = 0.75,
        assign: str = "kmeans",
        n_init: int = 10,
        batch_size: int = 64,
        max_steps: int | None = None,
        learning_rate: float = 1.6e-4,
        head_learning_rate: float = 5e-4,
        optimizer: str = "adam",
        weight_decay: float = 0.0,
        schedule: str = "constant",
        warmup_steps: int = 0,
        clip_norm: float | None = None,
        accumulate: int = 1,
        trainable_layers: str | int = 2,
        evaluate_every: int | None = None,
        tolerance: float | None = None,
        checkpoint_every: int = 25,
        device: str = "auto",
        precision: str = "auto",
        log_to: str | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.backbone = backbone
        self.pooling = pooling
        self.max_length = max_length
        self.normalize = normalize
        self.scale = scale
        self.deletion = deletion
        self.decoder_layers = decoder_layers
        self.vocabulary = vocabulary
        self.adaptation_epochs = adaptation_epochs
        self.clustering_epochs = clustering_epochs
        self.hardening_epochs = hardening_epochs
        self.adaptation_regret = adaptation_regret
        self.reclusterings = reclusterings
        self.clustering_weight = clustering_weight
        self.hardening_weight = hardening_weight
        self.assign = assign
        self.n_init = n_init
        self.batch_size = batch_size
        self.max_steps = max_steps
        self.learning_rate = learning_rate
        self.head_learning_rate = head_learning_rate
        self.optimizer = optimizer
        self.weight_decay = weight_decay
        self.schedule = schedule
        self.warmup_steps = warmup_steps
        self.clip_norm = clip_norm
        self.accumulate = accumulate
        self.trainable_layers = trainable_layers
        self.evaluate_every = evaluate_every
        self.tolerance = tolerance
        self.checkpoint_every = checkpoint_every
        self.device = device
        self.precision = precision
        self.log_to = log_to
        self.random_state = random_state

    def _stages(self, encoder: nn.Module) -> list[Stage]:
        decoder, head = self._decoder(), nn.Linear(self.encoder_.dimension, self.n_clusters)
        rounds = [f" {i + 1}" for i in range(self.reclusterings)] if self.reclusterings > 1 else [""]
        # name, epochs, λ, where Q comes from
        plan = [
            ("adaptation", self.adaptation_epochs, 0.0, NOWHERE),
            *((f"clustering{i}", self.clustering_epochs, self.clustering_weight, KMEANS) for i in rounds),
            ("hardening", self.hardening_epochs, self.hardening_weight, HEAD),
        ]
        stages: list[Stage] = []
        for name, epochs, weight, targets in plan:
            if epochs == 0:
                continue
            objective = ClusterBERTObjective(
                encoder,
                decoder,
                head,
                weight=weight,
                targets=targets,
                first=not stages,
                n_texts=self._corpus.n_texts,
                assign=self.assign,
                **self._denoising_options(),
            )
            regret = self.adaptation_regret if targets == NOWHERE else REGRET
            stages.append(
                Stage(name, objective, epochs, refresh_every="epoch" if targets == HEAD else None, regret=regret)
            )
        return stages

    def _check_parameters(self) -> None:
        super()._check_parameters()
        params = self.get_params(deep=False)
        check_shares(params, ("clustering_weight", "hardening_weight", "adaptation_regret"))
        check_counts(params, ("adaptation_epochs", "hardening_epochs"), least=0)
        check_counts(params, ("clustering_epochs", "reclusterings"))
