"""What can be said, without labels, about every granularity of a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.metrics import adjusted_mutual_info_score

from shoal.clusterers import communities
from shoal.metrics import modularity
from shoal.progress import progress

# From a handful of themes to groups of a few texts, in steps of a fourth root of two around plain modularity.
RESOLUTIONS = tuple(float(2 ** (quarter / 4)) for quarter in (*range(-16, -4, 2), *range(-4, 9), *range(10, 21, 2)))


@dataclass(frozen=True)
class Granularity:
    """One granularity: the communities of the neighbour graph at one resolution.

    Attributes
    ----------
    resolution : float
        Larger values give more and smaller communities.
    n_clusters : float
        Number of communities; the geometric mean over samples of the texts.
    agreement : float
        How far the communities by meaning alone and those by words alone agree (adjusted mutual information: 0 is
        chance, 1 is equal); 0 if there are no words.
    modularity : float
        How many more neighbours share a community than by chance.
    smallest : float
        Share of the texts in the smallest community.
    spread : float
        The number of communities if all were of equal size and told apart as much: the exponential of the entropy of
        the sizes.
    """

    resolution: float
    n_clusters: float
    agreement: float
    modularity: float
    smallest: float
    spread: float

    @property
    def cohesion(self) -> float:
        """Modularity as a share of the most that clusters of these sizes can have: few clusters have less to reach."""
        return self.modularity / max(1 - 1 / self.spread, 1e-9)


def granularity_curve(samples: Sequence[Sequence[csr_matrix]], seed: int = 0) -> tuple[Granularity, ...]:
    """Find communities at every resolution in one or more samples of the texts, and average what they show.

    Parameters
    ----------
    samples : sequence of sequences of csr_matrix
        For each sample its neighbour graphs: by meaning, and by words if there are texts.
    seed : int, default=0
        Draws the order in which rows are visited.

    Returns
    -------
    tuple of Granularity
        Coarse to fine.

    Examples
    --------
    >>> ring = csr_matrix(np.kron(np.eye(4), np.ones((6, 6)) - np.eye(6)))
    >>> curve = granularity_curve([[ring, ring]])
    >>> curve[10].n_clusters, curve[10].agreement
    (4.0, 1.0)
    """
    import torch  # it knows how many threads this process may have

    joint = [sum(graphs[1:], graphs[0]) for graphs in samples]
    wanted = [(resolution, s) for resolution in RESOLUTIONS for s in range(len(samples))]
    found: list[Granularity] = []
    with (
        progress("How many clusters", len(wanted), unit="granularities") as bar,
        ThreadPoolExecutor(torch.get_num_threads()) as pool,
    ):
        for point in pool.map(lambda want: _granularity(want[0], joint[want[1]], samples[want[1]], seed), wanted):
            found.append(point)
            bar.advance(1)
    return tuple(_mean(found[i : i + len(samples)]) for i in range(0, len(found), len(samples)))


def _granularity(resolution: float, joint: csr_matrix, graphs: Sequence[csr_matrix], seed: int) -> Granularity:
    """Measure one granularity in one sample; finding communities leaves other threads to do the same."""
    labels = communities(joint, resolution, seed)
    shares = np.bincount(labels) / len(labels)
    views = [communities(graph, resolution, seed) for graph in graphs] if len(graphs) > 1 else []
    return Granularity(
        resolution,
        float(len(shares)),
        _agreement(views[0], views[1]) if views else 0.0,
        float(np.nan_to_num(modularity(joint, labels))),
        float(shares.min()),
        float(np.exp(-(shares * np.log(shares)).sum())),
    )


def _agreement(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Return the adjusted mutual information; 0 if either is one community: there is nothing to agree on."""
    if one.max() == 0 or other.max() == 0:
        return 0.0
    return max(float(adjusted_mutual_info_score(one, other)), 0.0)


def _mean(points: Sequence[Granularity]) -> Granularity:
    """Average one resolution over the samples."""
    return Granularity(
        points[0].resolution,
        float(np.exp(np.mean([np.log(point.n_clusters) for point in points]))),
        *(
            float(np.mean([getattr(point, name) for point in points]))
            for name in ("agreement", "modularity", "smallest", "spread")
        ),
    )
