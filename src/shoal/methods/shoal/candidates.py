"""2. The candidate partitions: k-means, balanced, free, unequal, regrouped, co-trained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from shoal.clusterers import (
    TransportState,
    average_linkage_labels,
    communities_at,
    cosine_silhouette,
    equal_sizes,
    fit_softmax,
    fit_spherical_kmeans,
    mean_log_probabilities,
    relaxed_sizes,
    settled_directions,
    sinkhorn,
    smoothed,
    smoothing_matrix,
    transport_steps,
)
from shoal.encoder.word_statistics import weight_of_words
from shoal.methods.shoal.evidence import Evidence
from shoal.methods.shoal.features import Features
from shoal.methods.shoal.regrouping import Labels, regrouped
from shoal.metrics import modularity
from shoal.parameters import FLAG, Limit, declared, number, parameter, parameters_of, whole
from shoal.vectors import Vectors, membership, unit_rows

# Steps that move the borders of the linkage's clusters to match their centres; sizes are kept.
BORDER_SCHEDULE = (1.0,) * 3
# Transport goes on moving the centres, so the k-means before it need not converge.
KMEANS_ITERATIONS = 50
# Up to this many rows are linked one by one; beyond it, small groups of rows are: as good, in a fraction of the time.
LINKED_ROWS = 3_000
# A handful of neighbours holds even small clusters together, if they have that many texts.
HANDFUL = 5


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
    smoothing: float = parameter(
        0.5,
        "Weight of a text's neighbours against the text itself when its features are smoothed over the neighbour "
        "graph, from 0, no smoothing, to 1.",
        number(least=0, most=1),
    )
    equal_sizes: bool = parameter(
        True, "Start from clusters of equal size, by optimal transport; otherwise from k-means by meaning.", FLAG
    )
    unequal: bool = parameter(
        True,
        "Use clusters of very unequal sizes, by linkage, where equal sizes do not fit the texts.",
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
        "Let heads on the features by meaning and by words correct the partition.",
        FLAG,
    )
    n_init: int = parameter(
        4,
        "Number of starts of k-means by meaning; as many again, its best, and communities start the clusters of equal "
        "size, and as many draws those of unequal size. Of each kind the one that explains the neighbours best is "
        "kept: not every start ends well.",
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

    def __init__(
        self, features: Features, n_clusters: int, options: PartitionOptions, graph: csr_matrix | None = None
    ) -> None:
        self.features, self.n_clusters, self.options = features, n_clusters, options
        n_rows = len(features.meaning)
        weighted = features.weighted(weight_of_words(n_rows))
        if graph is None:
            graphs = weighted.graphs(min(options.n_neighbors, fair_neighbours(n_rows, n_clusters)))
            graph = sum(graphs[1:], graphs[0])
        self.graph = graph
        self.matrix = smoothing_matrix(self.graph)
        self.smooth = smoothed(weighted.joint, self.matrix, options.smoothing_steps, options.smoothing)

    def among(self, rows: NDArray[np.int64]) -> Candidates:
        """Return the candidates for some of the rows; neighbours that are not among them are gone."""
        return Candidates(self.features.rows(rows), self.n_clusters, self.options, self.graph[rows][:, rows])

    def by_meaning(self, rng: np.random.RandomState, n_init: int, max_iter: int = 300) -> Labels:
        """Return clusters by k-means on the meaning alone."""
        found = fit_spherical_kmeans(self.features.meaning, self.n_clusters, rng, n_init=n_init, max_iter=max_iter)
        labels: Labels = found.scores(self.features.meaning).argmax(axis=1)
        return labels

    def settled(self, labels: Labels) -> Labels:
        """Run k-means on the smoothed rows from a partition: its borders follow the neighbours."""
        centers = settled_directions(self.smooth, labels, self.n_clusters)
        settled: Labels = self.hard((self.smooth @ centers.T).argmax(axis=1)).argmax(axis=1)
        return settled

    def equal_from(self, labels: Labels) -> TransportState:
        """Return clusters of equal size that start from a partition."""
        return self._equal(unit_rows(membership(labels, self.n_clusters) @ self.smooth))

    def equal_from_communities(self, rng: np.random.RandomState) -> TransportState:
        """Return clusters of equal size that start from communities of the graph."""
        labels = communities_at(self.graph, self.n_clusters, int(rng.randint(np.iinfo(np.int32).max)))
        centers: Vectors = unit_rows(membership(labels, int(labels.max()) + 1) @ self.smooth)[: self.n_clusters]
        missing = rng.permutation(len(self.smooth))[: self.n_clusters - len(centers)]  # if there are too few
        return self._equal(np.vstack([centers, self.smooth[missing]]))

    def equal_from_kmeans(self, rng: np.random.RandomState) -> TransportState:
        """Return clusters of equal size that start from k-means on the smoothed rows."""
        start = fit_spherical_kmeans(self.smooth, self.n_clusters, rng, n_init=1, max_iter=KMEANS_ITERATIONS)
        return self._equal(start.centers)

    def balanced(self, state: TransportState) -> Vectors:
        """Return clusters of nearly equal size, relaxed from equal ones."""
        return filled(relaxed_sizes(self.smooth, state, self.options.temperature).assignment)

    def free(self, state: TransportState) -> Vectors:
        """Return clusters of any size, by k-means from equal ones."""
        return self.hard(self.settled(state.labels))

    def unequal(self, n_init: int = 1) -> Vectors:
        """Return clusters of very unequal sizes, by average linkage.

        Groups of many rows are drawn at random; of so many draws the one that explains the neighbours best is kept.
        """
        draws = range(n_init if len(self.smooth) > LINKED_ROWS else 1)
        found = [
            self._with_borders(average_linkage_labels(self.smooth, self.n_clusters, max_rows=LINKED_ROWS, seed=seed))
            for seed in draws
        ]
        return max(found, key=lambda assignment: self.explained(assignment.argmax(axis=1)))

    def regrouped(self, assignment: Vectors) -> Vectors:
        """Split clusters with two themes and merge as many others; return the assignment itself if nothing changes."""
        before = assignment.argmax(axis=1)
        labels = regrouped(self.graph, before, self.n_clusters)
        return assignment if (labels == before).all() else self._with_borders(labels)

    def cotrained(self, assignment: Vectors, exponent: float) -> Vectors:
        """Train heads by meaning and by words on the confident rows of each cluster; together they assign all rows.

        A row's neighbours have as much say as the row itself.
        """
        labels = assignment.argmax(axis=1)
        sure = confident_rows(assignment, self.options.sure_share)
        own = mean_log_probabilities(
            [fit_softmax(part[sure], labels[sure], self.n_clusters) for part in self.features.each], self.features.each
        )
        sizes = np.bincount(labels, minlength=self.n_clusters).clip(1e-3) ** exponent
        scores: Vectors = ((own + self.matrix @ own) / 2).astype(np.float32)
        scores -= scores.max(axis=1, keepdims=True)  # few sweeps: start from each row's best
        taught: Vectors = sinkhorn(scores, sizes, temperature=1.0, n_iterations=20)
        return without_empty(taught, assignment)

    def evidence(self, branch: str, labels: Labels) -> Evidence:
        """Compute the evidence for a partition."""
        return Evidence(branch, self.explained(labels), cosine_silhouette(self.features.meaning, labels))

    def explained(self, labels: Labels) -> float:
        """Return the modularity of a partition; 0 if no text has a neighbour."""
        return float(np.nan_to_num(modularity(self.graph, labels)))

    def _equal(self, centers: Vectors) -> TransportState:
        return equal_sizes(self.smooth, centers, self.options.temperature)

    def _with_borders(self, labels: Labels) -> Vectors:
        """Move the borders of clusters to match their centres."""
        one_hot = np.eye(self.n_clusters, dtype=np.float32)[labels]
        sizes = one_hot.mean(axis=0)
        centers = unit_rows(one_hot.T @ self.smooth)
        moved = transport_steps(
            self.smooth, centers, sizes, BORDER_SCHEDULE, temperature=self.options.temperature
        ).assignment
        return without_empty(moved, one_hot)

    def hard(self, labels: Labels) -> Vectors:
        """Return a hard assignment without empty clusters."""
        return filled(np.eye(self.n_clusters, dtype=np.float32)[labels])


def fair_neighbours(n_rows: int, n_clusters: int) -> int:
    """Return how many neighbours a row may have: half of a cluster's usual size, or a handful if it has that many.

    Examples
    --------
    >>> [fair_neighbours(n_rows, 10) for n_rows in (1000, 60, 30, 10)]
    [50, 5, 2, 1]
    """
    usual = n_rows // n_clusters
    return max(usual // 2, min(HANDFUL, usual - 1), 1)


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
