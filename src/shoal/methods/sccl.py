"""SCCL: instance-wise contrastive learning supports clustering (Zhang et al., NAACL 2021)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shoal.clusterers import Clusterer, Vectors, fit_kmeans
from shoal.clusterers.student_t import StudentT
from shoal.errors import ParameterError
from shoal.functional import cluster_kl, nt_xent, student_t, target_distribution
from shoal.methods.augmented import LEFT, ORIGINAL, RIGHT, AugmentedClusterer
from shoal.methods.checks import check_choices, check_counts, check_positive
from shoal.methods.reclustered import WITH_HEAD, ReclusteredClusterer
from shoal.training import Batch, CorpusViews, Objective, Stage, best_kmeans, kmeans_from

OBJECTIVES = ("joint", "contrastive", "clustering", "sequential")
CLUSTER_LOSSES = ("original", "pairs", "alternative1", "alternative2")

_PAPER_TRAINING = {
    "normalize": False,
    "scale": 1.0,
    "eta": 10.0,
    "batch_size": 400,
    "learning_rate": 5e-6,
    "head_learning_rate": 5e-4,
    "trainable_layers": "all",
    "epochs": 100,
    "max_steps": 1000,
    "tolerance": None,
}
PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        **_PAPER_TRAINING,
        "backbone": "sentence-transformers/distilbert-base-nli-stsb-mean-tokens",
        "augmentation": "contextual",
    },
    "paper-offline": _PAPER_TRAINING,
    "biomedical": {"alpha": 10.0},
}


# objective: (contrastive, clustering)
_TERMS = {"joint": (True, True), "contrastive": (True, False), "clustering": (False, True)}


class SCCLObjective(Objective):
    """Equation 7, or a part of it.

    Parameters
    ----------
    encoder : nn.Module
        ψ, with vectors of length ``dimension``.
    dimension, n_clusters, projection_dim : int
        Sizes of the heads.
    contrastive, clustering : bool
        Which of the two terms take part.
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
        """Start the centres by k-means."""
        found = fit_kmeans(embeddings, len(self.centers), rng, n_init=self.n_init).centers
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
        """Return the clustering term in one of its forms."""
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

    def labels(self, embeddings: Vectors) -> NDArray[np.int64]:
        """Return the clusters that :meth:`clusterer` gives."""
        found: NDArray[np.int64] = self.clusterer(embeddings).scores(embeddings).argmax(axis=1)
        return found

    def clusterer(self, embeddings: Vectors, rng: np.random.RandomState | None = None) -> Clusterer:
        """Return the partition of the space as it stands: the head, or k-means, with ``rng`` from new starts too."""
        centers = (self.centers.detach() / self.scale).cpu().numpy()
        if self.assign == "head":
            return StudentT(centers, self.alpha, self.scale)
        if rng is None:
            return kmeans_from(embeddings, centers)
        return best_kmeans(embeddings, centers, rng, n_init=self.n_init)


def needed_views(contrastive: bool, clustering: bool, cluster_loss: str) -> tuple[int, ...]:
    """Return the views that the terms look at; what nobody looks at is not encoded.

    Examples
    --------
    >>> needed_views(True, True, "original"), needed_views(True, True, "pairs"), needed_views(False, True, "original")
    ((0, 1, 2), (1, 2), (0,))
    """
    on_original = clustering and cluster_loss in ("original", "alternative2")
    on_pairs = contrastive or cluster_loss != "original"
    return (ORIGINAL,) * on_original + (LEFT, RIGHT) * on_pairs


