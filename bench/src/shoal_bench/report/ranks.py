"""Methods compared over several data sets by their average ranks (Demšar 2006)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import friedmanchisquare, rankdata, studentized_range

SIGNIFICANCE = 0.05


@dataclass(frozen=True)
class Ranking:
    """Methods in the order of their average ranks, the best first.

    Parameters
    ----------
    names : tuple of str
        The methods.
    ranks : tuple of float
        Their average ranks; 1 is best, ties share the mean of their places.
    n_sets : int
        Data sets that were ranked over.
    p_value : float
        Friedman's test of all methods being alike.
    critical_difference : float
        Nemenyi: average ranks that differ by less are not told apart at the level 0.05.
    groups : tuple of (int, int)
        First and last place of every longest run of methods that are not told apart.
    """

    names: tuple[str, ...]
    ranks: tuple[float, ...]
    n_sets: int
    p_value: float
    critical_difference: float
    groups: tuple[tuple[int, int], ...]


def rank_methods(names: Sequence[str], scores: ArrayLike) -> Ranking:
    """Rank methods by their scores on the same data sets.

    Parameters
    ----------
    names : sequence of str
        At least three methods.
    scores : array-like of shape (n_sets, n_methods)
        Higher is better.

    Returns
    -------
    Ranking

    References
    ----------
    J. Demšar (2006), *Statistical Comparisons of Classifiers over Multiple Data Sets*, JMLR 7.

    Examples
    --------
    >>> ranking = rank_methods(["a", "b", "c"], [[60, 80, 70], [55, 90, 55], [10, 30, 20]])
    >>> ranking.names, [round(rank, 2) for rank in ranking.ranks]
    (('b', 'c', 'a'), [1.0, 2.17, 2.83])
    """
    table = np.asarray(scores, dtype=float)
    n_sets, n_methods = table.shape
    average = rankdata(-table, axis=1).mean(axis=0)
    order = np.argsort(average, kind="stable")
    ranks = tuple(float(average[place]) for place in order)
    distance = critical_difference(n_methods, n_sets)
    alike = bool((table == table[:, :1]).all())  # Friedman's statistic is then 0 / 0
    return Ranking(
        names=tuple(names[place] for place in order),
        ranks=ranks,
        n_sets=n_sets,
        p_value=1.0 if alike else float(friedmanchisquare(*table.T).pvalue),
        critical_difference=distance,
        groups=_groups(ranks, distance),
    )


def critical_difference(n_methods: int, n_sets: int) -> float:
    """Return Nemenyi's critical difference of average ranks at the level 0.05.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)  # Demšar's example, section 3.2.4
    1.25
    """
    q = studentized_range.ppf(1 - SIGNIFICANCE, n_methods, math.inf) / math.sqrt(2)
    return float(q * math.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))


def _groups(ranks: Sequence[float], distance: float) -> tuple[tuple[int, int], ...]:
    """Return the longest runs of at least two ranks, in ascending order, that lie within ``distance``."""
    groups: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = max(place for place, other in enumerate(ranks) if other - rank < distance)
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return tuple(groups)
