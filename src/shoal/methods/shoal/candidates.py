"""2. The candidate partitions: balanced, unequal, regrouped, co-trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
from shoal.parameters import FLAG, Limit, declared, number, parameter, parameters_of, whole
from shoal.vectors import Vectors, unit_rows

# Steps that move the borders of the linkage's clusters to match their centres; sizes are kept.
BORDER_SCHEDULE = (1.0,) * 3


def _are_amounts(value: Any) -> bool:
    """Tell whether a value is a list of one or more numbers from 0 to 1."""
    return isinstance(value, list | tuple) and bool(value) and all(map(number(least=0, most=1).allows, value))


@declared
class PartitionOptions:
    """The constants and switches of the procedure, which are also parameters of :class:`~shoal.Shoal`."""

    n_neighbors: int = parameter(
        10,
        "Number of neighbours of each text, by meaning and by words. Keep it small: a cluster may have only "
        "a handful of texts.",
        whole(),
    )
    smoothing_steps: int = parameter(
        2,
        "Number of smoothing steps over the neighbour graph. More blur small clusters; ten or more are unstable.",
        whole(),
    )
    smoothing: Sequence[float] = parameter(
        (0.0, 0.5, 1.0),
        "Amounts of smoothing over the neighbour graph, from 0 to 1; each is tried and the evidence "
        "decides. Smoothing helps where meaning and words agree on the neighbours; where they do not, it blurs "
        "both.",
        Limit(_are_amounts, "but it must be a list of one or more numbers from 0 to 1."),
    )
    equal_sizes: bool = parameter(
        True, "Start from clusters of equal size, by optimal transport; otherwise use spherical k-means.", FLAG
    )
    unequal: bool = parameter(
        True,
        "Also try clusters of any size, by linkage. They are chosen if they are about as distinct as the "
        "balanced ones, or more.",
        FLAG,
    )
    regrouping: bool = parameter(
        True,
        "Regroup unequal clusters: split those with two themes where the neighbour graph is weakest, and "
        "merge as many others into their nearest. Linkage alone spends many clusters on a text or two and leaves "
        "two themes in others.",
        FLAG,
    )
    co_training: bool = parameter(
        True,
        "Let heads on the features by meaning and by words correct the partition, unless the evidence gets weaker.",
        FLAG,
    )
    n_init: int = parameter(
        4,
        "Number of k-means starts per amount of smoothing; the one with the strongest evidence is kept. Not "
        "every start ends well.",
        whole(),
    )
    temperature: float = parameter(
        0.05,
        "Temperature of the cosines in the transport; the same as in the built-in encoder's own training.",
        number(above=0),
    )
    sure_share: float = parameter(
        0.8,
        "Share of each cluster that trains the heads: its most confident texts.",
        Limit(number(above=0, most=1).allows, "but it must be a share: above 0, at most 1."),
    )


PARTITION: Mapping[str, Any] = parameters_of(PartitionOptions)


class Candidates:
    """The candidates for one set of rows, with its neighbour graph."""

    def __init__(self, features: Features, n_clusters: int, options: PartitionOptions) -> None:
        self.features, self.n_clusters, self.options = features, n_clusters, options
        graphs = features.graphs(options.n_neighbors)
        self.graph = sum(graphs[1:], graphs[0])
        self.joint = features.joint
        self.matrix = smoothing_matrix(self.graph)

    def balanced(self, smoothing: float, rng: np.random.RandomState) -> Vectors:
        """Return clusters of nearly equal size, relaxed step by step; or those of plain k-means."""
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
        """Return clusters of any size, by average linkage."""
        rows = self._smooth(smoothing)
        return self._with_borders(rows, average_linkage_labels(rows, self.n_clusters))

    def regrouped(self, assignment: Vectors, smoothing: float) -> Vectors:
        """Split clusters with two themes and merge as many others; return the assignment itself if nothing changes."""
        before = assignment.argmax(axis=1)
        labels = regrouped(self.graph, before, self.n_clusters)
        return assignment if (labels == before).all() else self._with_borders(self._smooth(smoothing), labels)

    def _with_borders(self, rows: Vectors, labels: Labels) -> Vectors:
        """Move the borders of clusters to match their centres."""
        one_hot = np.eye(self.n_clusters, dtype=np.float32)[labels]
        sizes = one_hot.mean(axis=0)
        centers = unit_rows(one_hot.T @ rows)
        moved = transport_steps(rows, centers, sizes, BORDER_SCHEDULE, temperature=self.options.temperature).assignment
        return without_empty(moved, one_hot)

    def cotrained(self, assignment: Vectors, exponent: float) -> Vectors:
        """Train heads by meaning and by words on the confident rows of each cluster; together they assign all rows."""
        labels = assignment.argmax(axis=1)
        sure = confident_rows(assignment, self.options.sure_share)
        log_probabilities = mean_log_probabilities(
            [fit_softmax(part[sure], labels[sure], self.n_clusters) for part in self.features.each], self.features.each
        )
        sizes = np.bincount(labels, minlength=self.n_clusters).clip(1e-3) ** exponent
        spread = np.asarray(self.matrix @ log_probabilities, dtype=np.float32)
        scores = torch.from_numpy(spread - spread.max(axis=1, keepdims=True))  # few sweeps: start from each row's best
        taught: Vectors = sinkhorn(scores, torch.from_numpy(sizes), temperature=1.0, n_iterations=20).numpy()
        return without_empty(taught, assignment)

    def evidence(self, branch: str, labels: Labels) -> Evidence:
        """Compute the evidence for a partition."""
        return Evidence(
            branch,
            modularity(self.graph, labels),
            cosine_silhouette(self.joint, labels),
            float(links_between(self.graph, labels, self.n_clusters).strength.mean()),
        )

    def _smooth(self, smoothing: float) -> Vectors:
        """Return the features side by side, each row moved towards its neighbours."""
        return smoothed(self.joint, self.matrix, self.options.smoothing_steps, smoothing)


def confident_rows(assignment: Vectors, share: float) -> NDArray[np.bool_]:
    """Mark the most confident rows of each cluster: this share of them, at least one.

    Examples
    --------
    >>> confident_rows(np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]), 0.5).tolist()
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
    """Give each empty cluster the least confident row among the clusters with several rows.

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
    """Return the assignment, but rows whose cluster it would leave empty keep the one they had before.

    Examples
    --------
    >>> before = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> without_empty(np.array([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4]]), before).tolist()
    [[0.9, 0.1], [0.8, 0.2], [0.0, 1.0]]
    """
    labels = before.argmax(axis=1)
    emptied = np.setdiff1d(labels, assignment.argmax(axis=1))
    return np.where(np.isin(labels, emptied)[:, None], before, assignment)
