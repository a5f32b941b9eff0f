"""What the methods share whose trained vectors may be clustered in several ways (ClusterBERT, table 3)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.clusterers import Reducer, Vectors, fit_kmeans, fit_umap
from shoal.methods.idec_clusterer import fit_idec
from shoal.methods.inputs import Rows
from shoal.methods.trained import TrainedClusterer

ASSIGNMENTS = ("kmeans", "idec", "umap+kmeans", "umap+idec")
WITH_HEAD = (*ASSIGNMENTS, "head")


class ReclusteredClusterer(TrainedClusterer):
    """Base of the methods that end with k-means, and can end with IDEC or UMAP instead.

    Attributes
    ----------
    reducer_ : Reducer or None
        UMAP to K + 1 dimensions (ClusterBERT, appendix 1.2.2), if ``assign`` asks for it.
    """

    assignments: ClassVar[tuple[str, ...]] = ASSIGNMENTS
    assign: str
    n_init: int
    device: str
    reducer_: Reducer | None

    def _fit(self, rows: Rows, rng: np.random.RandomState) -> Vectors:
        self.reducer_ = None
        vectors = super()._fit(rows, rng)
        *reduced, last = self.assign.split("+")
        if reduced:
            self.reducer_ = fit_umap(vectors, self.n_clusters + 1, rng)
            vectors = self.reducer_.transform(vectors)
        if last == "idec":
            found = fit_idec(
                vectors,
                self.n_clusters,
                rng,
                n_init=self.n_init,
                checkpoints=None if self._checkpoints is None else self._checkpoints / "idec",
                callbacks=self._listeners,
                device=self.device,
            )
            self.history_ += found.history
            self.outcome_ = {**self.outcome_, "idec": found.outcome}
            self.clusterer_ = found
        elif reduced:
            self.clusterer_ = fit_kmeans(vectors, self.n_clusters, rng, n_init=self.n_init)
        return vectors

    def _embed(self, rows: Rows) -> Vectors:
        vectors = super()._embed(rows)
        return vectors if self.reducer_ is None else self.reducer_.transform(vectors)
