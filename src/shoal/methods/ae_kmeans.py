"""AE + k-means: the code of a denoising auto-encoder, clustered; where DEC, IDEC and DCN begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.clusterers import Clusterer, Vectors, fit_kmeans
from shoal.encoder.auto_encoder import AutoEncoder
from shoal.methods.auto_encoded import PAPER, AutoEncoderClusterer
from shoal.training import Stage

PRESETS = {"paper": PAPER}


@dataclass(eq=False, repr=False, kw_only=True)
class AEKMeans(AutoEncoderClusterer):
    """An auto-encoder of the texts' vectors, then k-means on its code.

    All parameters are those of :class:`~shoal.methods.auto_encoded.AutoEncoderClusterer`.

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

    tolerance = None  # there is no stage that could stop early

    def _stages(self, auto_encoder: AutoEncoder, n_texts: int) -> list[Stage]:
        return []

    def _final_clusterer(
        self, stages: Sequence[Stage], vectors: Vectors, rng: np.random.RandomState | None
    ) -> Clusterer:
        return fit_kmeans(vectors, self.n_clusters, rng or np.random.RandomState(0), n_init=self.n_init)
