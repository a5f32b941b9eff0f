"""3. Regrouping: split clusters with two themes and merge others in exchange, so that their number stays the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags, triu
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from shoal.vectors import membership

Labels = NDArray[np.int64]

# A cluster is split only if the cut is clearly weaker than the usual link between two clusters.
LINK_SHARE = 0.75
# Smaller clusters do not count towards the usual link: all their neighbours may well be in other clusters.
COUNTED_ROWS = 10
# Fewer rows are outliers, not a part.
LEAST_PART = 3
# Only the order of the rows along the eigenvector matters, not its digits.
EIGENVECTOR_TOLERANCE = 1e-4
# Maximum number of restarts of the eigensolver. A clear cut needs a few; a graph that needs more has no clear cut.
EIGENVECTOR_RESTARTS = 200


@dataclass(frozen=True)
class Cut:
    """The weakest cut of a graph.

    Attributes
    ----------
    conductance : float
        Weight of the edges that cross the cut, as a share of all edge ends in the smaller part.
    second : ndarray of bool
        The rows on one side.
    """

    conductance: float
    second: NDArray[np.bool_]

    @property
    def smaller(self) -> int:
        """Number of rows in the smaller part."""
        return int(min(self.second.sum(), (~self.second).sum()))


def weakest_cut(graph: csr_matrix) -> Cut | None:
    """Cut a graph in two where it is weakest: a sweep along its Fiedler vector (Shi and Malik, 2000).

    Parameters
    ----------
    graph : csr_matrix of shape (n, n)
        Symmetric, with weights of at least 0.

    Returns
    -------
    Cut or None
        None if no cut leaves ``LEAST_PART`` rows with an edge on each side, or if none is clear enough to be found in
        ``EIGENVECTOR_RESTARTS``.

    Examples
    --------
    >>> triangle = np.ones((3, 3)) - np.eye(3)
    >>> bridged = np.kron(np.eye(2), triangle)
    >>> bridged[2, 3] = bridged[3, 2] = 0.5
    >>> cut = weakest_cut(csr_matrix(bridged))
    >>> round(cut.conductance, 3), cut.smaller  # 0.5 of 6.5 edge ends
    (0.077, 3)
    """
    n_rows = graph.shape[0]
    degrees = np.asarray(graph.sum(axis=1), dtype=np.float64).ravel()
    if n_rows < 2 * LEAST_PART or not degrees.any():
        return None
    try:
        order = np.argsort(_fiedler_vector(graph, degrees), kind="stable")
    except ArpackNoConvergence:
        return None
    # A cut after row k of the order crosses the edges that start at or before k and end after it.
    edges = triu(graph[order][:, order], 1).tocoo()
    opened = np.bincount(edges.row, edges.data, n_rows) - np.bincount(edges.col, edges.data, n_rows)
    places = slice(LEAST_PART - 1, n_rows - LEAST_PART)
    crossing, volume = np.cumsum(opened)[places], np.cumsum(degrees[order])[places]
    smaller = np.minimum(volume, degrees.sum() - volume)
    conductance = np.full(len(smaller), np.inf)
    np.divide(np.maximum(crossing, 0), smaller, out=conductance, where=smaller > 0)
    best = int(conductance.argmin())
    if not np.isfinite(conductance[best]):
        return None
    second = np.zeros(n_rows, dtype=bool)
    second[order[LEAST_PART + best :]] = True
    return Cut(float(conductance[best]), second)


def _fiedler_vector(graph: csr_matrix, degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the second eigenvector of D^-1 G: connected rows have similar values."""
    scale = np.zeros_like(degrees)
    np.divide(1, np.sqrt(degrees), out=scale, where=degrees > 0)
    normalised = diags(scale) @ graph.astype(np.float64) @ diags(scale)
    first = np.sqrt(degrees / degrees.sum())  # known: its eigenvalue is 1

    def rest(vector: NDArray[np.float64]) -> NDArray[np.float64]:
        flat = vector.ravel()
        product: NDArray[np.float64] = normalised @ flat - first * (first @ flat)
        return product

    operator = LinearOperator(graph.shape, matvec=rest, dtype=np.float64)
    start = np.random.RandomState(0).normal(size=len(degrees))
    _, vectors = eigsh(operator, k=1, which="LA", v0=start, tol=EIGENVECTOR_TOLERANCE, maxiter=EIGENVECTOR_RESTARTS)
    values: NDArray[np.float64] = vectors[:, 0] * scale
    return values


@dataclass(frozen=True)
class Links:
    """Connections between clusters.

    Attributes
    ----------
    leaving : float
        Share of all edge ends whose edge leads to another cluster.
    nearest : ndarray of shape (n_clusters,)
        For each cluster, the one it is most connected to; -1 if it has no edge to another.
    strength : ndarray of shape (n_clusters,)
        Weight of the edges between the two, as a share of all edge ends in the smaller one.
    """

    leaving: float
    nearest: Labels
    strength: NDArray[np.float64]


