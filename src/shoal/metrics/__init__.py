"""How good a clustering is: against labels, by its geometry, and as a ranking. Numpy in, numbers out."""

from __future__ import annotations

from shoal.metrics.coherence import npmi_coherence
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
from shoal.metrics.ranking import Ranking, mean_average_precision, mean_reciprocal_rank, ranking_scores

__all__ = [
    "Estimate",
    "MovedPair",
    "Ranking",
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
    "mean_average_precision",
    "mean_reciprocal_rank",
    "modularity",
    "moved_pairs",
    "nmi",
    "npmi_coherence",
    "purity",
    "ranking_scores",
    "scores",
    "silhouette",
    "simplified_silhouette",
    "size_entropy",
    "v_measure",
]
