"""Two-stage clustering: a representation, an optional reducer, then a clusterer.

The baselines of all four papers, in any combination: representation × reducer × clusterer. Only the clusterer is
trained.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shoal.clusterers import (
    LINKAGES,
    Clusterer,
    Reducer,
    fit_hac_sd,
    fit_kmeans,
    fit_linkage,
    fit_minibatch_kmeans,
    fit_mixture,
    fit_pca,
    fit_spherical_kmeans,
    fit_umap,
)
from shoal.methods import shared_parameters as shared
from shoal.methods.base import TextClusterer
from shoal.methods.context import FitContext
from shoal.methods.idec_clusterer import fit_idec
from shoal.methods.inputs import Rows
from shoal.methods.represented import fit_representation, represent, restore_representation, save_representation
from shoal.parameters import declared, number, one_of, optional, parameter, whole, width
from shoal.vectors import Vectors

FIT: dict[str, Callable[..., Clusterer]] = {
    "spherical-kmeans": fit_spherical_kmeans,
    "kmeans": fit_kmeans,
    "minibatch-kmeans": fit_minibatch_kmeans,
    "gaussian-mixture": fit_mixture,
}
CLUSTERERS = (*FIT, "agglomerative", "hac-sd", "idec")


@declared
class TwoStage(TextClusterer):
    """Represent, reduce, cluster.

    Examples
    --------
    >>> from shoal import TwoStage
    >>> texts = ["red apple", "green apple", "ripe apple", "fast car", "slow car", "new car"]
    >>> model = TwoStage(n_clusters=2, representation="tfidf").fit(texts)
    >>> bool(model.labels_[0] == model.labels_[2] != model.labels_[3])
    True
    >>> bool((model.predict(texts) == model.labels_).all())
    True
    """

    summary = "any representation, reducer and clusterer"
    source = "the baselines of all four papers, in any combination"

    representation: Any = shared.REPRESENTATION
    reducer: str = parameter("none", "Dimension reduction before clustering.", one_of("none", "pca", "umap"))
    clusterer: str = parameter(
        "spherical-kmeans",
        "The clustering algorithm; 'hac-sd' is agglomerative on the similarities that stand out, 'idec' trains an "
        "auto-encoder with ClusterBERT's values.",
        one_of(*CLUSTERERS),
    )
    backbone: str = shared.BACKBONE
    pooling: str = shared.POOLING
    max_length: int = shared.MAX_LENGTH
    long_texts: str = shared.LONG
    normalize: bool = shared.NORMALIZE
    max_features: int = shared.MAX_FEATURES
    stop_words: str | list[str] | None = shared.STOP_WORDS
    word_vectors: str = shared.WORD_VECTORS
    sif_a: float = shared.SIF_A
    n_components: int | None = parameter(
        None, "Dimensions after the reducer; by default K + 1, as in ClusterBERT for UMAP.", optional(width())
    )
    n_neighbors: int = parameter(15, "For 'umap': number of neighbours, as in ClusterBERT.", whole())
    linkage: str = parameter("average", "For 'agglomerative' and 'hac-sd': the linkage.", one_of(*LINKAGES))
    max_memory: float = parameter(
        4.0,
        "For 'hac-sd': most memory for the distances of all pairs, in GB; 4 are enough for 31,600 texts.",
        number(above=0),
    )
    n_init: int = shared.N_INIT.but(meaning="Number of starts of k-means and of the mixture; the best is kept.")
    max_iter: int = parameter(300, "Maximum number of iterations per start.", whole())
    cache: bool = shared.CACHE

    def _fit(self, context: FitContext) -> Vectors:
        self.representation_, represented = fit_representation(self, context, self.get_params(deep=False))
        started = time.perf_counter()
        self.reducer_ = self._fit_reducer(represented, context)
        reduced = self._reduce(represented)
        self.clusterer_ = self._fit_clusterer(reduced, context)
        self.n_iter_ = self.clusterer_.n_iter
        context.log("cluster", started, dimension=reduced.shape[1])
        return reduced

    def _embed(self, rows: Rows) -> Vectors:
        return self._reduce(represent(self, self.representation_, rows))

    def _reduce(self, vectors: Vectors) -> Vectors:
        """Apply the reducer, if any."""
        return vectors if self.reducer_ is None else self.reducer_.transform(vectors)

    def _fit_reducer(self, vectors: Vectors, context: FitContext) -> Reducer | None:
        """Fit the reducer, if any."""
        dimension = self.n_components or self.n_clusters + 1  # K + 1: ClusterBERT, appendix 1.2.2
        if self.reducer == "pca":
            return fit_pca(vectors, dimension, context.rng)
        if self.reducer == "umap":
            return fit_umap(vectors, dimension, context.rng, n_neighbors=self.n_neighbors)
        return None

    def _fit_clusterer(self, vectors: Vectors, context: FitContext) -> Clusterer:
        """Fit the clusterer."""
        if self.clusterer == "agglomerative":
            return fit_linkage(vectors, self.n_clusters, linkage=self.linkage)
        if self.clusterer == "hac-sd":
            return fit_hac_sd(vectors, self.n_clusters, linkage=self.linkage, max_memory=self.max_memory)
        if self.clusterer == "idec":
            found = fit_idec(
                vectors,
                self.n_clusters,
                context.rng,
                n_init=self.n_init,
                checkpoints=context.checkpoints,
                callbacks=context.callbacks,
            )
            context.history += found.history
            return found
        return FIT[self.clusterer](vectors, self.n_clusters, context.rng, n_init=self.n_init, max_iter=self.max_iter)

    def _save(self, folder: Path) -> dict[str, Any]:
        return save_representation(self.representation_, folder, self.representation)

    def _restore(self, folder: Path, config: dict[str, Any]) -> None:
        self.representation_ = restore_representation(self, folder, config, self.get_params(deep=False))
