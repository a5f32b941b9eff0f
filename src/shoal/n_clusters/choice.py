"""Choose the number of clusters, and offer a coarser and a finer one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.clusterers import graph_of, nearest_neighbours
from shoal.encoder.word_statistics import WordStatistics
from shoal.n_clusters.curve import Granularity, granularity_curve
from shoal.n_clusters.wanted import Wanted
from shoal.vectors import Vectors, unit_rows

# Rows of a sample. The number of communities grows with the number of rows by itself, so every corpus is measured at
# the same size. The best of a flat curve depends on the sample by a factor of three; the mean of four is steadier.
SAMPLE_ROWS = 3_000
N_SAMPLES = 4
NEIGHBOURS = 10
# Fewer distinct rows have no groups of neighbours.
LEAST_ROWS = 4
# From here on meaning and words see the same groups. Below it they share local likeness only, which says nothing of a
# number and goes on rising towards groups of a few texts: plain modularity, resolution 1, then decides.
CLEAR_AGREEMENT = 0.45
# Where they see the same groups, finer granularities are as good if agreement and modularity are lower by these shares
# at the most: then the finest, because merging two clusters is less work than finding the border within one.
AGREEMENT_SLACK, MODULARITY_SLACK = 0.02, 0.05
# Communities that set a few texts apart from all the rest explain little of what finer ones do, and are no granularity.
# Two clusters remain possible: their modularity is at most 1/2, and that of many hardly ever more than 0.8.
LEAST_EXPLAINED = 0.6
# The reason for a number that was not chosen here.
GIVEN = "as given"
# The levels on offer, as far as they make sense.
LEVELS = ("coarse", "medium", "fine")
# A coarser level has a third of the clusters, a finer one twice as many.
COARSER, FINER = 1 / 3, 2


@dataclass(frozen=True)
class NClusters:
    """A number of clusters, and the evidence for it.

    Attributes
    ----------
    chosen : int
        The number.
    levels : dict of str to int
        ``coarse``, ``medium`` and ``fine``, as far as they differ; ``medium`` is the number chosen.
    reason : str
        Why, in one sentence.
    curve : tuple of Granularity
        What was measured, coarse to fine; empty if the number was given, or nothing was to choose.
    n_sampled : int
        Number of texts that were measured.
    """

    chosen: int
    levels: dict[str, int]
    reason: str
    curve: tuple[Granularity, ...] = ()
    n_sampled: int = 0

    @property
    def is_given(self) -> bool:
        """Whether the number was given rather than chosen."""
        return self.reason == GIVEN

    @classmethod
    def given(cls, n_clusters: int, n_distinct: int) -> NClusters:
        """Return a number that was given."""
        return cls(n_clusters, _levels(n_clusters, n_distinct), GIVEN)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any] | None, n_clusters: int) -> NClusters:
        """Reverse :meth:`as_dict`; a model of before has no more than its number."""
        if content is None:
            return cls.given(n_clusters, n_clusters)
        return cls(**{**content, "curve": tuple(Granularity(**point) for point in content["curve"])})

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "curve": [asdict(point) for point in self.curve]}


def choose_n_clusters(vectors: Vectors, texts: Sequence[str] | None, wanted: Wanted, seed: int = 0) -> NClusters:
    """Choose the number of clusters of distinct rows.

    Communities of the neighbour graph are found at every granularity, by meaning and by words apart. The granularity at
    which both see the same groups is the answer: chance agreement is taken out, so coarse and fine ones compete on
    equal terms. Where they never agree, modularity decides.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        The vectors of distinct texts. The answer does not depend on the order if the rows come sorted.
    texts : sequence of str, optional
        The texts themselves.
    wanted : Wanted
        The numbers to choose from.
    seed : int, default=0
        Draws the samples.

    Returns
    -------
    NClusters

    Examples
    --------
    >>> from shoal.n_clusters.wanted import parse_wanted
    >>> rng = np.random.RandomState(0)
    >>> vectors = np.repeat(np.eye(5), 30, axis=0) + rng.normal(scale=0.1, size=(150, 5))
    >>> choose_n_clusters(vectors.astype(np.float32), None, parse_wanted("auto")).chosen
    5
    """
    n_rows = len(vectors)
    most = min(wanted.most or n_rows, n_rows)
    if wanted.exact is not None:
        return NClusters.given(wanted.exact, n_rows)
    if n_rows < LEAST_ROWS or most <= wanted.least:
        n_clusters = min(wanted.least, n_rows)
        return NClusters(n_clusters, _levels(n_clusters, n_rows), f"there is nothing to choose among {n_rows} texts")
    samples = _samples(n_rows, seed)
    curve = granularity_curve([neighbour_graphs(vectors, texts, rows) for rows in samples], seed)
    best, reason = _best(curve, max(wanted.least, 2), most)
    n_clusters = int(np.clip(round(best.n_clusters), max(wanted.least, 2), most))
    return NClusters(n_clusters, _levels(n_clusters, n_rows), reason, curve, len(np.unique(np.concatenate(samples))))


def _samples(n_rows: int, seed: int) -> list[NDArray[np.int64]]:
    """Draw samples of rows, which share none as far as there are enough; all rows if they are few."""
    if n_rows <= SAMPLE_ROWS:
        return [np.arange(n_rows)]
    rng, samples = np.random.RandomState(seed), list[NDArray[np.int64]]()
    while len(samples) < N_SAMPLES:
        order = rng.permutation(n_rows)
        samples += [np.sort(order[i : i + SAMPLE_ROWS]) for i in range(0, n_rows - SAMPLE_ROWS + 1, SAMPLE_ROWS)]
    return samples[:N_SAMPLES]


def neighbour_graphs(vectors: Vectors, texts: Sequence[str] | None, rows: NDArray[np.int64]) -> list[Any]:
    """Return the neighbour graphs of some rows, by meaning and by words."""
    part = vectors[rows]
    sources: list[Any] = [unit_rows(part - part.mean(axis=0)).astype(np.float32)]
    if texts is not None:
        chosen = [texts[i] for i in rows]
        sources.append(WordStatistics(n_components=1).fit(chosen).tfidf(chosen))
    k = min(NEIGHBOURS, max(2, len(rows) // 8))
    return [graph_of(nearest_neighbours(source, k)) for source in sources]


def _best(curve: Sequence[Granularity], least: int, most: int) -> tuple[Granularity, str]:
    """Return the best granularity with an allowed number of clusters, and why; the nearest if none is allowed."""
    within = [point for point in curve if least - 0.5 <= point.n_clusters < most + 0.5]
    if not within:
        middle = np.sqrt(least * most)
        return min(curve, key=lambda point: abs(np.log(point.n_clusters / middle))), "the nearest to the range allowed"
    strongest = max(point.modularity for point in within)
    enough = min(LEAST_EXPLAINED * strongest, strongest)  # it may be negative
    allowed = [point for point in within if point.modularity >= enough]
    clearest = max(point.agreement for point in allowed)
    if clearest < CLEAR_AGREEMENT:
        plain = [point for point in allowed if point.resolution <= 1] or allowed[:1]
        seen = f"; meaning and words agree on no number ({clearest:.0%} beyond chance at the most)" if clearest else ""
        return plain[-1], f"the groups of neighbours, by modularity{seen}"
    best = max(range(len(allowed)), key=lambda i: allowed[i].agreement * allowed[i].cohesion)
    while best + 1 < len(allowed):
        finer = allowed[best + 1]
        if finer.agreement < (1 - AGREEMENT_SLACK) * clearest or finer.modularity < (1 - MODULARITY_SLACK) * strongest:
            break
        best += 1
    return allowed[best], f"meaning and words agree best at about this number ({clearest:.0%} beyond chance)"


def _levels(n_clusters: int, n_distinct: int) -> dict[str, int]:
    """Return the levels on offer: a third, the number itself, twice as many, as far as they make sense."""
    levels = dict(zip(LEVELS, (round(n_clusters * COARSER), n_clusters, n_clusters * FINER), strict=True))
    return {
        name: number
        for name, number in levels.items()
        if name == "medium" or (2 <= number <= n_distinct // 2 and number != n_clusters)
    }