class SCCL(ReclusteredClusterer, AugmentedClusterer):
    """Supporting Clustering with Contrastive Learning.

    Minimises, over the mini-batch of M texts and its 2M augmented views (equation 7),

        Σ_j KL[p_j || q_j] / M  +  η Σ_i ℓ_i / 2M

    with q the Student-t assignment to the centres, p its sharpened target, ℓ the NT-Xent loss of a view.

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
        Unit vectors. A departure from the paper, which takes the mean token state as it is: the built-in
        encoder was trained on cosines, and the lengths of its states are noise to k-means.
    scale : float, default=6.0
        What the vectors are multiplied with before the heads, so that unit vectors are as long there as the
        built-in encoder's raw ones (4 to 6): the kernel of equation 3 has a unit of its own.
    objective : {"joint", "contrastive", "clustering", "sequential"}, default="joint"
        Both terms; Instance-CL alone; clustering alone; SCCL-Seq, one after the other.
    cluster_loss : {"original", "pairs", "alternative1", "alternative2"}, default="original"
        Equation 5 on the texts, or on the augmented pairs; equations 8 and 9 of appendix A.3.
    eta : float, default=0.1
        η, the weight of the contrastive term; 10 in the paper. The built-in encoder, already trained by contrast,
        moved little at 10 (docs/methods/sccl.md).
    temperature : float, default=0.5
        τ of equation 1.
    alpha : float, default=1
        Degrees of freedom of equation 3 (10 for Biomedical in the paper).
    projection_dim : int, default=128
        Outputs of the contrastive head.
    augmentation : str, default="neighbour"
        What makes the two views, as in :func:`shoal.augment.make_augmenter`: "neighbour" (offline contextual),
        "virtual" (dropout alone), "wordnet", "contextual" (the paper's, masked language models),
        "back_translation", "char_swap", "word_deletion", or a composition such as "contextual+char_swap".
    augmentation_strength : float, default=0.2
        Share of the words that an augmentation changes; a value in the spec ("wordnet:0.1") wins.
    augmentation_options : dict, optional
        Further parameters of the augmenters, by name.
    assign : {"kmeans", "head", "idec", "umap+kmeans", "umap+idec"}, default="kmeans"
        Final labels by k-means on the representation, as the paper reports, from the trained centres and from
        ``n_init`` fresh starts; by the clustering head; or by IDEC, or UMAP and either (table 3 of ClusterBERT).
    n_init : int, default=10
        Starts of the first k-means and of the last.
    batch_size : int, default=200
        M; 400 in the paper. Half the batch takes twice the steps in the same time.
    epochs, max_steps : int, default=4 and None
        Passes over the corpus (in each stage of "sequential"), and the most steps; 1000 steps in the paper.
    learning_rate, head_learning_rate : float, default=3e-5 and 5e-4
        Of the backbone and of the two heads; 5e-6 for the backbone in the paper, over many more steps.
    optimizer, weight_decay, schedule, warmup_steps, clip_norm, accumulate
        See :class:`shoal.training.TrainingOptions`.
    trainable_layers : "all" or int, default=2
        Train everything, as the paper does, or the last so many layers, the rest computed once and cached: some
        three times as fast on a CPU.
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
    outcome_ : dict
        Label-free signs before and after, and whether and why the training was rolled back.

    References
    ----------
    Zhang et al. (2021), *Supporting Clustering with Contrastive Learning*, NAACL.

    Examples
    --------
    >>> from shoal.methods.sccl import SCCL
    >>> texts = ["red apple", "green apple", "ripe apple", "fast car", "slow car", "new car"]
    >>> model = SCCL(n_clusters=2, max_steps=1, trainable_layers=1, augmentation="virtual").fit(texts)
    >>> bool((model.predict(texts) == model.labels_).all())
    True
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
        objective: str = "joint",
        cluster_loss: str = "original",
        eta: float = 0.1,
        temperature: float = 0.5,
        alpha: float = 1.0,
        projection_dim: int = 128,
        augmentation: str = "neighbour",
        augmentation_strength: float = 0.2,
        augmentation_options: dict[str, dict[str, Any]] | None = None,
        assign: str = "kmeans",
        n_init: int = 10,
        batch_size: int = 200,
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
        self.scale = scale
        self.objective = objective
        self.cluster_loss = cluster_loss
        self.eta = eta
        self.temperature = temperature
        self.alpha = alpha
        self.projection_dim = projection_dim
        self.augmentation = augmentation
        self.augmentation_strength = augmentation_strength
        self.augmentation_options = augmentation_options
        self.assign = assign
        self.n_init = n_init
        self.batch_size = batch_size
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

    def _views(self, texts: list[str], seed: int) -> CorpusViews:
        if self.objective == "clustering" and self.cluster_loss == "original":
            return CorpusViews.repeated(self.encoder_.tokenise(texts), 1)
        return super()._views(texts, seed)

    def _stages(self, encoder: nn.Module) -> list[Stage]:
        names = ("contrastive", "clustering") if self.objective == "sequential" else (self.objective,)
        return [Stage(name, self._objective(encoder, *_TERMS[name])) for name in names]

    def _objective(self, encoder: nn.Module, contrastive: bool, clustering: bool) -> SCCLObjective:
        """Build the objective with these terms."""
        return SCCLObjective(
            encoder,
            dimension=self.encoder_.dimension,
            n_clusters=self.n_clusters,
            projection_dim=self.projection_dim,
            contrastive=contrastive,
            clustering=clustering,
            cluster_loss=self.cluster_loss,
            eta=self.eta,
            temperature=self.temperature,
            alpha=self.alpha,
            scale=self.scale,
            assign=self.assign,
            n_init=self.n_init,
        )

    def _final_clusterer(
        self, stages: Sequence[Stage], vectors: Vectors, rng: np.random.RandomState | None
    ) -> Clusterer:
        return cast(SCCLObjective, stages[-1].objective).clusterer(vectors, rng)

    def _check_parameters(self) -> None:
        choices = {"objective": OBJECTIVES, "cluster_loss": CLUSTER_LOSSES, "assign": self.assignments}
        params = self.get_params(deep=False)
        check_choices(params, choices)
        check_positive(params, {"eta": 0.1, "temperature": 0.5, "alpha": 1, "scale": 6})
        check_counts(params, ("projection_dim", "n_init"))
        if self.objective == "contrastive" and self.assign == "head":
            raise ParameterError(
                "assign='head' but objective='contrastive' trains no clustering head; pass assign='kmeans'."
            )
