"""VaSCL: virtual augmentation supported contrastive learning (Zhang et al. 2022)."""

from __future__ import annotations

from typing import Any

from shoal.methods import shared_parameters as shared
from shoal.methods.context import FitContext
from shoal.methods.fine_tuned import FineTuned, Material
from shoal.methods.objectives.vascl import VaSCLObjective
from shoal.parameters import declared, number, parameter, whole
from shoal.training import CorpusViews, Stage
from shoal.training.options import TRAINING

_PAPER_TRAINING: dict[str, Any] = {
    "normalize": False,
    "batch_size": 1024,
    "learning_rate": 5e-6,
    "head_learning_rate": 5e-4,
    "trainable_layers": "all",
    "epochs": 5,
    "tolerance": None,
    "guard": False,
}
PRESETS: dict[str, dict[str, Any]] = {
    "paper": {**_PAPER_TRAINING, "backbone": "roberta-base"},
    "paper-offline": _PAPER_TRAINING,
}


@declared
class VaSCL(FineTuned):
    """Virtual augmentation Supported Contrastive Learning, then k-means.

    A text is encoded twice; the two vectors differ by dropout and are told from all others of the batch (NT-Xent). A
    third, virtual version of it is made in the space of the vectors: moved towards where it is most easily taken for
    one of its nearest neighbours in the batch, it is to be told from just these.

    References
    ----------
    Zhang, Xiao, Zhu, Ma and Arnold (2022), *Virtual Augmentation Supported Contrastive Learning of Sentence
    Representations*, Findings of ACL; on arXiv 2021, as ClusterBERT cites it.

    Examples
    --------
    >>> from shoal.methods.vascl import VaSCL
    >>> texts = ["red apple", "green apple", "ripe apple", "fast car", "slow car", "new car"]
    >>> model = VaSCL(n_clusters=2, max_steps=1, trainable_layers=1).fit(texts)
    >>> bool((model.predict(texts) == model.labels_).all())
    True
    """

    summary = "fine-tuning: contrast with all texts, and of a virtual version with the nearest ones; then k-means"
    source = "VaSCL (Zhang et al. 2021b); ClusterBERT (baseline)"
    presets = PRESETS

    n_neighbors: int = parameter(16, "Nearest texts of the batch that make a neighbourhood, as in the paper.", whole())
    radius: float = parameter(
        0.5,
        "How far the virtual version is moved, as a share of the mean distance to the neighbours. The paper has a "
        "length, 15, for vectors that are not of unit length.",
        number(above=0),
    )
    weight: float = parameter(
        1.0, "Weight of the contrast with the neighbours; 0 leaves plain instance discrimination.", number(least=0)
    )
    temperature: float = shared.TEMPERATURE.but(0.05, "Temperature τ of both losses, as in the paper.")
    projection_dim: int = shared.PROJECTION_DIM
    epochs: int = TRAINING["epochs"].but(4, "Passes over the corpus; 5 in the paper, over a million sentences.")
    learning_rate: float = TRAINING["learning_rate"].but(1e-5, "Learning rate of the encoder; 5e-6 in the paper.")

    def _views(self, texts: list[str], seed: int, context: FitContext) -> CorpusViews:
        return CorpusViews.repeated(self.encoder_.tokenise(texts), 3)

    def _stages(self, material: Material) -> list[Stage]:
        objective = VaSCLObjective(
            material.encoder,
            projection_dim=self.projection_dim,
            n_neighbors=self.n_neighbors,
            temperature=self.temperature,
            radius=self.radius,
            weight=self.weight,
            n_clusters=self.n_clusters_,
            dimension=self.encoder_.dimension,
            n_init=self.n_init,
        )
        return [Stage("contrast", objective)]
