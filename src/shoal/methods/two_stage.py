"""Two-stage clustering: a representation, an optional reducer, then a clusterer.

The baselines of all four papers, in any combination: representation × reducer × clusterer. Only the clusterer is
trained.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.methods import shared_parameters as shared
from shoal.methods.base import TextClusterer
from shoal.methods.context import FitContext
from shoal.methods.endings import (
    CLUSTERERS,
    LINKAGE,
    MAX_ITER,
    MAX_MEMORY,
    N_COMPONENTS,
    N_NEIGHBORS,
)
from shoal.methods.inputs import Rows
from shoal.methods.represented import fit_representation, represent, restore_representation, save_representation
from shoal.parameters import declared, one_of, parameter
from shoal.vectors import Vectors


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
    keep_language: bool = shared.KEEP_LANGUAGE
    encoder_precision: str = shared.ENCODER_PRECISION
    normalize: bool = shared.NORMALIZE
    max_features: int = shared.MAX_FEATURES
    stop_words: str | list[str] | None = shared.STOP_WORDS
    word_vectors: str = shared.WORD_VECTORS
    sif_a: float = shared.SIF_A
    word_frequencies: str = shared.WORD_FREQUENCIES
    n_components: int | None = N_COMPONENTS
    n_neighbors: int = N_NEIGHBORS
    linkage: str = LINKAGE
    max_memory: float = MAX_MEMORY
    n_init: int = shared.N_INIT.but(meaning="Number of starts of k-means and of the mixture; the best is kept.")
    max_iter: int = MAX_ITER
    cache: bool = shared.CACHE

    def _fit(self, context: FitContext) -> Vectors:
        self.representation_, represented = fit_representation(self, context, self._reading_options())
        return represented

    def _end(self, embedded: Vectors, context: FitContext) -> Vectors:
        reduced = super()._end(embedded, context)
        self.n_iter_ = self.clusterer_.n_iter
        return reduced

    def _ending_options(self) -> dict[str, Any]:
        params: dict[str, Any] = self.get_params(deep=False)
        return params

    def _embed(self, rows: Rows) -> Vectors:
        return represent(self, self.representation_, rows)

    def _save(self, folder: Path) -> dict[str, Any]:
        return save_representation(self.representation_, folder, self.representation)

    def _restore(self, folder: Path, config: dict[str, Any]) -> None:
        self.representation_ = restore_representation(self, folder, config, self._reading_options())
