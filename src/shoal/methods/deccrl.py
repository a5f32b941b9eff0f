"""DECCRL: deep embedded clustering with cluster-level representation learning (Yin et al., COLING 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import torch
from sklearn.utils.validation import check_is_fitted
from torch import nn

from shoal.clusterers import Clusterer
from shoal.clustering import Topic
from shoal.encoder.latent import LatentEncoder, load_latent, save_latent
from shoal.errors import DataError
from shoal.methods import shared_parameters as shared
from shoal.methods.augmented import augmented_views
from shoal.methods.context import FitContext
from shoal.methods.fine_tuned import FineTuned, Material
from shoal.methods.objectives.cluster_topics import (
    EXPECTATION,
    GUMBEL,
    Bags,
    LatentReconstruction,
    TopicReconstruction,
)
from shoal.methods.objectives.deccrl import DECCRLObjective, InstanceObjective
from shoal.parameters import declared, number, one_of, optional, parameter, whole, width
from shoal.training import CorpusViews, Stage
from shoal.training.options import TRAINING
from shoal.vectors import Vectors

_PAPER_TRAINING = {
    "normalize": False,
    "scale": 1.0,
    "sharpness": None,
    "word_dim": None,
    "vocabulary_size": None,
    "instance_epochs": 0,
    "trainable_layers": "all",
    "tolerance": None,
    "guard": False,
}
PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        **_PAPER_TRAINING,
        "backbone": "sentence-transformers/distilbert-base-nli-stsb-mean-tokens",
        "augmentation": "contextual",
        "word_vectors": "word2vec",
    },
    "paper-offline": _PAPER_TRAINING,
    # For a CPU, as for SCCL: the paper's losses and topic model on the cached lower layers, on unit vectors. The paper
    # does not say how long it trains; a thousand steps are the length of SCCL's preset of this name.
    "paper-cached": {
        "sharpness": None,
        "word_dim": None,
        "vocabulary_size": None,
        "instance_epochs": 0,
        "epochs": 100,
        "max_steps": 1000,
        "tolerance": None,
        "guard": False,
    },
    "biomedical": {"alpha": 10.0, "n_topics": 20},
}


@declared
class DECCRL(FineTuned):
    """Deep Embedded Clustering with Cluster-level Representation Learning.

    Minimises L = L_CL + λ_c L_Cluster + λ_r L_RC (equation 16): views of a text stay together, texts move towards
    the centres of their clusters, and an embedded topic model with T topics per cluster rebuilds the words of the texts
    from those centres.

    The paper does not say how the centres start while FC_e is still random. Here FC_e starts as a rotation, or as an
    orthogonal projection if L is less than the length of the encoder's vectors, times ``scale``: distances in the space
    of h are at first those of the encoder. FC_e, the encoder and the projection head are then trained by the
    contrastive loss alone for ``instance_epochs``. Only after that does k-means place the centres in the space of h.

    Attributes
    ----------
    encoder_ : TransformerEncoder
        The encoder after training.
    latent_ : nn.Linear
        FC_e after training.
    topics_ : list of tuple of Topic
        The topics of each cluster, the largest first; general ones are marked. Empty if the joint training was rolled
        back to its start, because nothing was learnt.
    outcome_ : dict
        Label-free signs before and after training, and whether and why it was rolled back.

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

    summary = (
        "fine-tuning: a contrastive loss, a Student-t clustering loss, and centres that rebuild the words; finds topics"
    )
    source = "DECCRL (Yin et al. 2022)"
    presets = PRESETS
    takes_pairs = True

    normalize: bool = shared.NORMALIZE.but(
        meaning="Scale vectors to unit length before FC_e. This departs from the paper, as in SCCL: the built-in "
        "encoder was trained on cosines."
    )
    scale: float = shared.SCALE.but(
        meaning="Factor on lengths with which FC_e starts. It makes unit vectors as long as the built-in encoder's "
        "raw ones, because the kernel of equation 5 has a fixed scale."
    )
    latent_dim: int | None = parameter(
        None, "L, the length of h; by default that of the encoder's vectors. Not given in the paper.", optional(width())
    )
    n_topics: int = parameter(5, "T, the number of topics per cluster; 20 for Biomedical in the paper.", width())
    vocabulary_size: int | None = parameter(
        2000,
        "Maximum number of words to rebuild: the most frequent ones except function words. None for all of them, as in "
        "the paper (10,941 to 21,063 words, table 1).",
        optional(whole()),
    )
    word_vectors: str = shared.WORD_VECTORS.but(
        meaning="Source of the word vectors ρ, as in shoal.encoder.word_vectors; 'word2vec' in the paper. 'corpus', "
        "positive PMI and SVD on the same texts, needs no extra package and factorises what skip-gram does (Levy "
        "and Goldberg 2014).",
    )
    word_dim: int | None = parameter(
        128,
        "Length of word vectors learnt from the corpus, and of the topic embeddings; None for the paper's 2 "
        "L. With 2 L = 768 nearly every word has its own direction; with fewer dimensions similar words share "
        "probability, and topics were more coherent (docs/methods/deccrl.md). Vectors from elsewhere keep their "
        "length.",
        optional(width()),
    )
    reconstruction: str = parameter(
        "words",
        "Form of L_RC: the topic model, an auto-encoder L → L/2 → L on h, or none (the ablations of table 3).",
        one_of("words", "latent", "none"),
    )
    cluster_sampling: str = parameter(
        EXPECTATION,
        "How the words are rebuilt: from all clusters, weighted by s, or from one drawn by a "
        "straight-through Gumbel softmax. Both have the same expected loss.",
        one_of(EXPECTATION, GUMBEL),
    )
    sharpness: float | None = parameter(
        8.0,
        "Exponent in s ∝ o^sharpness of the topic model; None for equation 6. That is a softmax over the "
        "probabilities o, which keeps s near uniform: of 20 clusters no text could give its own more than an eighth "
        "of the weight, and all would learn the same words.",
        optional(number(above=0)),
    )
    free_bits: float = parameter(
        0.0,
        "Nats by which the dimension of each topic may diverge from the prior at no cost. This guards "
        "against a posterior that ignores the text.",
        number(least=0),
    )
    cluster_weight: float = parameter(
        10.0,
        "λ_c, the weight of the clustering loss. Not given in the paper. Equation 4 sums two terms per text where SCCL "
        "has their mean: the balance of SCCL's η is λ_c = 2 / η.",
        number(least=0),
    )
    reconstruction_weight: float = parameter(
        0.05, "λ_r, the weight of the reconstruction loss. Not given in the paper.", number(least=0)
    )
    temperature: float = shared.TEMPERATURE.but(meaning="Temperature τ in equations 2 and 3.")
    alpha: float = shared.ALPHA.but(meaning="Degrees of freedom in equation 5; 10 for Biomedical in the paper.")
    projection_dim: int = shared.PROJECTION_DIM
    augmentation: str = shared.AUGMENTATION
    augmentation_strength: float = shared.AUGMENTATION_STRENGTH
    augmentation_options: dict[str, dict[str, Any]] | None = shared.AUGMENTATION_OPTIONS
    batch_size: int = TRAINING["batch_size"].but(200, "Texts per batch (M), as in the paper.")
    instance_epochs: int = parameter(
        1, "Passes over the corpus before the centres are placed; 0 for none, as in the paper.", whole(0)
    )
    epochs: int = TRAINING["epochs"].but(4, "Passes over the corpus after the centres are placed.")
    learning_rate: float = TRAINING["learning_rate"].but(3e-5, "Learning rate of the encoder and FC_e.")
    head_learning_rate: float = TRAINING["head_learning_rate"].but(
        meaning="Learning rate of the centres, the projection head and the topic model."
    )

    @property
    def topics_(self) -> list[tuple[Topic, ...]]:
        """The topics of each cluster, the largest first."""
        check_is_fitted(self, "clusters_")
        return [cluster.topics for cluster in self.clusters_]

    def _views(self, texts: list[str], seed: int, context: FitContext) -> CorpusViews:
        return augmented_views(self, texts, seed, context)

    def _stages(self, material: Material) -> list[Stage]:
        size = self.latent_dim or self.encoder_.dimension  # L
        self.latent_ = nn.Linear(self.encoder_.dimension, size)
        nn.init.orthogonal_(self.latent_.weight, gain=self.scale)
        nn.init.zeros_(self.latent_.bias)
        sizes: dict[str, Any] = {
            "latent_dim": size,
            "n_clusters": self.n_clusters_,
            "projection_dim": self.projection_dim,
            "temperature": self.temperature,
            "n_init": self.n_init,
        }
        joint = DECCRLObjective(
            LatentEncoder(material.encoder, self.latent_),
            self._reconstruction(material, size),
            cluster_weight=self.cluster_weight,
            reconstruction_weight=self.reconstruction_weight,
            alpha=self.alpha,
            **sizes,
        )
        if not self.instance_epochs:
            return [Stage("joint", joint)]
        instance = InstanceObjective(joint.encoder, **sizes)
        instance.project, instance.centers = joint.project, joint.centers
        # The warm-up is ours, not the paper's, and ignores clusters: it must not cost any of their quality.
        return [Stage("instance", instance, epochs=self.instance_epochs, regret=0.0), Stage("joint", joint)]

    def _reconstruction(self, material: Material, size: int) -> TopicReconstruction | LatentReconstruction | None:
        """Build the module of L_RC."""
        if self.reconstruction == "latent":
            return LatentReconstruction(size)
        if self.reconstruction == "none":
            return None
        try:
            bags = Bags.of(
                material.texts, self.vocabulary_size, self.word_vectors, self.word_dim or 2 * size, material.seed
            )
        except DataError as reason:
            raise DataError(
                f"{reason} Topics need words: pass reconstruction='none', or other word_vectors."
            ) from reason
        return TopicReconstruction(
            bags,
            size,
            self.n_topics,
            cluster_sampling=self.cluster_sampling,
            sharpness=self.sharpness,
            free_bits=self.free_bits,
        )

    def _topics(self, stages: Sequence[Stage], clusterer: Clusterer, vectors: Vectors) -> list[tuple[Topic, ...]]:
        objective = cast(DECCRLObjective, stages[-1].objective)
        learnt = self.outcome_["stages"][-1]["kept_step"] > 0
        if not learnt or not isinstance(objective.reconstruction, TopicReconstruction):
            return super()._topics(stages, clusterer, vectors)
        labels = clusterer.scores(vectors).argmax(axis=1)
        return objective.reconstruction.eval().describe(objective.centers, labels)

    def _on_top(self, vectors: Vectors) -> Vectors:
        with torch.inference_mode():
            h: Vectors = self.latent_(torch.from_numpy(vectors).to(self.latent_.weight.device)).cpu().numpy()
        return h

    def _save(self, folder: Path) -> dict[str, Any]:
        config = super()._save(folder)
        save_latent(self.latent_, folder)
        return config

    def _restore(self, folder: Path, config: dict[str, Any]) -> None:
        super()._restore(folder, config)
        self.latent_ = load_latent(folder)
