"""Clusterers and reducers of vectors: no texts, no transformer."""

from shoal.clusterers.average_linkage import average_linkage_labels
from shoal.clusterers.base import Clusterer, State
from shoal.clusterers.centroids import (
    Centroids,
    fit_kmeans,
    fit_minibatch_kmeans,
    fit_spherical_kmeans,
    settled_directions,
    spherical_kmeans_from,
)
from shoal.clusterers.communities import communities, communities_at
from shoal.clusterers.heads import Heads, mean_log_probabilities
from shoal.clusterers.iterative_classification import Classifier, iterative_classification
from shoal.clusterers.linkage import LINKAGES, Linkage, fit_linkage
from shoal.clusterers.mixture import Mixture, fit_mixture
from shoal.clusterers.neighbour_graph import Neighbourhood, graph_of, nearest_neighbours, smoothed, smoothing_matrix
from shoal.clusterers.reducers import Neighbours, Projection, Reducer, fit_pca, fit_umap
from shoal.clusterers.similarity_distribution import fit_hac_sd
from shoal.clusterers.sinkhorn import sinkhorn
from shoal.clusterers.softmax_regression import SoftmaxHead, fit_softmax
from shoal.clusterers.student_t import StudentT
from shoal.clusterers.threads import threads_for
from shoal.clusterers.transport import (
    TransportState,
    cosine_silhouette,
    equal_sizes,
    relaxed_sizes,
    transport_steps,
)

__all__ = [
    "LINKAGES",
    "Centroids",
    "Classifier",
    "Clusterer",
    "Heads",
    "Linkage",
    "Mixture",
    "Neighbourhood",
    "Neighbours",
    "Projection",
    "Reducer",
    "SoftmaxHead",
    "State",
    "StudentT",
    "TransportState",
    "average_linkage_labels",
    "communities",
    "communities_at",
    "cosine_silhouette",
    "equal_sizes",
    "fit_hac_sd",
    "fit_kmeans",
    "fit_linkage",
    "fit_minibatch_kmeans",
    "fit_mixture",
    "fit_pca",
    "fit_softmax",
    "fit_spherical_kmeans",
    "fit_umap",
    "graph_of",
    "iterative_classification",
    "mean_log_probabilities",
    "nearest_neighbours",
    "relaxed_sizes",
    "settled_directions",
    "sinkhorn",
    "smoothed",
    "smoothing_matrix",
    "spherical_kmeans_from",
    "threads_for",
    "transport_steps",
]
