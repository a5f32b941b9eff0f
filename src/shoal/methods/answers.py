"""What a fitted model answers: where rows are in the space of the clusters, their clusters, and how likely each is.

``fit`` and ``predict`` go the same way. :func:`place` brings rows into the space of the clusters, :func:`assign` gives
each its cluster and a score per cluster, :func:`probabilities_of` calibrates the scores, and a model that was cut
moves along its tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal.clustering import NO_CLUSTER, Clustering
from shoal.errors import RunFolderError
from shoal.methods.inputs import Rows, spread_over
from shoal.scratch import ROWS_AT_A_TIME, in_blocks, scratch
from shoal.vectors import Vectors

if TYPE_CHECKING:
    from shoal.methods.base import TextClusterer

Assigned = tuple[NDArray[np.int64], NDArray[np.float64]]
# The same text encoded among other texts differs in the seventh digit. A row whose two best scores are closer
# than this (relative to their size) is encoded and scored alone, so that its label never depends on the others.
TIE = 1e-4


def clustering_of(model: TextClusterer, rows: Rows) -> Clustering:
    """Return the clusters of rows as a fitted model sees them.

    Parameters
    ----------
    model : TextClusterer
        A fitted model.
    rows : Rows
        Texts or vectors; there may be none.

    Returns
    -------
    Clustering
        Labels and probabilities of all rows, also of those without text, with the model's clusters.

    Raises
    ------
    RunFolderError
        If the model names a cluster that it does not have.
    """
    if not len(rows):
        labels, probabilities = np.empty(0, dtype=np.int64), np.empty((0, model.n_clusters_), np.float32)
        return Clustering(*spread_over(rows.present, labels, probabilities), model.clusters_)
    embedded = place(model, rows)
    found, scores = assign(model, rows, embedded)
    if not (found.min() >= NO_CLUSTER and found.max() < scores.shape[1]):
        raise RunFolderError(
            f"this model is damaged: it names cluster {found.max()} of {scores.shape[1]}; fit it again."
        )
    return Clustering(*spread_over(rows.present, *_at_level(model, embedded, found, scores)), model.clusters_)


def vectors_of(model: TextClusterer, rows: Rows) -> Vectors:
    """Return the vectors of all rows in the space of the clusters; zeros for a row without text.

    Parameters
    ----------
    model : TextClusterer
        A fitted model.
    rows : Rows
        Texts or vectors; there may be none.

    Returns
    -------
    ndarray of float32, shape (n, d)
    """
    out = np.zeros((len(rows.present), model.cluster_centers_.shape[1]), dtype=np.float32)
    if len(rows):
        out[rows.present] = place(model, rows)
    return out


def place(model: TextClusterer, rows: Rows) -> Vectors:
    """Return the vectors of the present rows in the space of the clusters."""
    vectors = model._embed(rows)
    return vectors if model.reducer_ is None else model.reducer_.transform(vectors)


def assign(model: TextClusterer, rows: Rows, embedded: Vectors) -> Assigned:
    """Return the cluster and scores of each row: by the method's own rule, unless its clusters were replaced."""
    return model._assign(rows, embedded) if model.own_clusters_ else assign_by_scores(model, rows, embedded)


def assign_in_blocks(model: TextClusterer, rows: Rows, embedded: Vectors) -> Assigned:
    """Return the cluster and scores of each row, of many rows block by block."""
    if len(rows) <= ROWS_AT_A_TIME:
        return assign(model, rows, embedded)
    found = np.empty(len(rows), dtype=np.int64)
    scores = scratch((len(rows), model.n_clusters_), np.float64)
    for block in in_blocks(embedded, scores):
        some = rows.take(np.arange(block.start, block.stop))
        found[block], scores[block] = assign(model, some, embedded[block])
    return found, scores


def assign_by_scores(model: TextClusterer, rows: Rows, embedded: Vectors) -> Assigned:
    """Return the cluster of the best score, and the scores; rows with near ties are scored alone (see ``TIE``)."""
    scores = _scores(model, rows, embedded)
    truncated = model.truncated_
    if scores.shape[1] > 1:
        second, first = np.partition(scores, -2, axis=1)[:, -2:].T
        for i in np.flatnonzero(first - second < TIE * np.maximum(1, np.abs(first))):
            alone = rows.row(int(i))
            scores[i] = _scores(model, alone, place(model, alone))[0]
    model.truncated_ = truncated  # of all rows, not of the last one that was scored alone
    return scores.argmax(axis=1).astype(np.int64), scores


def probabilities_of(
    model: TextClusterer, scores: NDArray[np.float64], typical: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return the probability of each of the fit's clusters.

    Parameters
    ----------
    model : TextClusterer
        A model that is calibrated.
    scores : ndarray of shape (n, n_clusters)
        The scores of the rows.
    typical : ndarray of shape (n, m)
        How typical of its cluster each row is; no columns if the method does not know.

    Returns
    -------
    ndarray of float32, shape (n, n_clusters)
    """
    probabilities = scratch(scores.shape)
    for block in in_blocks(probabilities, scores):
        probabilities[block] = model.calibration_.probabilities(scores[block], typical[block])
    return probabilities


def _at_level(
    model: TextClusterer, embedded: Vectors, found: NDArray[np.int64], scores: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return labels and probabilities at the number of clusters that the model was cut to."""
    probabilities = probabilities_of(model, scores, model._typical(embedded, found))
    if model.level_ is None or model.hierarchy_ is None:
        return found, probabilities
    return model.hierarchy_.regroup(embedded, found, probabilities, model.level_)


def _scores(model: TextClusterer, rows: Rows, embedded: Vectors) -> NDArray[np.float64]:
    """Return the scores of rows, by the clusterer or by the classifier that refines it."""
    return model.clusterer_.scores(embedded) if model.refined_ is None else model.refined_.scores(rows, embedded)
