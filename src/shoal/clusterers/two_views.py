"""One partition from two views of the same rows: what an encoder says of them, and which words they share.

Every choice is made by evidence that needs no labels, and is written down in :class:`Evidence`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from shoal.clusterers.base import Vectors
from shoal.clusterers.centroids import fit_spherical_kmeans, unit_rows
from shoal.clusterers.neighbour_graph import graph_of, nearest_neighbours, smoothed, smoothing_matrix
from shoal.clusterers.regrouping import links_between, regrouped
from shoal.clusterers.softmax_regression import SoftmaxHead, fit_softmax
from shoal.clusterers.transport import cosine_silhouette, fit_transport_kmeans, transport_steps
from shoal.clusterers.tree import average_linkage_labels
from shoal.functional import sinkhorn
from shoal.metrics import modularity

Labels = NDArray[np.int64]

# What regrouping may cost of the distinctness, and co-training, which makes heads agree, of the strength.
STEP_COST = 0.02
# Weight of the silhouette beside the modularity in the strength of a partition.
SILHOUETTE_EXPONENT = 1.5
# What smoothing may cost of the silhouette, which knows nothing of the graph: beyond that the graph misleads.
SMOOTHING_COST = 0.05
# Linkage is taken unless it is less distinct than balanced clusters by more than that: of several starts and smoothings
# theirs is the best, its own the only one.
UNEQUAL_ALLOWANCE = 0.15
# Below this share of neighbours clusters are apart: how far below says nothing more.
LEAST_LINK = 0.01
# Sizes after co-training: nearly those before. The unequal branch keeps its own.
BALANCED_EXPONENT, UNEQUAL_EXPONENT = 0.9, 1.0
# Steps that move the borders of the linkage's clusters to where the centres are, sizes kept.
BORDER_SCHEDULE = (1.0,) * 3
START, BALANCED, UNEQUAL = "k-means start", "balanced", "unequal"


@dataclass(frozen=True)
class Views:
    """The same rows seen twice.

    Attributes
    ----------
    meaning : ndarray of shape (n, d)
        Unit rows: the encoder's vectors, centred.
    words : ndarray of shape (n, e), optional
        Unit rows: word statistics in few dimensions; None if there are no texts.
    counts : csr_matrix of shape (n, v), optional
        Unit rows: the same statistics, a column a word.
    """

    meaning: Vectors
    words: Vectors | None = None
    counts: csr_matrix | None = None

    @property
    def each(self) -> tuple[Vectors, ...]:
        """The views there are."""
        return (self.meaning,) if self.words is None else (self.meaning, self.words)

    @property
    def joint(self) -> Vectors:
        """Both side by side, as unit rows."""
        return unit_rows(np.hstack(self.each))

    def rows(self, rows: NDArray[np.int64]) -> Views:
        """Return some of the rows."""
        return Views(
            self.meaning[rows],
            None if self.words is None else self.words[rows],
            None if self.counts is None else self.counts[rows],
        )

    def graphs(self, n_neighbors: int) -> list[csr_matrix]:
        """Return each view's own neighbour graph; by words it is that of the counts."""
        sources: list[Vectors | csr_matrix] = [self.meaning]
        if self.counts is not None:
            sources.append(self.counts)
        return [graph_of(nearest_neighbours(source, n_neighbors)) for source in sources]


@dataclass(frozen=True)
class Evidence:
    """What speaks for a partition, without labels.

    Attributes
    ----------
    branch : str
        Which partition it is.
    modularity : float
        How many more neighbours share a cluster than by chance (Newman 2004).
    silhouette : float
        How far the clusters are apart in both views side by side, before any smoothing.
    link : float
        What holds a cluster and its nearest together: the share of neighbours between the two, on average.
    """

    branch: str
    modularity: float
    silhouette: float
    link: float

    @property
    def strength(self) -> float:
        """Both at once: a partition must explain the neighbours and be apart.

        The silhouette counts for more. Modularity is read off the graph that smoothing follows and rises with it by
        itself; the silhouette knows nothing of the graph and pays for every text that was moved too far.
        """
        return float(max(self.modularity, 0.0) * max(self.silhouette, 0.0) ** SILHOUETTE_EXPONENT)

    @property
    def distinctness(self) -> float:
        """Strength over link: a cluster that is a splinter of another speaks against all of them.

        Linkage that joins whole themes and cuts splinters off others is as strong as a good partition: its large
        clusters make up for it. Its splinters hang together with what they were cut off from.
        """
        return self.strength / max(self.link, LEAST_LINK)


