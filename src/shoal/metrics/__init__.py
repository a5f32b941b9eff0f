"""How good a clustering is: against labels, and by its geometry. Numpy in, numbers out."""

from __future__ import annotations

from shoal.metrics.external import (
    accuracy,
    ari,
    completeness,
    homogeneity,
    match_clusters,
    nmi,
    purity,
    scores,
    v_measure,
)
from shoal.metrics.graph import modularity
from shoal.metrics.internal import (
    Estimate,
    calinski_harabasz,
    davies_bouldin,
    dunn,
    inter_cluster_distance,
    intra_cluster_distance,
    silhouette,
    simplified_silhouette,
    size_entropy,
)
from shoal.metrics.pairs import MovedPair, moved_pairs
from shoal.metrics.reliability import Reliability, reliability, rises

__all__ = [
    "Estimate",
    "MovedPair",
    "Reliability",
    "accuracy",
    "ari",
    "calinski_harabasz",
    "completeness",
    "davies_bouldin",
    "dunn",
    "homogeneity",
    "inter_cluster_distance",
    "intra_cluster_distance",
    "match_clusters",
    "modularity",
    "moved_pairs",
    "nmi",
    "purity",
    "reliability",
    "rises",
    "scores",
    "silhouette",
    "simplified_silhouette",
    "size_entropy",
    "v_measure",
]
