"""DEC: unsupervised deep embedding for clustering analysis (Xie, Girshick and Farhadi, ICML 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shoal.clusterers import Clusterer, Vectors, fit_kmeans
from shoal.clusterers.student_t import StudentT
from shoal.encoder.auto_encoder import AutoEncoder
from shoal.functional import cluster_kl, student_t, target_distribution
from shoal.methods.auto_encoded import PAPER, AutoEncoderClusterer
from shoal.methods.checks import check_counts, check_positive
from shoal.training import Objective, Stage, TrainingOptions

PRESETS: dict[str, dict[str, Any]] = {"paper": {**PAPER, "n_init": 20}}


class DECObjective(Objective):
    """Equation 2: KL from the target to the assignment, the target held between two refreshes.

    Parameters
    ----------
    encoder : nn.Module
        f, with codes of length ``dimension``.
    n_texts, n_clusters, dimension : int
        Sizes of the target and of the centres.
    alpha : float
        Degrees of freedom of equation 1.
    n_init : int
        Starts of the k-means that gives the first centres.
    """

    target: Tensor

    def __init__(
        self, encoder: nn.Module, *, n_texts: int, n_clusters: int, dimension: int, alpha: float, n_init: int
    ) -> None:
        super().__init__(encoder)
        self.alpha = alpha
        self.n_init = n_init
        self.centers = nn.Parameter(torch.zeros(n_clusters, dimension))
        self.register_buffer("target", torch.zeros(n_texts, n_clusters))

    def initialise(self, embeddings: Vectors, rng: np.random.RandomState) -> None:
        """Start the centres by k-means (section 3.3), and the target from them."""
        found = fit_kmeans(embeddings, len(self.centers), rng, n_init=self.n_init).centers
        with torch.no_grad():
            self.centers.copy_(torch.from_numpy(found))
        self.refresh(embeddings)

    def refresh(self, embeddings: Vectors) -> None:
        """Compute the target of the whole corpus."""
        with torch.no_grad():
            z = torch.from_numpy(embeddings).to(self.centers.device)
            q = student_t(z, self.centers, self.alpha)  # eq. 1
            self.target.copy_(target_distribution(q))  # eq. 3

    def forward(self, batch: Any) -> dict[str, Tensor]:
        """Return the one term."""
        (z,) = self.encode(batch)
        return {"cluster": self.divergence(z, batch.rows)}

    def divergence(self, z: Tensor, rows: NDArray[np.int64]) -> Tensor:
        """Return KL(P || Q) of some rows of the corpus, with codes ``z``."""
        p = self.target[torch.from_numpy(rows).to(self.target.device)]
        return cluster_kl(p, student_t(z, self.centers, self.alpha))  # eq. 2

    def clusterer(self) -> StudentT:
        """Return the clusters as they stand."""
        return StudentT(self.centers.detach().cpu().numpy(), self.alpha)

    def labels(self, embeddings: Vectors) -> NDArray[np.int64]:
        """Return the arg max of q."""
        found: NDArray[np.int64] = self.clusterer().scores(embeddings).argmax(axis=1)
        return found


@dataclass(eq=False, repr=False, kw_only=True)
class DEC(AutoEncoderClusterer):
    """Deep embedded clustering.

    Pre-trains an auto-encoder, drops the decoder, and minimises KL(P || Q) over encoder and centres: q is the
    Student-t assignment of the codes to the centres, p its sharpened target, renewed every ``update_interval`` steps.

    Parameters
    ----------
    epochs : int, default=50
        The most passes over the corpus, after the pre-training.
    alpha : float, default=1
        Degrees of freedom of equation 1; the paper's.
    update_interval : int, optional
        Steps between two targets, and between two counts of the labels that moved; by default once an epoch.
    tolerance : float or None, default=0.001
        Stop when less than this share of the labels moved between two targets; the paper's.

    Further parameters: see :class:`~shoal.methods.auto_encoded.AutoEncoderClusterer`.

    Attributes
    ----------
    encoder_ : VectorEncoder
        The encoding half after training.
    outcome_ : dict
        Label-free signs before and after, and whether and why the training was rolled back.

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

    epochs: int = 50
    alpha: float = 1.0
    update_interval: int | None = None
    tolerance: float | None = 0.001

    def _stages(self, auto_encoder: AutoEncoder, n_texts: int) -> list[Stage]:
        interval = self.update_interval or self._steps_per_epoch(n_texts)
        return [Stage("cluster", self._objective(auto_encoder, n_texts), refresh_every=interval)]

    def _objective(self, auto_encoder: AutoEncoder, n_texts: int) -> DECObjective:
        """Build the objective."""
        return DECObjective(auto_encoder.encoder, **self._head(auto_encoder, n_texts))

    def _head(self, auto_encoder: AutoEncoder, n_texts: int) -> dict[str, Any]:
        """Return what the clustering term needs besides the network."""
        sizes = {"n_texts": n_texts, "n_clusters": self.n_clusters, "dimension": auto_encoder.dimension}
        return {**sizes, "alpha": self.alpha, "n_init": self.n_init}

    def _final_clusterer(
        self, stages: Sequence[Stage], vectors: Vectors, rng: np.random.RandomState | None
    ) -> Clusterer:
        return cast(DECObjective, stages[-1].objective).clusterer()

    def _options(self, seed: int) -> TrainingOptions:
        return replace(super()._options(seed), evaluate_every=self.update_interval)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        params = self.get_params(deep=False)
        check_positive(params, {"alpha": 1.0})
        check_counts(params, ("update_interval",) if self.update_interval is not None else ())
