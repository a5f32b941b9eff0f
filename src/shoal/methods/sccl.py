"""SCCL: supporting clustering with contrastive learning (Zhang et al., NAACL 2021)."""

from __future__ import annotations

from typing import Any

from shoal.errors import ParameterError
from shoal.methods import shared_parameters as shared
from shoal.methods.augmented import augmented_views
from shoal.methods.context import FitContext
from shoal.methods.endings import ASSIGN, HEAD
from shoal.methods.fine_tuned import FineTuned, Material
from shoal.methods.objectives.sccl import CLUSTER_LOSSES, SCCLObjective
from shoal.parameters import declared, number, one_of, parameter
from shoal.training import CorpusViews, Stage
from shoal.training.options import TRAINING

# Appendix A.1 and A.5; the paper trains for 20 to 100 epochs, the authors' code for 3,000 steps.
_PAPER_TRAINING = {
    "normalize": False,
    "scale": 1.0,
    "eta": 10.0,
    "batch_size": 400,
    "learning_rate": 5e-6,
    "head_learning_rate": 5e-4,
    "trainable_layers": "all",
    "epochs": 100,
    "max_steps": 3000,
    "tolerance": None,
    "guard": False,
}
PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        **_PAPER_TRAINING,
        "backbone": "sentence-transformers/distilbert-base-nli-stsb-mean-tokens",
        "augmentation": "contextual",
    },
    "paper-offline": _PAPER_TRAINING,
    # For a CPU: the paper's losses, weights, batches and epochs on the cached lower layers, at a rate that suits fewer
    # steps; unit vectors, as the built-in encoder was trained for.
    "paper-cached": {"batch_size": 400, "epochs": 100, "max_steps": 1000, "tolerance": None, "guard": False},
    # As ClusterBERT ran its baseline (its appendix 1.2): other rates, and dropout instead of augmented texts.
    "clusterbert": {
        **_PAPER_TRAINING,
        "learning_rate": 1e-5,
        "head_learning_rate": 1e-3,
        "max_steps": 1000,
        "augmentation": "virtual",
    },
    "biomedical": {"alpha": 10.0},
}
# The stages of each objective, and the losses of each stage: contrastive, clustering.
_JOINT, _CONTRASTIVE, _CLUSTERING = ("joint", True, True), ("contrastive", True, False), ("clustering", False, True)
_PLANS = {
    "joint": [_JOINT],
    "contrastive": [_CONTRASTIVE],
    "clustering": [_CLUSTERING],
    "sequential": [_CONTRASTIVE, _CLUSTERING],
}


@declared
class SCCL(FineTuned):
    """Supporting Clustering with Contrastive Learning.

    Minimises, over a mini-batch of M texts and their 2M augmented views (equation 7),

        Σ_j KL[p_j || q_j] / M  +  η Σ_i ℓ_i / 2M

    where q is the Student-t assignment to the centres, p its sharpened target, and ℓ the NT-Xent loss of a view.

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

    summary = "fine-tuning: an instance-wise contrastive loss joined with a Student-t clustering loss"
    source = "SCCL (Zhang et al. 2021)"
    presets = PRESETS
    takes_pairs = True

    objective: str = parameter(
        "joint",
        "Losses to train with: both ('joint'), Instance-CL alone ('contrastive'), clustering alone "
        "('clustering'), or SCCL-Seq, one after the other ('sequential').",
        one_of(*_PLANS),
    )
    cluster_loss: str = parameter(
        "original",
        "Form of the clustering loss: equation 5 on the texts ('original') or on the augmented pairs "
        "('pairs'), or equations 8 and 9 of appendix A.3 ('alternative1' and 'alternative2').",
        one_of(*CLUSTER_LOSSES),
    )
    eta: float = parameter(
        10.0,
        "η, the weight of the contrastive loss, as in the paper. Far below it the clustering loss draws texts to wrong "
        "centres within some dozen steps (docs/methods/sccl.md).",
        number(above=0),
    )
    temperature: float = shared.TEMPERATURE.but(meaning="Temperature τ in equation 1.")
    alpha: float = shared.ALPHA.but(meaning="Degrees of freedom in equation 3; 10 for Biomedical in the paper.")
    projection_dim: int = shared.PROJECTION_DIM
    augmentation: str = shared.AUGMENTATION
    augmentation_strength: float = shared.AUGMENTATION_STRENGTH
    augmentation_options: dict[str, dict[str, Any]] | None = shared.AUGMENTATION_OPTIONS
    assign: str = ASSIGN
    batch_size: int = TRAINING["batch_size"].but(
        200, "Texts per batch (M); 400 in the paper. Half the batch allows twice the steps in the same time."
    )
    epochs: int = TRAINING["epochs"].but(4, "Passes over the corpus; with 'sequential', in each stage.")
    max_steps: int | None = TRAINING["max_steps"].but(
        meaning="Maximum number of steps in a stage; 3000 in the authors' code, for 20 to 100 epochs in the paper."
    )
    learning_rate: float = TRAINING["learning_rate"].but(
        3e-5, "Learning rate of the encoder; 5e-6 in the paper, with many more steps."
    )

    def _views(self, texts: list[str], seed: int, context: FitContext) -> CorpusViews:
        if self.objective == "clustering" and self.cluster_loss == "original":
            return super()._views(texts, seed, context)
        return augmented_views(self, texts, seed, context)

    def _stages(self, material: Material) -> list[Stage]:
        return [Stage(name, self._objective(material, *terms)) for name, *terms in _PLANS[self.objective]]

    def _objective(self, material: Material, contrastive: bool, clustering: bool) -> SCCLObjective:
        """Build the objective with these losses."""
        return SCCLObjective(
            material.encoder,
            dimension=self.encoder_.dimension,
            n_clusters=self.n_clusters_,
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

    def _check(self) -> None:
        if self.objective == "contrastive" and self.assign == HEAD:
            raise ParameterError(
                "assign='head' but objective='contrastive' trains no clustering head; pass assign='kmeans'."
            )
