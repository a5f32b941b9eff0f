"""2. The partitions that are considered: balanced, of unequal sizes, regrouped, co-trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from shoal.clusterers import (
    average_linkage_labels,
    cosine_silhouette,
    fit_softmax,
    fit_spherical_kmeans,
    fit_transport_kmeans,
    mean_log_probabilities,
    smoothed,
    smoothing_matrix,
    transport_steps,
)
from shoal.functional import sinkhorn
from shoal.methods.shoal.evidence import BALANCED, Evidence
from shoal.methods.shoal.features import Features
from shoal.methods.shoal.regrouping import Labels, links_between, regrouped
from shoal.metrics import modularity
from shoal.vectors import Vectors, unit_rows

# Steps that move the borders of the linkage's clusters to where the centres are, sizes kept.
BORDER_SCHEDULE = (1.0,) * 3


@dataclass(frozen=True)
class PartitionOptions:
    """The constants of the procedure, and which parts of it take part; the estimator documents them."""

    n_neighbors: int = 10
    smoothing_steps: int = 2
    n_init: int = 4
    temperature: float = 0.05
    sure_share: float = 0.8
    smoothing: Sequence[float] = (0.0, 0.5, 1.0)
    equal_sizes: bool = True
    unequal: bool = True
    regrouping: bool = True
    co_training: bool = True


class Candidates:
    """The procedure on one set of rows, with its graph."""

    def __init__(self, features: Features, n_clusters: int, options: PartitionOptions) -> None:
        self.features, self.n_clusters, self.options = features, n_clusters, options
        graphs = features.graphs(options.n_neighbors)
        self.graph = sum(graphs[1:], graphs[0])
        self.joint = features.joint
        self.matrix = smoothing_matrix(self.graph)

    def balanced(self, smoothing: float, rng: np.random.RandomState) -> Vectors:
        """Clusters of nearly equal sizes, let go step by step; or plain k-means."""
        if not self.options.equal_sizes:
            rows = self._smooth(smoothing)
            plain = fit_spherical_kmeans(rows, self.n_clusters, rng, n_init=self.options.n_init)
            return filled(np.eye(self.n_clusters, dtype=np.float32)[plain.scores(rows).argmax(axis=1)])
        found = fit_transport_kmeans(
            self._smooth(smoothing),
            self.n_clusters,
            rng,
            judge=lambda labels: self.evidence(BALANCED, labels).strength,
            n_init=self.options.n_init,
            temperature=self.options.temperature,
        )
        return filled(found.assignment)

    def unequal(self, smoothing: float) -> Vectors:
        """Clusters of any sizes, by average linkage."""
        rows = self._smooth(smoothing)
        return self._with_borders(rows, average_linkage_labels(rows, self.n_clusters))

    def regrouped(self, assignment: Vectors, smoothing: float) -> Vectors:
        """Cut what falls apart, and let as many clusters that belong to another join it; or leave all as it is."""
        before = assignment.argmax(axis=1)
        labels = regrouped(self.graph, before, self.n_clusters)
        return assignment if (labels == before).all() else self._with_borders(self._smooth(smoothing), labels)

    def _with_borders(self, rows: Vectors, labels: Labels) -> Vectors:
        """Move the borders of clusters to where their centres are."""
        one_hot = np.eye(self.n_clusters, dtype=np.float32)[labels]
        sizes = one_hot.mean(axis=0)
        centers = unit_rows(one_hot.T @ rows)
        moved = transport_steps(rows, centers, sizes, BORDER_SCHEDULE, temperature=self.options.temperature).assignment
        return without_empty(moved, one_hot)

    def cotrained(self, assignment: Vectors, exponent: float) -> Vectors:
        """Let the sure rows of each cluster teach a head by meaning and one by words; both then assign all rows."""
        labels = assignment.argmax(axis=1)
        sure = sure_rows(assignment, self.options.sure_share)
        log_probabilities = mean_log_probabilities(
            [fit_softmax(part[sure], labels[sure], self.n_clusters) for part in self.features.each], self.features.each
        )
        sizes = np.bincount(labels, minlength=self.n_clusters).clip(1e-3) ** exponent
        spread = np.asarray(self.matrix @ log_probabilities, dtype=np.float32)
        scores = torch.from_numpy(spread - spread.max(axis=1, keepdims=True))  # few sweeps: begin with each row's best
        taught: Vectors = sinkhorn(scores, torch.from_numpy(sizes), temperature=1.0, n_iterations=20).numpy()
        return without_empty(taught, assignment)

    def evidence(self, branch: str, labels: Labels) -> Evidence:
        """Weigh a partition."""
        return Evidence(
            branch,
            modularity(self.graph, labels),
            cosine_silhouette(self.joint, labels),
            float(links_between(self.graph, labels, self.n_clusters).strength.mean()),
        )

    def _smooth(self, smoothing: float) -> Vectors:
        """Return meaning and words side by side, each row moved towards its neighbours."""
        return smoothed(self.joint, self.matrix, self.options.smoothing_steps, smoothing)


def sure_rows(assignment: Vectors, share: float) -> NDArray[np.bool_]:
    """Mark the surest rows of each cluster: this share of it, one at least.

    Examples
    --------
    >>> sure_rows(np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]), 0.5).tolist()
    [True, False, True]
    """
    labels, confidence = assignment.argmax(axis=1), assignment.max(axis=1)
    order = np.lexsort((-confidence, labels))
    sizes = np.bincount(labels, minlength=assignment.shape[1])
    place = np.empty(len(labels), dtype=np.int64)
    place[order] = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    sure: NDArray[np.bool_] = place < np.ceil(share * sizes)[labels]
    return sure


def filled(assignment: Vectors) -> Vectors:
    """Give each cluster that no row is sure of the row that is least sure of another with several.

    Examples
    --------
    >>> filled(np.array([[0.9, 0.1, 0.0], [0.6, 0.2, 0.2], [0.2, 0.8, 0.0]])).argmax(axis=1).tolist()
    [0, 2, 1]
    """
    labels, confidence = assignment.argmax(axis=1), assignment.max(axis=1)
    sizes = np.bincount(labels, minlength=assignment.shape[1])
    full = assignment.copy()
    for cluster in np.flatnonzero(sizes == 0):
        row = int(np.where(sizes[labels] > 1, confidence, np.inf).argmin())
        sizes[labels[row]] -= 1
        sizes[cluster], labels[row], confidence[row] = 1, cluster, 1.0
        full[row] = np.eye(len(sizes), dtype=assignment.dtype)[cluster]
    return full


def without_empty(assignment: Vectors, before: Vectors) -> Vectors:
    """Give the rows of clusters that an assignment has emptied the assignment that they had before.

    Examples
    --------
    >>> before = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> without_empty(np.array([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4]]), before).tolist()
    [[0.9, 0.1], [0.8, 0.2], [0.0, 1.0]]
    """
    labels = before.argmax(axis=1)
    emptied = np.setdiff1d(labels, assignment.argmax(axis=1))
    return np.where(np.isin(labels, emptied)[:, None], before, assignment)
