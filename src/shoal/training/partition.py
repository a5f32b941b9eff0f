"""k-means of a space in training: on the sphere if its vectors have length one, with stable cluster numbers."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from shoal.clusterers import Centroids, fit_kmeans, fit_spherical_kmeans, spherical_kmeans_from
from shoal.vectors import Vectors


def first_kmeans(
    vectors: Vectors, n_clusters: int, rng: np.random.RandomState, *, n_init: int = 10, spherical: bool = False
) -> Centroids:
    """k-means from ``n_init`` starts; if ``spherical``, by cosine with centres of length one.

    Examples
    --------
    >>> points = np.eye(2, dtype=np.float32)
    >>> first_kmeans(points, 2, np.random.RandomState(0), spherical=True).centers.sum(axis=0).tolist()
    [1.0, 1.0]
    """
    fit = fit_spherical_kmeans if spherical else fit_kmeans
    return fit(vectors, n_clusters, rng, n_init=n_init)


def kmeans_from(vectors: Vectors, centers: Vectors, max_iter: int = 300, *, spherical: bool = False) -> Centroids:
    """Lloyd's k-means from ``centers``; cluster k of the result comes from centre k.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        The points.
    centers : ndarray of shape (n_clusters, d)
        Where to start.
    max_iter : int, default=300
        Maximum number of iterations.
    spherical : bool, default=False
        Whether to compare by cosine, with centres of length one.

    Examples
    --------
    >>> points = np.array([[0.0], [2.0], [9.0], [11.0]], dtype=np.float32)
    >>> kmeans_from(points, np.array([[8.0], [3.0]], dtype=np.float32)).centers.ravel().tolist()
    [10.0, 1.0]
    """
    if spherical:
        return spherical_kmeans_from(vectors, centers, max_iter)
    # In double precision: the order in which threads sum then changes no label.
    points = np.asarray(vectors, dtype=np.float64)
    with warnings.catch_warnings():  # a cluster may run empty: that is for the guard to judge
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KMeans(len(centers), init=np.asarray(centers, np.float64), n_init=1, max_iter=max_iter).fit(points)
    found = np.asarray(model.cluster_centers_, dtype=np.float32)
    return Centroids.around(found, vectors, model.n_iter_)


def best_kmeans(
    vectors: Vectors,
    centers: Vectors,
    rng: np.random.RandomState | None,
    *,
    n_init: int = 10,
    spherical: bool = False,
) -> Centroids:
    """k-means from ``centers`` and, with ``rng``, from ``n_init`` fresh starts; the result with the lowest inertia.

    After training there may be a better partition that Lloyd's iterations do not reach from the trained centres.
    Whichever wins, its clusters take the numbers of those from ``centers`` that they share most texts with.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        The points.
    centers : ndarray of shape (n_clusters, d)
        One of the starts.
    rng : RandomState or None
        Draws the fresh starts; None for none, as while training goes on.
    n_init : int, default=10
        Number of fresh starts.
    spherical : bool, default=False
        Whether to compare by cosine, with centres of length one.

    Examples
    --------
    >>> points = np.array([[0.0], [2.0], [9.0], [11.0]], dtype=np.float32)
    >>> best_kmeans(points, np.array([[8.0], [3.0]]), np.random.RandomState(0)).centers.ravel().tolist()
    [10.0, 1.0]
    """
    trained = kmeans_from(vectors, centers, spherical=spherical)
    if rng is None:
        return trained
    fresh = first_kmeans(vectors, len(centers), rng, n_init=n_init, spherical=spherical)
    near_trained, near_fresh = (found.scores(vectors) * found.bandwidth for found in (trained, fresh))
    if near_trained.max(axis=1).sum() >= near_fresh.max(axis=1).sum():
        return trained
    shared = np.zeros((len(centers), len(centers)), dtype=np.int64)
    np.add.at(shared, (near_trained.argmax(axis=1), near_fresh.argmax(axis=1)), 1)
    _, order = linear_sum_assignment(shared, maximize=True)
    return Centroids(fresh.centers[order], fresh.bandwidth, spherical=spherical, n_iter=fresh.n_iter)
