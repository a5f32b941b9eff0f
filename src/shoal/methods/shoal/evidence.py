"""4. The evidence for a partition, without labels, and the rules that choose by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

START, SAFE, BALANCED, UNEQUAL = "k-means", "k-means, settled", "balanced", "unequal"
EQUAL, SIZES_FREE = "equal sizes", f"{BALANCED}, sizes free"


@dataclass(frozen=True)
class Rules:
    """The constants of the choice; the bench judges them by leave-one-set-out.

    Which kind of clusters is the answer is mostly a matter of stability: what part of them is found again when such
    clusters are sought anew among four fifths of the texts. The rest, 1 - stability, is in doubt.

    Attributes
    ----------
    unequal_gain : float
        Where the safe candidate leaves this share less of the neighbours unexplained than clusters of equal size, sizes
        differ by far, and clusters by linkage that explain still more are the answer.
    linked_gain : float
        Otherwise clusters that start with equal sizes are assumed. Clusters by linkage are the answer only where they
        leave this share less in doubt, are highly stable, and no less stable than the safe candidate.
    highly_stable, stable, least_stability : float
        A cluster of which 0.85 is found again is highly stable, of which 0.75 is valid; one of which less than 0.6 is
        should not be trusted, says Hennig (R package fpc, ``clusterboot``). Here these are limits of the mean. Where
        clusters that start with equal sizes should not be trusted, those by linkage are taken if they can be, and else
        the safe candidate: the texts support several answers, and the one nearest to plain k-means does no harm.
    safe_gain : float
        In between the safe candidate is taken where it leaves this share less in doubt.
    free_gain : float
        Sizes are set free where that leaves this share less of the neighbours unexplained, and else stay nearly equal.
        Regrouping is undone where it leaves as much more unexplained.
    """

    unequal_gain: float = 0.25
    linked_gain: float = 0.5
    highly_stable: float = 0.85
    stable: float = 0.75
    least_stability: float = 0.6
    safe_gain: float = 0.15
    free_gain: float = 0.04


@dataclass(frozen=True)
class Evidence:
    """The evidence for a partition, without labels.

    Attributes
    ----------
    branch : str
        Name of the partition.
    modularity : float
        How many more neighbours share a cluster than by chance (Newman 2004), on the graph of neighbours by meaning
        and by words.
    silhouette : float
        How far apart the clusters are by meaning alone.
    """

    branch: str
    modularity: float
    silhouette: float


def leaves_less(one: float, other: float, gain: float) -> bool:
    """Tell whether the rest of one modularity or stability, 1 - x, is smaller than another's by this share or more.

    Examples
    --------
    >>> leaves_less(0.86, 0.8, 0.25), leaves_less(0.84, 0.8, 0.25)
    (True, False)
    """
    return 1 - one <= (1 - gain) * (1 - other)


def found_again(before: NDArray[np.int64], after: NDArray[np.int64]) -> float:
    """Return how much of its clusters another partition of the same rows finds again.

    For each cluster the Jaccard index with the cluster most like it, the rows in both as a share of those in either
    (Hennig 2007); the mean over clusters, weighted by the square root of their sizes. Where every row counts the same,
    as in an index over pairs, splinters that linkage cuts off large clusters are overlooked; where every cluster does,
    a handful of outliers weighs as much as a theme.

    Examples
    --------
    >>> found_again(np.array([0, 0, 0, 1, 1]), np.array([1, 1, 1, 0, 0]))
    1.0
    >>> found_again(np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 1]))  # two of three, and two of three
    0.6666666666666666
    """
    _, one = np.unique(before, return_inverse=True)
    _, other = np.unique(after, return_inverse=True)
    both = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(both, (one, other), 1)
    sizes = both.sum(axis=1)
    either = sizes[:, None] + both.sum(axis=0) - both
    return float(np.average((both / either).max(axis=1), weights=np.sqrt(sizes)))


def most_trusted(stability: Mapping[str, float], rules: Rules) -> str:
    """Return the kind of clusters to take, from how much of each is found again.

    Examples
    --------
    >>> most_trusted({SAFE: 0.7, SIZES_FREE: 0.8, UNEQUAL: 0.85}, Rules())
    'balanced, sizes free'
    >>> most_trusted({SAFE: 0.7, SIZES_FREE: 0.8, UNEQUAL: 0.95}, Rules())
    'unequal'
    """
    found, linked, safe = stability[SIZES_FREE], stability.get(UNEQUAL, 0.0), stability[SAFE]
    if found < 1 and linked >= max(safe, rules.highly_stable) and leaves_less(linked, found, rules.linked_gain):
        return UNEQUAL
    if found < rules.least_stability:
        return UNEQUAL if linked >= rules.least_stability else SAFE
    if found < rules.stable and leaves_less(safe, found, rules.safe_gain):
        return SAFE
    return SIZES_FREE
