"""Endings: how the vectors of any method become its final clusters (ClusterBERT, table 3)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from shoal.clusterers import (
    LINKAGES,
    Centroids,
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
from shoal.methods.answers import assign
from shoal.methods.context import FitContext
from shoal.methods.refining import refine
from shoal.parameters import number, one_of, optional, parameter, whole, width
from shoal.vectors import Vectors, cluster_means

if TYPE_CHECKING:
    from shoal.methods.base import TextClusterer

NONE, OWN, HEAD, KMEANS = "none", "own", "head", "kmeans"
STARTED: dict[str, Callable[..., Clusterer]] = {
    "spherical-kmeans": fit_spherical_kmeans,
    "kmeans": fit_kmeans,
    "minibatch-kmeans": fit_minibatch_kmeans,
    "gaussian-mixture": fit_mixture,
}
CLUSTERERS = (*STARTED, "agglomerative", "hac-sd", "idec")

REDUCER = parameter(
    NONE,
    "Dimension reduction before the final clusters, to n_clusters + 1 dimensions as in ClusterBERT.",
    one_of(NONE, "pca", "umap"),
)
CLUSTERER = parameter(
    OWN,
    "What makes the final clusters of the method's vectors: the method itself, or another clusterer: 'hac-sd' is "
    "agglomerative on the similarities that stand out, 'idec' trains an auto-encoder with ClusterBERT's values. After "
    "a reducer, 'own' means k-means.",
    one_of(OWN, *CLUSTERERS),
)
N_COMPONENTS = parameter(
    None, "Dimensions after the reducer; by default K + 1, as in ClusterBERT for UMAP.", optional(width())
)
N_NEIGHBORS = parameter(15, "For 'umap': number of neighbours, as in ClusterBERT.", whole())
LINKAGE = parameter("average", "For 'agglomerative' and 'hac-sd': the linkage.", one_of(*LINKAGES))
MAX_MEMORY = parameter(
    4.0,
    "For 'hac-sd': most memory for the distances of all pairs, in GB; 4 are enough for 31,600 texts.",
    number(above=0),
)
MAX_ITER = parameter(300, "Maximum number of iterations per start.", whole())
ASSIGN = parameter(
    KMEANS,
    "The method's own clusters: by k-means on the representation, as the paper reports, from the trained centres and "
    "from n_init fresh starts; or by the clustering head.",
    one_of(KMEANS, HEAD),
)
_DEFAULTS = {
    "n_components": N_COMPONENTS.default,
    "n_neighbors": N_NEIGHBORS.default,
    "linkage": "ward",  # that of HAC-SD
    "max_memory": MAX_MEMORY.default,
    "n_init": 10,
    "max_iter": MAX_ITER.default,
    "device": "auto",
}


def end_fit(model: TextClusterer, embedded: Vectors, context: FitContext, options: Mapping[str, Any]) -> Vectors:
    """Replace the method's own clusters by those of another ending, and refine them, if the parameters ask for it.

    Parameters
    ----------
    model : TextClusterer
        The model, as its method has left it; its clusterer, reducer and classifier are set.
    embedded : ndarray of shape (n, d)
        The vectors of the rows, as the method makes them.
    context : FitContext
        The fit.
    options : mapping
        As in :func:`reduce_and_cluster`.

    Returns
    -------
    ndarray
        The vectors in the space of the clusters.
    """
    if (model.reducer, model.clusterer) != (NONE, OWN):
        started = time.perf_counter()
        model.reducer_, embedded, model.clusterer_ = reduce_and_cluster(
            model.reducer, model.clusterer, embedded, model.n_clusters_, context, options
        )
        model.own_clusters_ = False
        context.topics = None  # they are those of other clusters
        if isinstance(outcome := getattr(model.clusterer_, "outcome", None), dict):
            model.outcome_["idec"] = outcome
        context.log("cluster", started, dimension=embedded.shape[1])
    if model.refine != NONE:
        started = time.perf_counter()
        labels, _ = assign(model, context.rows, embedded)
        n_clusters = len(model.clusterer_.centers)
        model.refined_, n_iter = refine(context.rows, embedded, labels, n_clusters, context.rng)
        refined = model.refined_.scores(context.rows, embedded).argmax(axis=1)
        model.clusterer_ = Centroids.around(cluster_means(embedded, refined, n_clusters), embedded)
        model.own_clusters_ = False
        context.log("refine", started, iterations=n_iter)
    return embedded


def reduce_and_cluster(
    reducer: str,
    clusterer: str,
    vectors: Vectors,
    n_clusters: int,
    context: FitContext,
    options: Mapping[str, Any] | None = None,
) -> tuple[Reducer | None, Vectors, Clusterer]:
    """Fit a reducer and a clusterer by their names.

    Parameters
    ----------
    reducer, clusterer : str
        As in ``REDUCER`` and ``CLUSTERER``.
    vectors : ndarray of shape (n, d)
        The vectors.
    n_clusters : int
        The number of clusters.
    context : FitContext
        Generator, checkpoints and callbacks of the fit; IDEC adds to its history.
    options : mapping, optional
        n_components, n_neighbors, linkage, max_memory, n_init, max_iter, device.

    Returns
    -------
    reducer : Reducer or None
    vectors : ndarray
        In the space of the clusters.
    clusterer : Clusterer
    """
    known = {**_DEFAULTS, **(options or {})}
    found = _fit_reducer(reducer, vectors, known["n_components"] or n_clusters + 1, context, known)
    reduced = vectors if found is None else found.transform(vectors)
    name = KMEANS if clusterer == OWN else clusterer
    return found, reduced, _fit_clusterer(name, reduced, n_clusters, context, known)


def _fit_reducer(
    name: str, vectors: Vectors, dimension: int, context: FitContext, options: Mapping[str, Any]
) -> Reducer | None:
    """Fit the reducer, if any."""
    if name == "pca":
        return fit_pca(vectors, dimension, context.rng)
    if name == "umap":
        return fit_umap(vectors, dimension, context.rng, n_neighbors=options["n_neighbors"])
    return None


def _fit_clusterer(
    name: str, vectors: Vectors, n_clusters: int, context: FitContext, options: Mapping[str, Any]
) -> Clusterer:
    """Fit the clusterer."""
    if name == "agglomerative":
        return fit_linkage(vectors, n_clusters, linkage=options["linkage"])
    if name == "hac-sd":
        return fit_hac_sd(vectors, n_clusters, linkage=options["linkage"], max_memory=options["max_memory"])
    if name in STARTED:
        starts = {"n_init": options["n_init"], "max_iter": options["max_iter"]}
        return STARTED[name](vectors, n_clusters, context.rng, **starts)
    from shoal.methods.idec_clusterer import fit_idec  # a method itself, and so above this file

    found = fit_idec(
        vectors,
        n_clusters,
        context.rng,
        n_init=options["n_init"],
        checkpoints=None if context.checkpoints is None else context.checkpoints / name,
        callbacks=context.callbacks,
        device=options["device"],
    )
    context.history += found.history
    return found
