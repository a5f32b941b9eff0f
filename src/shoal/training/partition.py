"""k-means that goes on from given centres, so that clusters keep their numbers while the space moves."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from shoal.clusterers import Centroids, Vectors, squared_distances
from shoal.clusterers.centroids import BANDWIDTH_SHARE


def kmeans_from(vectors: Vectors, centers: Vectors, max_iter: int = 300) -> Centroids:
    """Lloyd's k-means from ``centers``; cluster k of the result is what cluster k has become.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        The points.
    centers : ndarray of shape (n_clusters, d)
        Where to start.
    max_iter : int, default=300
        Most iterations.

    Examples
    --------
    >>> points = np.array([[0.0], [2.0], [9.0], [11.0]], dtype=np.float32)
    >>> kmeans_from(points, np.array([[8.0], [3.0]], dtype=np.float32)).centers.ravel().tolist()
    [10.0, 1.0]
    """
    # In double precision: the order in which threads add up then changes no label.
    points = np.asarray(vectors, dtype=np.float64)
    with warnings.catch_warnings():  # a cluster may run empty: that is for the guard to judge
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KMeans(len(centers), init=np.asarray(centers, np.float64), n_init=1, max_iter=max_iter).fit(points)
    found = np.asarray(model.cluster_centers_, dtype=np.float32)
    spread = float(squared_distances(vectors, found).min(axis=1).mean())
    return Centroids(found, max(BANDWIDTH_SHARE * spread, 1e-12), spherical=False, n_iter=model.n_iter_)
