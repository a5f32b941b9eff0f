"""Two-stage clustering: a representation, perhaps fewer dimensions, then a clusterer.

The baselines of all four papers, freely combined: representation × reducer × clusterer. Nothing is trained
but the clusterer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from shoal.clusterers import (
    LINKAGES,
    Clusterer,
    Reducer,
    Vectors,
    fit_kmeans,
    fit_linkage,
    fit_minibatch_kmeans,
    fit_mixture,
    fit_pca,
    fit_spherical_kmeans,
    fit_umap,
)
from shoal.methods.checks import check_choices, check_counts, given
from shoal.methods.idec_clusterer import fit_idec
from shoal.methods.inputs import Rows
from shoal.methods.represented import RepresentedClusterer

FIT: dict[str, Callable[..., Clusterer]] = {
    "spherical-kmeans": fit_spherical_kmeans,
    "kmeans": fit_kmeans,
    "minibatch-kmeans": fit_minibatch_kmeans,
    "gaussian-mixture": fit_mixture,
}
CLUSTERERS = (*FIT, "agglomerative", "idec")
REDUCERS = ("none", "pca", "umap")


class TwoStage(RepresentedClusterer):
    """Represent, reduce, cluster.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    representation : str or object, default="transformer"
        ``"transformer"`` (a backbone's vectors), ``"bow"``, ``"tfidf"``, ``"sif"`` (weighted word vectors),
        ``"wordllama"`` (static), ``"use"``, ``"e5"`` (multilingual), or an object with ``encode(texts)`` and
        ``fingerprint``.
    reducer : {"none", "pca", "umap"}, default="none"
        Fewer dimensions before clustering.
    clusterer : str, default="spherical-kmeans"
        ``"spherical-kmeans"``, ``"kmeans"``, ``"minibatch-kmeans"``, ``"gaussian-mixture"``, ``"agglomerative"``,
        or ``"idec"``, which trains an auto-encoder with ClusterBERT's values.
    backbone : str, default="builtin"
        For ``"transformer"``: the built-in model, a folder, or a hub name.
    pooling : {"mean", "cls"}, default="mean"
        For ``"transformer"``: mean over the tokens, or the first token's vector.
    max_length : int, default=64
        For ``"transformer"``: the most tokens that are read of a text.
    long_texts : {"truncate", "chunk"}, default="truncate"
        For ``"transformer"``: read the head of a longer text, or average over its chunks.
    normalize : bool, default=True
        For ``"transformer"``: unit vectors.
    max_features : int, default=1500
        For ``"bow"`` and ``"tfidf"``: number of words (1500 in SCCL and DECCRL, 2000 in ClusterBERT).
    stop_words : {"english"}, list of str or None, default=None
        For ``"bow"`` and ``"tfidf"``: words left out (none in SCCL, English ones in ClusterBERT).
    word_vectors : str, default="corpus"
        For ``"sif"``: ``"corpus"`` or ``"word2vec"`` (trained on the texts), ``"glove"``, or a file of word vectors.
    sif_a : float, default=1e-3
        For ``"sif"``: a of the weight a / (a + p(w)) (Arora et al. 2017).
    n_components : int, optional
        Dimensions after ``reducer``; by default K + 1, as ClusterBERT sets it for UMAP.
    n_neighbors : int, default=15
        For ``"umap"``, as ClusterBERT sets it.
    linkage : {"average", "ward", "complete", "single"}, default="average"
        For ``"agglomerative"``.
    n_init : int, default=10
        Starts of k-means and of the mixture; the best is kept.
    max_iter : int, default=300
        Most iterations of a start.
    random_state : int, RandomState or None, default=0
        Seed.
    cache : bool, default=True
        Keep a transformer's vectors on disk, found again by content.

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

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        representation: Any = "transformer",
        reducer: str = "none",
        clusterer: str = "spherical-kmeans",
        backbone: str = "builtin",
        pooling: str = "mean",
        max_length: int = 64,
        long_texts: str = "truncate",
        normalize: bool = True,
        max_features: int = 1500,
        stop_words: str | list[str] | None = None,
        word_vectors: str = "corpus",
        sif_a: float = 1e-3,
        n_components: int | None = None,
        n_neighbors: int = 15,
        linkage: str = "average",
        n_init: int = 10,
        max_iter: int = 300,
        random_state: int | np.random.RandomState | None = 0,
        cache: bool = True,
    ) -> None:
        self.n_clusters = n_clusters
        self.representation = representation
        self.reducer = reducer
        self.clusterer = clusterer
        self.backbone = backbone
        self.pooling = pooling
        self.max_length = max_length
        self.long_texts = long_texts
        self.normalize = normalize
        self.max_features = max_features
        self.stop_words = stop_words
        self.word_vectors = word_vectors
        self.sif_a = sif_a
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.linkage = linkage
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.cache = cache

    def _fit(self, rows: Rows, rng: np.random.RandomState) -> Vectors:
        self._check_parameters()
        represented = self._fit_representation(rows)
        started = time.perf_counter()
        self.reducer_: Reducer | None = self._fit_reducer(represented, rng)
        reduced = self._reduce(represented)
        self.clusterer_ = self._fit_clusterer(reduced, rng)
        self.n_iter_ = self.clusterer_.n_iter
        self._log("cluster", started, dimension=reduced.shape[1])
        return reduced

    def _embed(self, rows: Rows) -> Vectors:
        return self._reduce(self._represent(rows))

    def _reduce(self, vectors: Vectors) -> Vectors:
        """Apply the reducer, if there is one."""
        return vectors if self.reducer_ is None else self.reducer_.transform(vectors)

    def _fit_reducer(self, vectors: Vectors, rng: np.random.RandomState) -> Reducer | None:
        """Learn the reducer, if there is one."""
        dimension = self.n_components or self.n_clusters + 1  # K + 1: ClusterBERT, appendix 1.2.2
        if self.reducer == "pca":
            return fit_pca(vectors, dimension, rng)
        if self.reducer == "umap":
            return fit_umap(vectors, dimension, rng, n_neighbors=self.n_neighbors)
        return None

    def _fit_clusterer(self, vectors: Vectors, rng: np.random.RandomState) -> Clusterer:
        """Learn the clusters."""
        if self.clusterer == "agglomerative":
            return fit_linkage(vectors, self.n_clusters, linkage=self.linkage)
        if self.clusterer == "idec":
            found = fit_idec(
                vectors,
                self.n_clusters,
                rng,
                n_init=self.n_init,
                checkpoints=self._checkpoints,
                callbacks=self._listeners,
            )
            self.history_ += found.history
            return found
        return FIT[self.clusterer](vectors, self.n_clusters, rng, n_init=self.n_init, max_iter=self.max_iter)

    def _check_parameters(self) -> None:
        """Name the first parameter that does not work."""
        self._check_representation()
        params = self.get_params(deep=False)
        check_choices(params, {"reducer": REDUCERS, "clusterer": CLUSTERERS, "linkage": LINKAGES})
        check_counts(params, ("n_init", "max_iter", "n_neighbors", *given(params, "n_components")))
