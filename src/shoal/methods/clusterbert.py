"""ClusterBERT: fine-tuning in three stages on one architecture: domain adaptation, clustering, hardening."""

from __future__ import annotations

from typing import Any

from torch import nn

from shoal.methods import denoising
from shoal.methods import shared_parameters as shared
from shoal.methods.endings import ASSIGN
from shoal.methods.fine_tuned import FineTuned, Material
from shoal.methods.objectives.clusterbert import HEAD, KMEANS, NOWHERE, ClusterBERTObjective
from shoal.parameters import declared, number, parameter, whole
from shoal.training import Stage
from shoal.training.guard import REGRET

# In the paper stage 2 has 1 or 2 rounds of 2 or 4 epochs, the best by labels; here the smaller of both.
_PAPER = {
    **denoising.PAPER,
    "adaptation_epochs": 2,
    "clustering_epochs": 2,
    "reclusterings": 1,
    "hardening_epochs": 2,
    "clustering_weight": 0.8,
    "hardening_weight": 0.75,
}
PRESETS: dict[str, dict[str, Any]] = {"paper": {**_PAPER, "backbone": "roberta-base"}, "paper-offline": _PAPER}


@declared
class ClusterBERT(FineTuned):
    """Three stages on one architecture; only the weights of the losses change between them.

    An encoder, a decoder that sees only the text's vector z, and a linear head on z are trained on texts with randomly
    deleted tokens:

    1. *Domain adaptation*: reconstruction alone (eq. 1).
    2. *Clustering*: k-means on z gives labels Q. The loss is λ times the head's cross-entropy to Q (eq. 2-3) plus
       1 - λ times the reconstruction loss (eq. 4). Repeated ``reclusterings`` times, each with new labels.
    3. *Hardening*: the same, but Q is the head's own sharpened prediction on the undamaged texts (eq. 5), updated every
       epoch.

    Notes
    -----
    The paper does not say how the head starts, or what happens to it when the texts are clustered again. Here it
    starts as k-means in softmax form (Jabi et al. 2019) and keeps its weights. New k-means clusters take the numbers
    of the head's columns with which they share most texts (Hungarian assignment).

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

    summary = "fine-tuning in three stages: reconstruction, clustering, hardening"
    source = "ClusterBERT (under review at ICLR 2023)"
    presets = PRESETS

    backbone: str = denoising.BACKBONE
    pooling: str = denoising.POOLING
    scale: float = denoising.SCALE
    deletion: float = denoising.DELETION
    decoder_layers: int | None = denoising.DECODER_LAYERS
    vocabulary: str = denoising.VOCABULARY
    adaptation_epochs: int = parameter(2, "Passes over the corpus in stage 1; 0 omits it. 2 in the paper.", whole(0))
    clustering_epochs: int = parameter(
        2, "Passes over the corpus in each round of stage 2; 2 or 4 in the paper.", whole()
    )
    hardening_epochs: int = parameter(2, "Passes over the corpus in stage 3; 0 omits it. 2 in the paper.", whole(0))
    adaptation_regret: float = parameter(
        0.0,
        "How far the guard's label-free gain may fall below its best in stage 1 before the stage is rolled back to "
        "that best; 0.02 in the other stages. The presets of the paper have no guard. "
        "Stage 1 ignores clusters, and an encoder that already knows the domain has more to lose than to gain.",
        number(least=0, most=1),
    )
    reclusterings: int = parameter(
        2, "Rounds of stage 2; 1 or 2 in the paper, whichever scored better by labels.", whole()
    )
    clustering_weight: float = parameter(
        0.8,
        "λ in stage 2, the weight of the clustering loss; 1 omits the reconstruction (figure 4).",
        number(least=0, most=1),
    )
    hardening_weight: float = parameter(
        0.75,
        "λ in stage 3, the weight of the clustering loss; 1 omits the reconstruction (figure 4).",
        number(least=0, most=1),
    )
    assign: str = ASSIGN
    batch_size: int = denoising.BATCH_SIZE
    learning_rate: float = denoising.LEARNING_RATE
    head_learning_rate: float = denoising.HEAD_LEARNING_RATE
    tolerance: float | None = shared.TOLERANCE.but(None)

    def _stages(self, material: Material) -> list[Stage]:
        decoder, head = denoising.make_decoder(self, material), nn.Linear(self.encoder_.dimension, self.n_clusters_)
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
                material.encoder,
                decoder,
                head,
                weight=weight,
                targets=targets,
                first=not stages,
                n_texts=material.views.n_texts,
                assign=self.assign,
                **denoising.objective_options(self),
            )
            regret = self.adaptation_regret if targets == NOWHERE else REGRET
            stages.append(
                Stage(name, objective, epochs, refresh_every="epoch" if targets == HEAD else None, regret=regret)
            )
        return stages
