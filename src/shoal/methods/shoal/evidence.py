"""4. The evidence for a partition, without labels, and the choice between partitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Exponent of the silhouette, relative to the modularity, in the strength of a partition.
SILHOUETTE_EXPONENT = 1.5
# Share of the silhouette that smoothing may cost. The silhouette ignores the graph: if it falls further, the graph
# misleads.
SMOOTHING_COST = 0.05
# Linkage is chosen unless it is less distinct than balanced clusters by more than this share: theirs is the best of
# several starts and smoothings, its own the only one.
UNEQUAL_ALLOWANCE = 0.15
# Below this share of neighbours clusters are separate; how far below says nothing more.
LEAST_LINK = 0.01
START, BALANCED, UNEQUAL = "k-means start", "balanced", "unequal"


@dataclass(frozen=True)
class Evidence:
    """The evidence for a partition, without labels.

    Attributes
    ----------
    branch : str
        Name of the partition.
    modularity : float
        How many more neighbours share a cluster than by chance (Newman 2004).
    silhouette : float
        How far apart the clusters are by meaning and words side by side, before smoothing.
    link : float
        Share of neighbours between a cluster and the one it is most connected to, on average.
    """

    branch: str
    modularity: float
    silhouette: float
    link: float

    @property
    def strength(self) -> float:
        """Modularity and silhouette combined: a partition must explain the neighbours and separate the clusters.

        The silhouette counts for more. Modularity is measured on the graph that is used for smoothing and rises with
        smoothing by itself; the silhouette ignores the graph and falls with every text that was moved too far.
        """
        return float(max(self.modularity, 0.0) * max(self.silhouette, 0.0) ** SILHOUETTE_EXPONENT)

    @property
    def distinctness(self) -> float:
        """Strength divided by link: a cluster that is a splinter of another counts against the whole partition.

        A linkage that merges whole themes and splits splinters off others can be as strong as a good partition, because
        its large clusters compensate. But its splinters stay connected to the clusters they were split from.
        """
        return self.strength / max(self.link, LEAST_LINK)


def balanced_branch(smoothing: float) -> str:
    """Return the name of the balanced branch with this amount of smoothing."""
    return f"{BALANCED}, smoothing {smoothing:g}"


def choose(weighed: Sequence[Evidence]) -> tuple[str, str]:
    """Return the branch to choose, and why."""
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
    return f"{taken}: distinctness {evidence.distinctness:.3g}, against {against.distinctness:.3g} for {left}"
