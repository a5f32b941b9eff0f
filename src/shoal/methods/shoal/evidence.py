"""4. The evidence for a partition, without labels, and the rules that choose by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from shoal.metrics import ari

START, SAFE, BALANCED, UNEQUAL = "k-means", "k-means, settled", "balanced", "unequal"
EQUAL, SIZES_FREE = "equal sizes", f"{BALANCED}, sizes free"


@dataclass(frozen=True)
class Rules:
    """The constants of the choice; the bench judges them by leave-one-set-out.

    Attributes
    ----------
    unequal_gain : float
        Clusters of equal size are the starting assumption: k-means by itself splits large clusters and joins small
        ones. It is given up where k-means leaves this share less of the neighbours unexplained: sizes then differ by
        far, and clusters by linkage that explain more are the answer. Without that sign they must leave this share
        less unexplained than k-means.
    free_gain : float
        Below that, sizes are set free if it leaves this share less unexplained, and else stay nearly equal. Where the
        safe candidate is ahead of them by as much, clusters by linkage are looked at too.
    safe_gain : float
        The safe candidate is the answer where it leaves this share less unexplained than the balanced one: equal sizes
        were then a bad start.
    least_agreement : float
        Partitions from different starts must have this share of their pairs of texts in common (beyond chance). If
        they do not, the neighbours support several answers, and the one nearest to plain k-means is the safe one.
    """

    unequal_gain: float = 0.25
    free_gain: float = 0.02
    safe_gain: float = 0.1
    least_agreement: float = 2 / 3


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


def explains_more(one: float, other: float, gain: float) -> bool:
    """Tell whether the unexplained rest of one modularity, 1 - Q, is smaller than another's by this share or more.

    Examples
    --------
    >>> explains_more(0.86, 0.8, 0.25), explains_more(0.84, 0.8, 0.25)
    (True, False)
    """
    return 1 - one <= (1 - gain) * (1 - other)


def agreement(partitions: Sequence[NDArray[np.int64]]) -> float:
    """Return the mean adjusted Rand index over all pairs of partitions; 1 for a single one.

    Examples
    --------
    >>> same = np.array([0, 0, 1, 1])
    >>> agreement([same, 1 - same]), agreement([same])
    (1.0, 1.0)
    """
    pairs = [ari(one.tolist(), other.tolist()) for one, other in combinations(partitions, 2)]
    return float(np.mean(pairs)) if pairs else 1.0
