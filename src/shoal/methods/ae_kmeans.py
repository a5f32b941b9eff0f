"""AE + k-means: k-means on the codes of a denoising auto-encoder, where DEC, IDEC and DCN start."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.clusterers import Clusterer, fit_kmeans
from shoal.encoder.auto_encoder import AutoEncoder
from shoal.methods.auto_encoded import PAPER, AutoEncoded
from shoal.parameters import declared
from shoal.training import Stage
from shoal.vectors import Vectors

PRESETS = {"paper": PAPER}


@declared
class AEKMeans(AutoEncoded):
    """An auto-encoder of the texts' vectors, then k-means on its codes.

    References
    ----------
    A baseline of Xie et al. (2016), Yang et al. (2017) and Huang et al. (2020).

    Examples
    --------
    >>> from shoal.methods.ae_kmeans import AEKMeans
    >>> texts = ["red apple", "green apple", "ripe apple", "fast car", "slow car", "new car"]
    >>> model = AEKMeans(n_clusters=2, representation="tfidf", pretrain_epochs=20).fit(texts)
    >>> bool((model.predict(texts) == model.labels_).all())
    True
    """

    summary = "k-means on the codes of an auto-encoder of the vectors"
    source = "MLM + DEC (baseline)"
    presets = PRESETS

    def _stages(self, auto_encoder: AutoEncoder, n_texts: int) -> list[Stage]:
        return []

    def _clusterer(self, stages: Sequence[Stage], code: Vectors, rng: np.random.RandomState) -> Clusterer:
        return fit_kmeans(code, self.n_clusters_, rng, n_init=self.n_init)
