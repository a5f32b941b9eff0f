"""4. The evidence for a partition, without labels, and which partition is taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Weight of the silhouette beside the modularity in the strength of a partition.
SILHOUETTE_EXPONENT = 1.5
# What smoothing may cost of the silhouette, which knows nothing of the graph: beyond that the graph misleads.
SMOOTHING_COST = 0.05
# Linkage is taken unless it is less distinct than balanced clusters by more than that: of several starts and smoothings
# theirs is the best, its own the only one.
UNEQUAL_ALLOWANCE = 0.15
# Below this share of neighbours clusters are apart: how far below says nothing more.
LEAST_LINK = 0.01
START, BALANCED, UNEQUAL = "k-means start", "balanced", "unequal"


@dataclass(frozen=True)
class Evidence:
    """The evidence for a partition, without labels.

    Attributes
    ----------
    branch : str
        Which partition it is.
    modularity : float
        How many more neighbours share a cluster than by chance (Newman 2004).
    silhouette : float
        How far the clusters are apart by meaning and words side by side, before any smoothing.
    link : float
        How strongly a cluster and its nearest are connected: the share of neighbours between the two, on average.
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
        """Strength over link: a cluster that is a splinter of another counts against all of them.

        Linkage that joins whole themes and cuts splinters off others is as strong as a good partition: its large
        clusters make up for it. Its splinters stay connected with what they were cut off from.
        """
        return self.strength / max(self.link, LEAST_LINK)


def balanced_branch(smoothing: float) -> str:
    """Name the branch of balanced clusters with so much smoothing."""
    return f"{BALANCED}, smoothing {smoothing:g}"


def choose(weighed: Sequence[Evidence]) -> tuple[str, str]:
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