@dataclass(frozen=True)
class Partition:
    """A partition and why it is this one.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        The cluster of each row.
    assignment : ndarray of shape (n, n_clusters)
        How sure each is; rows sum to 1.
    start : ndarray of shape (n,)
        Labels of k-means on the first view.
    branch : str
        Which of the partitions it began as.
    smoothing : float
        How far the neighbour graph was trusted for it, from 0 to 1.
    evidence : list of Evidence
        For every partition that was weighed.
    reason : str
        One sentence.
    """

    labels: Labels
    assignment: Vectors
    start: Labels
    branch: str
    smoothing: float
    evidence: tuple[Evidence, ...]
    reason: str

    def as_facts(self) -> dict[str, Any]:
        """Return the story as plain values."""
        weighed = [
            {**asdict(each), "strength": each.strength, "distinctness": each.distinctness} for each in self.evidence
        ]
        return {
            "reason": self.reason,
            "branch": self.branch,
            "smoothing": self.smoothing,
            "weighed": weighed,
        }


@dataclass(frozen=True)
class TwoViewOptions:
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


class _Partitioner:
    """The procedure on one set of rows, with its graph."""

    def __init__(self, views: Views, n_clusters: int, options: TwoViewOptions) -> None:
        self.views, self.n_clusters, self.options = views, n_clusters, options
        graphs = views.graphs(options.n_neighbors)
        self.graph = sum(graphs[1:], graphs[0])
        self.joint = views.joint
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
        """Let the sure rows of each cluster teach a head in each view, and the heads assign all rows together."""
        labels = assignment.argmax(axis=1)
        sure = sure_rows(assignment, self.options.sure_share)
        log_probabilities = mean_log_probabilities(
            [fit_softmax(view[sure], labels[sure], self.n_clusters) for view in self.views.each], self.views.each
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
        """Return the joined views, each row moved towards its neighbours."""
        return smoothed(self.joint, self.matrix, self.options.smoothing_steps, smoothing)


def partition_two_views(
    views: Views, n_clusters: int, rng: np.random.RandomState, options: TwoViewOptions | None = None
) -> Partition:
    """Find one partition of rows that are seen in two views.

    1. The rows of both views are joined and smoothed over the graph of neighbours in either, not, by half and
       wholly, and clustered with nearly equal sizes; the strongest evidence decides how far the graph is trusted,
       among those that cost the silhouette little.
    2. Clusters of unequal sizes, by linkage on the smoothed rows, are taken if they are about as distinct or more:
       strong, and held together with their nearest by few neighbours. They are then regrouped.
    3. One round of co-training between the views. This step and regrouping are kept unless their evidence is weaker.
    4. If k-means on the first view has the stronger evidence after all, it is the answer.

    Parameters
    ----------
    views : Views
        The rows.
    n_clusters : int
        The number of clusters.
    rng : RandomState
        All randomness comes from it.
    options : TwoViewOptions, optional
        The constants.

    Returns
    -------
    Partition

    Examples
    --------
    >>> rng = np.random.RandomState(0)
    >>> meaning = unit_rows(np.repeat(np.eye(3), 20, axis=0) + rng.normal(scale=0.1, size=(60, 3)))
    >>> found = partition_two_views(Views(meaning.astype(np.float32)), 3, np.random.RandomState(0))
    >>> np.bincount(found.labels).tolist()
    [20, 20, 20]
    """
    options = options or TwoViewOptions()
    start = fit_spherical_kmeans(views.meaning, n_clusters, rng, n_init=options.n_init)
    start_labels: Labels = start.scores(views.meaning).argmax(axis=1)
    parts = _Partitioner(views, n_clusters, options)

    found = {_balanced(amount): parts.balanced(amount, rng) for amount in options.smoothing}
    if options.unequal:
        found[UNEQUAL] = parts.unequal(max(options.smoothing))
    weighed = {branch: parts.evidence(branch, assignment.argmax(axis=1)) for branch, assignment in found.items()}
    branch, reason = _choice(list(weighed.values()))
    assignment, best = found[branch], weighed[branch]
    smoothing = next((amount for amount in options.smoothing if _balanced(amount) == branch), max(options.smoothing))

    def improve(better: Vectors, name: str, what: str, measure: Callable[[Evidence], float]) -> None:
        """Take a step's result unless it costs evidence."""
        nonlocal assignment, best, reason
        after = parts.evidence(f"{branch}, {name}", better.argmax(axis=1))
        weighed[after.branch] = after
        if measure(after) >= (1 - STEP_COST) * measure(best):
            assignment, best, reason = better, after, f"{reason}; {what} kept"
        else:
            reason = f"{reason}; {what} dropped, its evidence was weaker"

    if branch == UNEQUAL and options.regrouping:
        again = parts.regrouped(assignment, smoothing)
        if again is assignment:
            reason = f"{reason}; nothing to regroup"
        else:
            improve(again, "regrouped", "regrouping", lambda each: each.distinctness)
    if options.co_training:
        exponent = UNEQUAL_EXPONENT if branch == UNEQUAL else BALANCED_EXPONENT
        taught = parts.cotrained(assignment, exponent)
        improve(taught, "co-trained", "co-training between the views", lambda each: each.strength)
    before = parts.evidence(START, start_labels)
    if before.strength > best.strength:
        reason = f"k-means, whose evidence ({before.strength:.4f}) was stronger than that of {branch} clusters"
        branch, assignment = START, filled(np.eye(n_clusters, dtype=np.float32)[start_labels])
    labels: Labels = assignment.argmax(axis=1)
    evidence = (*weighed.values(), before)
    return Partition(labels, assignment, start_labels, branch, smoothing, evidence, f"{reason}.")


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
    labels, sureness = assignment.argmax(axis=1), assignment.max(axis=1)
    sizes = np.bincount(labels, minlength=assignment.shape[1])
    full = assignment.copy()
    for cluster in np.flatnonzero(sizes == 0):
        row = int(np.where(sizes[labels] > 1, sureness, np.inf).argmin())
        sizes[labels[row]] -= 1
        sizes[cluster], labels[row], sureness[row] = 1, cluster, 1.0
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


def mean_log_probabilities(heads: Sequence[SoftmaxHead], views: Sequence[Vectors]) -> Vectors:
    """Return what the heads say together: the mean of their log-probabilities, a head for each view."""
    total: Vectors = np.mean(
        [head.log_probabilities(view) for head, view in zip(heads, views, strict=True)], axis=0, dtype=np.float32
    )
    return total


def _balanced(smoothing: float) -> str:
    """Name the branch of balanced clusters with so much smoothing."""
    return f"{BALANCED}, smoothing {smoothing:g}"


def _choice(weighed: Sequence[Evidence]) -> tuple[str, str]:
    """Return the branch to take, and why."""
    widest = max(each.silhouette for each in weighed if each.branch != UNEQUAL)
    apart = {each.branch: each for each in weighed if each.silhouette >= widest - SMOOTHING_COST * abs(widest)}
    unequal = apart.pop(UNEQUAL, None)
    best = max(apart.values(), key=lambda each: each.strength)
    if unequal is None:
        left = f": the silhouette of {UNEQUAL} clusters is too low" if UNEQUAL in {e.branch for e in weighed} else ""
        return best.branch, f"{best.branch}{left}"
    if unequal.distinctness > (1 - UNEQUAL_ALLOWANCE) * best.distinctness:
        return UNEQUAL, _reason(f"{UNEQUAL} clusters", unequal, best.branch, best)
    return best.branch, _reason(best.branch, best, f"{UNEQUAL} clusters", unequal)


def _reason(taken: str, evidence: Evidence, left: str, against: Evidence) -> str:
    return f"{taken}: distinctness {evidence.distinctness:.3g}, that of {left} {against.distinctness:.3g}"
