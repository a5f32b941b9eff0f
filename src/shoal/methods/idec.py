"""IDEC: improved deep embedded clustering with local structure preservation (Guo et al., IJCAI 2017)."""

from __future__ import annotations

from functools import partial
from typing import Any

from shoal.encoder.auto_encoder import AutoEncoder
from shoal.methods import shared_parameters as shared
from shoal.methods.auto_encoded import PAPER, AutoEncoded
from shoal.methods.dec import clustering_stage
from shoal.methods.objectives.dec import IDECObjective
from shoal.parameters import declared, number, parameter
from shoal.training import Stage
from shoal.training.options import TRAINING

PRESETS: dict[str, dict[str, Any]] = {
    "paper": {**PAPER, "n_init": 20},
    # Appendix 1.2.2 of ClusterBERT: 150 epochs, no early stopping.
    "clusterbert": {"epochs": 150, "learning_rate": 1e-4, "tolerance": None},
}


@declared
class IDEC(AutoEncoded):
    """DEC that keeps the decoder.

    Minimises L_r + γ KL(P || Q): reconstructing the undamaged vectors preserves in the code what the clusters
    do not need. The error is a mean over the values of a vector, as in common implementations; the paper writes a
    sum.

    References
    ----------
    Guo, Gao, Liu and Yin (2017), *Improved Deep Embedded Clustering with Local Structure Preservation*, IJCAI.

    Examples
    --------
    >>> from shoal.methods.idec import IDEC
    >>> texts = ["red apple", "green apple", "ripe apple", "fast car", "slow car", "new car"]
    >>> model = IDEC(n_clusters=2, representation="tfidf", pretrain_epochs=20, epochs=5).fit(texts)
    >>> bool((model.predict(texts) == model.labels_).all())
    True
    """

    summary = "DEC with a reconstruction loss"
    source = "IDEC (Guo et al. 2017); MLM + DEC, ClusterBERT (baseline)"
    presets = PRESETS

    epochs: int = TRAINING["epochs"].but(50, "Maximum number of passes over the corpus after pre-training.")
    gamma: float = parameter(0.1, "γ, the weight of the clustering loss, as in the paper.", number(above=0))
    alpha: float = shared.ALPHA
    update_interval: int | None = shared.UPDATE_INTERVAL
    tolerance: float | None = shared.TOLERANCE.but(0.001)

    def _stages(self, auto_encoder: AutoEncoder, n_texts: int) -> list[Stage]:
        objective = partial(IDECObjective, auto_encoder.encoder, auto_encoder.decoder, gamma=self.gamma)
        return [clustering_stage(self, objective, auto_encoder, n_texts)]
