"""Clusterers and reducers of vectors: no texts, no transformer."""

from shoal.clusterers.base import Clusterer, State, Vectors, cluster_means, squared_distances
from shoal.clusterers.centroids import (
    Centroids,
    fit_kmeans,
    fit_minibatch_kmeans,
    fit_spherical_kmeans,
    unit_rows,
)
from shoal.clusterers.linkage import LINKAGES, Linkage, fit_linkage
from shoal.clusterers.mixture import Mixture, fit_mixture
from shoal.clusterers.reducers import Neighbours, Projection, Reducer, fit_pca, fit_umap
from shoal.clusterers.student_t import StudentT

__all__ = [
    "LINKAGES",
    "Centroids",
    "Clusterer",
    "Linkage",
    "Mixture",
    "Neighbours",
    "Projection",
    "Reducer",
    "State",
    "StudentT",
    "Vectors",
    "cluster_means",
    "fit_kmeans",
    "fit_linkage",
    "fit_minibatch_kmeans",
    "fit_mixture",
    "fit_pca",
    "fit_spherical_kmeans",
    "fit_umap",
    "squared_distances",
    "unit_rows",
]
