"""DCN: towards k-means-friendly spaces (Yang, Fu, Sidiropoulos and Hong, ICML 2017)."""

from __future__ import annotations

from typing import Any

from shoal.encoder.auto_encoder import AutoEncoder
from shoal.methods import shared_parameters as shared
from shoal.methods.auto_encoded import PAPER, AutoEncoded
from shoal.methods.objectives.dcn import DCNObjective
from shoal.parameters import declared, number, parameter
from shoal.training import Stage
from shoal.training.options import TRAINING

PRESETS: dict[str, dict[str, Any]] = {"paper": PAPER}


@declared
class DCN(AutoEncoded):
    """Deep clustering network.

    Minimises Σ_i ||g(f(x_i)) - x_i||² + λ/2 ||f(x_i) - M s_i||² in alternation: each row is
    assigned to its nearest centre (s_i), the centres M become running means of the rows assigned to them, and the
    network takes a gradient step.

    References
    ----------
    Yang, Fu, Sidiropoulos and Hong (2017), *Towards K-means-friendly Spaces: Simultaneous Deep Learning and
    Clustering*, ICML.

    Examples
    --------
    >>> from shoal.methods.dcn import DCN
    >>> texts = ["red apple", "green apple", "ripe apple", "fast car", "slow car", "new car"]
    >>> model = DCN(n_clusters=2, representation="tfidf", pretrain_epochs=20, epochs=5).fit(texts)
    >>> bool((model.predict(texts) == model.labels_).all())
    True
    """

    summary = "an auto-encoder of the vectors, trained in alternation with k-means on its codes"
    source = "DCN (Yang et al. 2017); MLM + DEC (baseline)"
    presets = PRESETS

    epochs: int = TRAINING["epochs"].but(50, "Maximum number of passes over the corpus after pre-training.")
    kmeans_weight: float = parameter(
        0.05,
        "λ, the weight of the k-means term; the paper's value for MNIST (it has others for other data sets).",
        number(above=0),
    )
    tolerance: float | None = shared.TOLERANCE.but(0.001)

    def _stages(self, auto_encoder: AutoEncoder, n_texts: int) -> list[Stage]:
        objective = DCNObjective(
            auto_encoder, n_clusters=self.n_clusters_, kmeans_weight=self.kmeans_weight, n_init=self.n_init
        )
        return [Stage("cluster", objective)]
