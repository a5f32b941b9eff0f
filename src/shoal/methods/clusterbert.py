"""ClusterBERT: domain adaptation, clustering, hardening, three stages of fine-tuning on one architecture."""

from __future__ import annotations

from typing import Any

from torch import nn

from shoal.methods import denoising
from shoal.methods import shared_parameters as shared
from shoal.methods.endings import ASSIGN_OR_HEAD
from shoal.methods.fine_tuned import FineTuned, Material
from shoal.methods.objectives.clusterbert import HEAD, KMEANS, NOWHERE, ClusterBERTObjective
from shoal.parameters import declared, number, parameter, whole
from shoal.training import Stage
from shoal.training.guard import REGRET

# Rounds and epochs of stage 2 are 1 or 2 and 2 or 4 in the paper, the best by labels; here the least of both.
_PAPER = {
    **denoising.PAPER,
    "adaptation_epochs": 2,
    "adaptation_regret": REGRET,
    "clustering_epochs": 2,
    "reclusterings": 1,
    "hardening_epochs": 2,
    "clustering_weight": 0.8,
    "hardening_weight": 0.75,
}
PRESETS: dict[str, dict[str, Any]] = {"paper": {**_PAPER, "backbone": "roberta-base"}, "paper-offline": _PAPER}


@declared
class ClusterBERT(FineTuned):
    """Three stages on one architecture, between which only the weights of the losses change.

    An encoder, a decoder that sees nothing but the text's vector z, and a linear head on z, trained on texts of which
    tokens are deleted at random:

    1. *Domain adaptation*: reconstruction alone (eq. 1).
    2. *Clustering*: k-means on z gives labels Q; cross-entropy of the head to them (eq. 2-3), with λ, and
       reconstruction, with 1 - λ (eq. 4). Done ``reclusterings`` times, each with new labels.
    3. *Hardening*: the same, but Q is the head's own prediction on the whole texts, sharpened (eq. 5), again in every
       epoch.

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
        "How far stage 1 may let the quality of the clusters, the guard's label-free sign, fall below its best "
        "before it goes back to that; 0.03 in the other stages, and in all stages of the preset paper. Stage 1 "
        "knows no clusters, and an encoder that knows the domain already has more to lose than to gain.",
        number(least=0, most=1),
    )
    reclusterings: int = parameter(2, "Rounds of stage 2; 1 or 2 in the paper, the better by labels.", whole())
    clustering_weight: float = parameter(
        0.8, "λ of stage 2; 1 omits the reconstruction (figure 4).", number(least=0, most=1)
    )
    hardening_weight: float = parameter(
        0.75, "λ of stage 3; 1 omits the reconstruction (figure 4).", number(least=0, most=1)
    )
    assign: str = ASSIGN_OR_HEAD
    batch_size: int = denoising.BATCH_SIZE
    learning_rate: float = denoising.LEARNING_RATE
    head_learning_rate: float = denoising.HEAD_LEARNING_RATE
    tolerance: float | None = shared.TOLERANCE.but(None)

    def _stages(self, material: Material) -> list[Stage]:
        decoder, head = denoising.make_decoder(self, material), nn.Linear(self.encoder_.dimension, self.n_clusters)
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
