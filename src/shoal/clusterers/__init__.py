"""Clusterers and reducers of vectors: no texts, no transformer."""

from shoal.clusterers.base import Clusterer, State, Vectors, cluster_means, squared_distances
from shoal.clusterers.centroids import (
    Centroids,
    fit_kmeans,
    fit_minibatch_kmeans,
    fit_spherical_kmeans,
    unit_rows,
)
from shoal.clusterers.heads import Heads
from shoal.clusterers.linkage import LINKAGES, Linkage, fit_linkage
from shoal.clusterers.mixture import Mixture, fit_mixture
from shoal.clusterers.neighbour_graph import Neighbourhood, graph_of, nearest_neighbours, smoothed, smoothing_matrix
from shoal.clusterers.reducers import Neighbours, Projection, Reducer, fit_pca, fit_umap
from shoal.clusterers.regrouping import Cut, Links, links_between, regrouped, weakest_cut
from shoal.clusterers.softmax_regression import SoftmaxHead, fit_softmax
from shoal.clusterers.student_t import StudentT
from shoal.clusterers.transport import TransportState, cosine_silhouette, fit_transport_kmeans, transport_steps
from shoal.clusterers.tree import average_linkage_labels
from shoal.clusterers.two_views import (
    UNEQUAL,
    Evidence,
    Partition,
    TwoViewOptions,
    Views,
    partition_two_views,
    sure_rows,
)

__all__ = [
    "LINKAGES",
    "UNEQUAL",
    "Centroids",
    "Clusterer",
    "Cut",
    "Evidence",
    "Heads",
    "Linkage",
    "Links",
    "Mixture",
    "Neighbourhood",
    "Neighbours",
    "Partition",
    "Projection",
    "Reducer",
    "SoftmaxHead",
    "State",
    "StudentT",
    "TransportState",
    "TwoViewOptions",
    "Vectors",
    "Views",
    "average_linkage_labels",
    "cluster_means",
    "cosine_silhouette",
    "fit_kmeans",
    "fit_linkage",
    "fit_minibatch_kmeans",
    "fit_mixture",
    "fit_pca",
    "fit_softmax",
    "fit_spherical_kmeans",
    "fit_transport_kmeans",
    "fit_umap",
    "graph_of",
    "links_between",
    "nearest_neighbours",
    "partition_two_views",
    "regrouped",
    "smoothed",
    "smoothing_matrix",
    "squared_distances",
    "sure_rows",
    "transport_steps",
    "unit_rows",
    "weakest_cut",
]
