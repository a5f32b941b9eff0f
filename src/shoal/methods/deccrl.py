"""DECCRL: cluster centres that must rebuild the words of the texts (Yin et al., COLING 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from shoal.clusterers import Clusterer, Vectors, fit_kmeans
from shoal.clusterers.student_t import StudentT
from shoal.clustering import Topic
from shoal.encoder.latent import LatentEncoder, load_latent, save_latent
from shoal.errors import DataError
from shoal.functional import cluster_kl, cross_view_contrast, student_t, target_distribution
from shoal.methods.augmented import LEFT, ORIGINAL, RIGHT, AugmentedClusterer
from shoal.methods.checks import check_choices, check_counts, check_not_negative, check_positive, given
from shoal.methods.cluster_topics import EXPECTATION, GUMBEL, Bags, LatentReconstruction, TopicReconstruction
from shoal.methods.inputs import Rows
from shoal.training import Batch, CorpusViews, Objective, Stage, kmeans_from

RECONSTRUCTIONS = ("words", "latent", "none")
SAMPLINGS = (EXPECTATION, GUMBEL)

_PAPER_TRAINING = {
    "normalize": False,
    "scale": 1.0,
    "sharpness": None,
    "word_dim": None,
    "trainable_layers": "all",
    "tolerance": None,
}
PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        **_PAPER_TRAINING,
        "backbone": "sentence-transformers/distilbert-base-nli-stsb-mean-tokens",
        "augmentation": "contextual",
        "word_vectors": "word2vec",
    },
    "paper-offline": _PAPER_TRAINING,
    "biomedical": {"alpha": 10.0, "n_topics": 20},
}


class InstanceObjective(Objective):
    """The instance-level module alone (eq. 1-4): the warm-up, after which the centres are placed.

    Parameters
    ----------
    encoder : LatentEncoder
        Texts to h.
    latent_dim, n_clusters, projection_dim : int
        Sizes.
    temperature : float
        τ.
    n_init : int
        Starts of k-means.
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

    def initialise(self, embeddings: Vectors, rng: np.random.RandomState) -> None:
        """Place the centres by k-means; after the warm-up, from where it found them: clusters keep their numbers."""
        centers = self.centers.detach().cpu().numpy()
        placed = bool(centers.any())
        found = (
            kmeans_from(embeddings, centers)
            if placed
            else fit_kmeans(embeddings, len(centers), rng, n_init=self.n_init)
        )
        with torch.no_grad():
            self.centers.copy_(torch.from_numpy(found.centers))

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return the contrastive term."""
        left, right = self.encode(batch)
        return {"contrastive": self.contrast(left, right)}

    def contrast(self, left: Tensor, right: Tensor) -> Tensor:
        """Return the contrastive loss of two views (eq. 2-4)."""
        return cross_view_contrast(self.project(left), self.project(right), self.temperature)

    def labels(self, embeddings: Vectors) -> NDArray[np.int64]:
        """Return what k-means from the centres finds."""
        centers = self.centers.detach().cpu().numpy()
        found: NDArray[np.int64] = kmeans_from(embeddings, centers).scores(embeddings).argmax(axis=1)
        return found


class DECCRLObjective(InstanceObjective):
    """Equation 16.

    Parameters
    ----------
    reconstruction : TopicReconstruction, LatentReconstruction or None
        What L_RC is.
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
        """Place the centres, and start the topics from them."""
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

    def labels(self, embeddings: Vectors) -> NDArray[np.int64]:
        """Return the most probable cluster of each text: the arg max of o, and of s."""
        found: NDArray[np.int64] = self.clusterer().scores(embeddings).argmax(axis=1)
        return found

    def clusterer(self) -> StudentT:
        """Return the cluster selection as it stands."""
        return StudentT(self.centers.detach().cpu().numpy(), self.alpha)