def links_between(graph: csr_matrix, labels: Labels, n_clusters: int) -> Links:
    """Measure how strongly each cluster is connected to the others.

    Examples
    --------
    >>> path = csr_matrix(np.diag([1.0, 1.0, 1.0], 1) + np.diag([1.0, 1.0, 1.0], -1))
    >>> links = links_between(path, np.array([0, 0, 0, 1]), 2)
    >>> links.nearest.tolist(), links.strength.tolist()  # the one edge of the last row leads to the other cluster
    ([1, 0], [1.0, 1.0])
    >>> round(links.leaving, 3)  # 2 of 6 edge ends
    0.333
    """
    members = membership(labels, n_clusters, np.float64)
    flows = (members @ graph @ members.T).tocoo()
    volumes = np.bincount(flows.row, flows.data, n_clusters)
    apart = flows.row != flows.col
    one, other, weight = flows.row[apart], flows.col[apart], flows.data[apart]
    shares = weight / np.minimum(volumes[one], volumes[other])
    order = np.argsort(shares, kind="stable")  # ascending: each cluster's largest share is written last
    nearest, strength = np.full(n_clusters, -1, dtype=np.int64), np.zeros(n_clusters)
    nearest[one[order]], strength[one[order]] = other[order], shares[order]
    return Links(float(weight.sum() / max(flows.data.sum(), 1e-12)), nearest, strength)


def regrouped(graph: csr_matrix, labels: Labels, n_clusters: int) -> Labels:
    """Split clusters with two themes, and for each split merge another cluster into its nearest.

    Linkage leaves distant outliers alone and merges dense neighbours: some clusters have a text or two, some two
    themes. A cluster is split where the neighbour graph is weakest, the weakest cut first, if the share of the graph
    that crosses the cut is less than

    - the share that leaves the clusters overall, and
    - ``LINK_SHARE`` of the usual link (the median) between a cluster and its nearest.

    In exchange one cluster is merged into its nearest: of those smaller than both parts, the one most connected to its
    nearest. If there is none, the cluster is not split.

    Parameters
    ----------
    graph : csr_matrix of shape (n, n)
        The neighbour graph: symmetric, with weights of at least 0.
    labels : ndarray of shape (n,)
        0 to n_clusters - 1. The first split takes a number that no row has, if there is one.
    n_clusters : int
        The number of clusters before and after.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    Two groups in one cluster, and one row of a third group on its own:

    >>> group = np.ones((12, 12)) - np.eye(12)
    >>> graph = csr_matrix(np.kron(np.eye(3), group))
    >>> labels = np.array([0] * 24 + [1] * 11 + [2])
    >>> np.bincount(regrouped(graph, labels, 3)).tolist()
    [12, 12, 12]
    """
    labels = labels.copy()
    links = links_between(graph, labels, n_clusters)
    sizes = np.bincount(labels, minlength=n_clusters)
    usual = np.median(links.strength[sizes >= COUNTED_ROWS]) if (sizes >= COUNTED_ROWS).any() else 0.0
    limit = min(links.leaving, LINK_SHARE * float(usual))
    weakest = {cluster: _cut_of(graph, labels, cluster) for cluster in range(n_clusters)}
    for _ in range(n_clusters):
        swap = _next_swap(links, sizes, {cluster: cut for cluster, cut in weakest.items() if cut is not None}, limit)
        if swap is None:
            break
        cluster, cut, free = swap
        rows = np.flatnonzero(labels == cluster)
        if sizes[free]:
            labels[labels == free] = links.nearest[free]
            weakest[int(links.nearest[free])] = _cut_of(graph, labels, int(links.nearest[free]))
        labels[rows[cut.second]] = free
        for changed in (cluster, free):
            weakest[changed] = _cut_of(graph, labels, changed)
        links = links_between(graph, labels, n_clusters)
        sizes = np.bincount(labels, minlength=n_clusters)
    return labels


def _cut_of(graph: csr_matrix, labels: Labels, cluster: int) -> Cut | None:
    rows = np.flatnonzero(labels == cluster)
    return weakest_cut(graph[rows][:, rows])


def _next_swap(
    links: Links, sizes: NDArray[np.int64], weakest: dict[int, Cut], limit: float
) -> tuple[int, Cut, int] | None:
    """Return the cluster to split, the cut, and the number of the new part; None if there is nothing to do."""
    for cluster, cut in sorted(weakest.items(), key=lambda each: each[1].conductance):
        if cut.conductance >= limit:
            break
        free = _free_number(links, sizes, cluster, cut)
        if free is not None:
            return cluster, cut, free
    return None


def _free_number(links: Links, sizes: NDArray[np.int64], cluster: int, cut: Cut) -> int | None:
    """Return the number of an empty cluster, or of the one to merge for this cut; None if there is none."""
    empty = np.flatnonzero(sizes == 0)
    if len(empty):
        return int(empty[0])
    eligible = (sizes < cut.smaller) & (links.nearest != cluster) & (links.strength > cut.conductance)
    eligible[cluster] = False
    if not eligible.any():
        return None
    return int(np.where(eligible, links.strength, -1).argmax())
