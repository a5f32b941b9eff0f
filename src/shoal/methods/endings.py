"""Endings: how vectors become the final clusters (ClusterBERT, table 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shoal.clusterers import Clusterer, Reducer, fit_kmeans, fit_umap
from shoal.methods.context import FitContext
from shoal.methods.idec_clusterer import fit_idec
from shoal.parameters import one_of, parameter
from shoal.vectors import Vectors

HEAD, KMEANS, IDEC, UMAP = "head", "kmeans", "idec", "umap"
ENDINGS = (KMEANS, IDEC, f"{UMAP}+{KMEANS}", f"{UMAP}+{IDEC}")
ASSIGN = parameter(
    KMEANS,
    "How to make the final labels: by k-means, from the trained centres and from n_init fresh starts, "
    "or by IDEC. 'umap+' first reduces the vectors to n_clusters + 1 dimensions (table 3 of ClusterBERT).",
    one_of(*ENDINGS),
)
ASSIGN_OR_HEAD = parameter(
    KMEANS,
    "How to make the final labels: by k-means on the representation, as the paper reports, from the "
    "trained centres and from n_init fresh starts; by the clustering head; or by IDEC. 'umap+' first reduces "
    "the vectors to n_clusters + 1 dimensions (table 3 of ClusterBERT).",
    one_of(*ENDINGS, HEAD),
)


@dataclass(frozen=True)
class Ending:
    """The final clusters.

    Attributes
    ----------
    vectors : ndarray of shape (n, d)
        The vectors in the space of the clusters.
    clusterer : Clusterer
        The clusters.
    reducer : Reducer or None
        The reducer that was applied.
    outcome : dict
        The outcome of IDEC's training, if any.
    """

    vectors: Vectors
    clusterer: Clusterer
    reducer: Reducer | None = None
    outcome: dict[str, Any] | None = None


def end(
    assign: str,
    vectors: Vectors,
    trained: Clusterer,
    context: FitContext,
    *,
    n_clusters: int,
    n_init: int,
    device: str,
) -> Ending:
    """Make the final clusters as ``assign`` says; ``trained`` is the partition at the end of training."""
    *before, last = assign.split("+")
    if not before and last != IDEC:
        return Ending(vectors, trained)
    reducer = fit_umap(vectors, n_clusters + 1, context.rng) if before else None  # K + 1: appendix 1.2.2
    reduced = vectors if reducer is None else reducer.transform(vectors)
    if last == KMEANS:
        return Ending(reduced, fit_kmeans(reduced, n_clusters, context.rng, n_init=n_init), reducer)
    folder = None if context.checkpoints is None else context.checkpoints / IDEC
    found = fit_idec(
        reduced,
        n_clusters,
        context.rng,
        n_init=n_init,
        checkpoints=folder,
        callbacks=context.callbacks,
        device=device,
    )
    context.history += found.history
    return Ending(reduced, found, reducer, found.outcome)