class DECCRL(AugmentedClusterer):
    """Deep Embedded Clustering with Cluster-level Representation Learning.

    Minimises L = L_CL + λ_c L_Cluster + λ_r L_RC (equation 16): views of a text stay together, texts come near
    the centres of their clusters, and the words of the texts are rebuilt from those centres by an embedded topic
    model, T topics a cluster.

    The paper is silent on how the centres start while FC_e is still random. Here FC_e starts as a rotation, or as
    an orthogonal projection if L is less than the encoder's length, times ``scale``: distances in the space of h are
    at first those of the encoder. It is then trained, with the encoder and the projection head, by the contrastive
    loss alone for ``instance_epochs``, and only after that k-means places the centres in the space of h.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    backbone : str, default="builtin"
        The built-in model, a folder, or a hub name.
    pooling : {"mean", "cls"}, default="mean"
        Mean over the tokens, or the first token's state.
    max_length : int, default=32
        The most tokens that are read of a text.
    normalize : bool, default=True
        Unit vectors before FC_e. A departure from the paper, as in :class:`~shoal.SCCL`: the built-in encoder was
        trained on cosines.
    latent_dim : int, optional
        L, the length of h; by default the encoder's. The paper does not give it.
    scale : float, default=6.0
        What FC_e multiplies lengths with at first, so that unit vectors become as long as the built-in encoder's raw
        ones: the kernel of equation 5 has a unit of its own.
    n_topics : int, default=5
        T, topics a cluster; 20 for Biomedical in the paper.
    vocabulary_size : int, default=2000
        The most words that are rebuilt: the most frequent ones besides function words. Not given in the paper.
    word_vectors : str, default="corpus"
        Where ρ comes from, as in :func:`shoal.encoder.word_vectors.word_vectors`; "word2vec" in the paper. Positive
        PMI and SVD over the same texts need no further package and factorise what skip-gram does (Levy and
        Goldberg 2014).
    word_dim : int or None, default=128
        Length of word vectors that are learnt from the corpus, and of the topics' embeddings; None for the paper's 2 L.
        With 2 L = 768 nearly every word has a direction of its own; fewer let words of one kind share their
        probability, and the topics were more coherent (docs/methods/deccrl.md). Vectors that come from elsewhere keep
        their length.
    reconstruction : {"words", "latent", "none"}, default="words"
        What L_RC is: the topic model, an auto-encoder L → L/2 → L on h, or nothing (the ablations of table 3).
    cluster_sampling : {"expectation", "gumbel"}, default="expectation"
        Whether the words are rebuilt from all clusters, weighted by s, or from one drawn by a straight-through
        Gumbel softmax. In expectation over the draw both have the same loss.
    sharpness : float or None, default=8.0
        s ∝ o^sharpness in the topic model. None for equation 6, a softmax over the probabilities o, which keeps
        s near uniform: of 20 clusters no text could weigh its own more than an eighth, and all would learn the same
        words.
    free_bits : float, default=0.0
        Nats that each topic's dimension may diverge from the prior for nothing: the safeguard against a posterior that
        ignores the text.
    cluster_weight : float, default=10.0
        λ_c. Not given in the paper.
    reconstruction_weight : float, default=0.05
        λ_r. Not given in the paper.
    temperature : float, default=0.5
        τ of equations 2 and 3.
    alpha : float, default=1
        Degrees of freedom of equation 5 (10 for Biomedical in the paper).
    projection_dim : int, default=128
        Outputs of the contrasting module.
    augmentation, augmentation_strength, augmentation_options
        What makes the two views, as in :class:`~shoal.SCCL`; "contextual" in the paper.
    n_init : int, default=10
        Starts of k-means.
    batch_size : int, default=200
        M, as in the paper.
    instance_epochs : int, default=1
        Passes over the corpus before the centres are placed; 0 for none.
    epochs, max_steps : int, default=4 and None
        Passes over the corpus after that, and the most steps of each of the two stages.
    learning_rate, head_learning_rate : float, default=3e-5 and 5e-4
        Of the encoder with FC_e, and of the centres, the projection head and the topic model.
    optimizer, weight_decay, schedule, warmup_steps, clip_norm, accumulate
        See :class:`shoal.training.TrainingOptions`.
    trainable_layers : "all" or int, default=2
        Train everything, as the paper does, or the last so many layers.
    evaluate_every : int, optional
        Steps between two looks at the corpus; by default once an epoch.
    tolerance : float or None
        Stop when less than this share of the labels moved between two looks.
    checkpoint_every, device, precision
        See :class:`shoal.training.TrainingOptions`.
    log_to : {"tensorboard", "tensorboard:FOLDER", "mlflow"}, optional
        Where else the history goes.
    random_state : int, RandomState or None, default=0
        Seed.

    Attributes
    ----------
    encoder_ : TransformerEncoder
        The encoder after training.
    latent_ : nn.Linear
        FC_e after training.
    topics_ : list of tuple of Topic
        The topics of each cluster, the largest first; general ones are marked. None at all if the joint training was
        rolled back to its start: nothing had been learnt then.
    outcome_ : dict
        Label-free signs before and after, and whether and why the training was rolled back.

    References
    ----------
    Yin et al. (2022), *Improving Deep Embedded Clustering via Learning Cluster-level Representations*, COLING.

    Examples
    --------
    >>> from shoal.methods.deccrl import DECCRL
    >>> texts = ["red apple", "green apple", "ripe apple", "fast car", "slow car", "new car"]
    >>> model = DECCRL(n_clusters=2, max_steps=1, trainable_layers=1, augmentation="virtual").fit(texts)
    >>> [len(topics) for topics in model.topics_]
    [5, 5]
    """

    latent_: nn.Linear
    _bags: Bags | None
    _found_topics: list[tuple[Topic, ...]]

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        backbone: str = "builtin",
        pooling: str = "mean",
        max_length: int = 32,
        normalize: bool = True,
        latent_dim: int | None = None,
        scale: float = 6.0,
        n_topics: int = 5,
        vocabulary_size: int = 2000,
        word_vectors: str = "corpus",
        word_dim: int | None = 128,
        reconstruction: str = "words",
        cluster_sampling: str = "expectation",
        sharpness: float | None = 8.0,
        free_bits: float = 0.0,
        cluster_weight: float = 10.0,
        reconstruction_weight: float = 0.05,
        temperature: float = 0.5,
        alpha: float = 1.0,
        projection_dim: int = 128,
        augmentation: str = "neighbour",
        augmentation_strength: float = 0.2,
        augmentation_options: dict[str, dict[str, Any]] | None = None,
        n_init: int = 10,
        batch_size: int = 200,
        instance_epochs: int = 1,
        epochs: int = 4,
        max_steps: int | None = None,
        learning_rate: float = 3e-5,
        head_learning_rate: float = 5e-4,
        optimizer: str = "adam",
        weight_decay: float = 0.0,
        schedule: str = "constant",
        warmup_steps: int = 0,
        clip_norm: float | None = None,
        accumulate: int = 1,
        trainable_layers: str | int = 2,
        evaluate_every: int | None = None,
        tolerance: float | None = 0.005,
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
        self.latent_dim = latent_dim
        self.scale = scale
        self.n_topics = n_topics
        self.vocabulary_size = vocabulary_size
        self.word_vectors = word_vectors
        self.word_dim = word_dim
        self.reconstruction = reconstruction
        self.cluster_sampling = cluster_sampling
        self.sharpness = sharpness
        self.free_bits = free_bits
        self.cluster_weight = cluster_weight
        self.reconstruction_weight = reconstruction_weight
        self.temperature = temperature
        self.alpha = alpha
        self.projection_dim = projection_dim
        self.augmentation = augmentation
        self.augmentation_strength = augmentation_strength
        self.augmentation_options = augmentation_options
        self.n_init = n_init
        self.batch_size = batch_size
        self.instance_epochs = instance_epochs
        self.epochs = epochs
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

    @property
    def topics_(self) -> list[tuple[Topic, ...]]:
        """The topics of each cluster, the largest first."""
        check_is_fitted(self, "clusters_")
        return [cluster.topics for cluster in self.clusters_]

    def _views(self, texts: list[str], seed: int) -> CorpusViews:
        self._bags = None
        if self.reconstruction == "words":
            try:
                self._bags = Bags.of(
                    texts, self.vocabulary_size, self.word_vectors, self.word_dim or 2 * self._latent_dim, seed
                )
            except DataError as reason:
                raise DataError(
                    f"{reason} Topics need words: pass reconstruction='none', or other word_vectors."
                ) from reason
        return super()._views(texts, seed)

    @property
    def _latent_dim(self) -> int:
        """L."""
        return self.encoder_.dimension if self.latent_dim is None else self.latent_dim

    def _stages(self, encoder: nn.Module) -> list[Stage]:
        self.latent_ = nn.Linear(self.encoder_.dimension, self._latent_dim)
        nn.init.orthogonal_(self.latent_.weight, gain=self.scale)
        nn.init.zeros_(self.latent_.bias)
        sizes: dict[str, Any] = {
            "latent_dim": self._latent_dim,
            "n_clusters": self.n_clusters,
            "projection_dim": self.projection_dim,
            "temperature": self.temperature,
            "n_init": self.n_init,
        }
        joint = DECCRLObjective(
            LatentEncoder(encoder, self.latent_),
            self._reconstruction(),
            cluster_weight=self.cluster_weight,
            reconstruction_weight=self.reconstruction_weight,
            alpha=self.alpha,
            **sizes,
        )
        if not self.instance_epochs:
            return [Stage("joint", joint)]
        instance = InstanceObjective(joint.encoder, **sizes)
        instance.project, instance.centers = joint.project, joint.centers
        # The warm-up is ours, not the paper's, and knows no clusters: it may not cost any of their quality.
        return [Stage("instance", instance, epochs=self.instance_epochs, regret=0.0), Stage("joint", joint)]

    def _reconstruction(self) -> TopicReconstruction | LatentReconstruction | None:
        """Build what L_RC needs."""
        if self.reconstruction == "latent":
            return LatentReconstruction(self._latent_dim)
        if self._bags is None:
            return None
        return TopicReconstruction(
            self._bags,
            self._latent_dim,
            self.n_topics,
            cluster_sampling=self.cluster_sampling,
            sharpness=self.sharpness,
            free_bits=self.free_bits,
        )

    def _final_clusterer(
        self, stages: Sequence[Stage], vectors: Vectors, rng: np.random.RandomState | None
    ) -> Clusterer:
        objective = cast(DECCRLObjective, stages[-1].objective)
        clusterer = objective.clusterer()
        self._found_topics = [()] * self.n_clusters
        learnt = self.outcome_["stages"][-1]["kept_step"] > 0
        if learnt and isinstance(objective.reconstruction, TopicReconstruction):
            labels = clusterer.scores(vectors).argmax(axis=1)
            self._found_topics = objective.reconstruction.eval().describe(objective.centers, labels)
        self._bags = None
        return clusterer

    def _topics(self) -> list[tuple[Topic, ...]]:
        return self._found_topics

    def _embed(self, rows: Rows) -> Vectors:
        vectors = torch.from_numpy(super()._embed(rows)).to(self.latent_.weight.device)
        with torch.inference_mode():
            h: Vectors = self.latent_(vectors).cpu().numpy()
        return h

    def _save(self, folder: Path) -> dict[str, Any]:
        config = super()._save(folder)
        save_latent(self.latent_, folder)
        return config

    def _restore(self, folder: Path, config: dict[str, Any]) -> None:
        super()._restore(folder, config)
        self.latent_ = load_latent(folder)

    def _check_parameters(self) -> None:
        params = self.get_params(deep=False)
        check_choices(params, {"reconstruction": RECONSTRUCTIONS, "cluster_sampling": SAMPLINGS})
        check_positive(params, {"scale": 6, "temperature": 0.5, "alpha": 1})
        check_positive(params, dict.fromkeys(given(params, "sharpness"), 8))
        check_counts(params, ("projection_dim", "n_init", "n_topics", "vocabulary_size"))
        check_counts(params, given(params, "latent_dim", "word_dim"))
        check_counts(params, ["instance_epochs"], least=0)
        check_not_negative(params, ("cluster_weight", "reconstruction_weight", "free_bits"))
