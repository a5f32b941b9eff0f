"""DEC: unsupervised deep embedding for clustering analysis (Xie, Girshick and Farhadi, ICML 2016)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from shoal.encoder.auto_encoder import AutoEncoder
from shoal.methods import shared_parameters as shared
from shoal.methods.auto_encoded import PAPER, AutoEncoded
from shoal.methods.objectives.dec import DECObjective
from shoal.parameters import declared
from shoal.training import Stage
from shoal.training.options import TRAINING

PRESETS: dict[str, dict[str, Any]] = {"paper": {**PAPER, "n_init": 20}}


@declared
class DEC(AutoEncoded):
    """Deep embedded clustering.

    Pre-trains an auto-encoder, discards the decoder, and minimises KL(P || Q) over the encoder and the centres. q is
    the Student-t assignment of the codes to the centres; p is its sharpened target, updated every ``update_interval``
    steps.

    References
    ----------
    Xie, Girshick and Farhadi (2016), *Unsupervised Deep Embedding for Clustering Analysis*, ICML.

    Examples
    --------
    >>> from shoal.methods.dec import DEC
    >>> texts = ["red apple", "green apple", "ripe apple", "fast car", "slow car", "new car"]
    >>> model = DEC(n_clusters=2, representation="tfidf", pretrain_epochs=20, epochs=5).fit(texts)
    >>> bool((model.predict(texts) == model.labels_).all())
    True
    """

    summary = "an auto-encoder of the vectors; encoder and centres learn a sharper Student-t assignment"
    source = "DEC (Xie et al. 2016); MLM + DEC (baseline)"
    presets = PRESETS

    epochs: int = TRAINING["epochs"].but(50, "Maximum number of passes over the corpus after pre-training.")
    alpha: float = shared.ALPHA
    update_interval: int | None = shared.UPDATE_INTERVAL
    tolerance: float | None = shared.TOLERANCE.but(0.001)

    def _stages(self, auto_encoder: AutoEncoder, n_texts: int) -> list[Stage]:
        return [clustering_stage(self, partial(DECObjective, auto_encoder.encoder), auto_encoder, n_texts)]


def clustering_stage(
    method: AutoEncoded, objective: Callable[..., DECObjective], auto_encoder: AutoEncoder, n_texts: int
) -> Stage:
    """Return the stage after pre-training, for DEC and IDEC: ``objective`` completed, its targets renewed regularly."""
    params = method.get_params(deep=False)
    named = {name: params[name] for name in ("alpha", "n_init")}
    interval = params["update_interval"] or method.steps_per_epoch(n_texts)
    completed = objective(n_clusters=method.n_clusters_, n_texts=n_texts, dimension=auto_encoder.dimension, **named)
    return Stage("cluster", completed, refresh_every=interval)
