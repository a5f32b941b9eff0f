"""5. From features to one partition: candidates, compared by evidence that needs no labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from shoal.clusterers import TransportState, fit_spherical_kmeans
from shoal.methods.shoal.candidates import Candidates, PartitionOptions
from shoal.methods.shoal.evidence import (
    BALANCED,
    EQUAL,
    SAFE,
    SIZES_FREE,
    START,
    UNEQUAL,
    Evidence,
    Rules,
    agreement,
    explains_more,
)
from shoal.methods.shoal.features import Features
from shoal.methods.shoal.regrouping import Labels
from shoal.vectors import Vectors

Hear = Callable[[Evidence, Labels], None]

# Exponents of the sizes in co-training: balanced clusters nearly keep theirs, others keep them.
BALANCED_EXPONENT, FREE_EXPONENT = 0.9, 1.0
# The starts whose partitions are compared: the best by modularity. The others were bad luck and say nothing.
COMPARED_STARTS = 3


@dataclass(frozen=True)
class Partition:
    """A partition, and why it was chosen.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        The cluster of each row.
    assignment : ndarray of shape (n, n_clusters)
        Confidence in each cluster; rows sum to 1.
    start : ndarray of shape (n,)
        Labels of k-means by meaning alone.
    branch : str
        The candidate it started as.
    agreement : float or None
        How far the partitions from different starts agree (adjusted Rand index); None if they were not compared.
    evidence : tuple of Evidence
        For every partition considered.
    reason : str
        Why it was chosen, in one sentence.
    """

    labels: Labels
    assignment: Vectors
    start: Labels
    branch: str
    agreement: float | None
    evidence: tuple[Evidence, ...]
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """Return the choice as plain values."""
        return {
            "reason": self.reason,
            "branch": self.branch,
            "agreement": self.agreement,
            "weighed": [asdict(each) for each in self.evidence],
        }


@dataclass(frozen=True)
class _Choice:
    """A candidate that was chosen: its name, assignment, exponent of the sizes for co-training (if any), the reason."""

    branch: str
    assignment: Vectors
    exponent: float | None
    reason: str

    def because(self, reason: str) -> _Choice:
        """Return it with another reason added."""
        return replace(self, reason=f"{self.reason}; {reason}")


def find_partition(
    features: Features,
    n_clusters: int,
    rng: np.random.RandomState,
    options: PartitionOptions | None = None,
    *,
    rules: Rules | None = None,
    hear: Hear | None = None,
) -> Partition:
    """Find one partition of rows with features by meaning and by words.

    The features are joined and smoothed over the graph of neighbours by either. Then:

    1. k-means by meaning alone, and *settled*: its borders moved to the smoothed rows. This is the safe candidate.
    2. Clusters of equal size from several starts; the one that explains the neighbours best is kept. If the safe
       candidate explains them far better, sizes must be very unequal: clusters by linkage, regrouped.
    3. Otherwise the sizes are relaxed. If the starts lead to different partitions, the evidence is unclear, and the
       safe candidate is the answer. If sizes set free explain the neighbours better, they are set free. Where the safe
       candidate is ahead of both, clusters by linkage are the answer if they explain far more still, and else the safe
       candidate itself if it is far ahead.
    4. One round of co-training between meaning and words, except for the safe candidate.

    Parameters
    ----------
    features : Features
        The rows.
    n_clusters : int
        The number of clusters.
    rng : RandomState
        The random generator.
    options : PartitionOptions, optional
        The constants and switches.
    rules : Rules, optional
        The constants of the choice.
    hear : callable, optional
        Called with the evidence and the labels of every partition considered.

    Returns
    -------
    Partition

    Examples
    --------
    >>> from shoal.vectors import unit_rows
    >>> rng = np.random.RandomState(0)
    >>> meaning = unit_rows(np.repeat(np.eye(3), 20, axis=0) + rng.normal(scale=0.1, size=(60, 3)))
    >>> found = find_partition(Features(meaning.astype(np.float32)), 3, np.random.RandomState(0))
    >>> np.bincount(found.labels).tolist()
    [20, 20, 20]
    """
    options = options or PartitionOptions()
    rules = rules or Rules()
    parts = Candidates(features, n_clusters, options)
    start = fit_spherical_kmeans(features.meaning, n_clusters, rng, n_init=options.n_init)
    start_labels: Labels = start.scores(features.meaning).argmax(axis=1)
    safe = parts.hard(parts.settled(start_labels))
    scales = _Scales(parts, rules, hear)
    scales.weigh(START, start_labels)
    explained = scales.weigh(SAFE, safe.argmax(axis=1))
    chosen = _Choice(SAFE, safe, None, "k-means by meaning, with borders that follow the neighbours")
    common = None
    if options.equal_sizes and n_clusters > 1:
        first = parts.equal_from_communities(rng)
        if options.unequal and explains_more(explained, scales.weigh(EQUAL, first.labels), rules.unequal_gain):
            chosen = _linked(parts, scales, gain=0.0) or chosen
        else:
            states = [first, *(parts.equal_from_kmeans(rng) for _ in range(options.n_init))]
            chosen, common = _balanced(parts, scales, states, chosen)
    assignment = chosen.assignment
    if options.co_training and chosen.exponent is not None:
        assignment = parts.cotrained(assignment, chosen.exponent)
        scales.weigh(f"{chosen.branch}, co-trained", assignment.argmax(axis=1))
    labels: Labels = assignment.argmax(axis=1)
    return Partition(
        labels, assignment, start_labels, chosen.branch, common, tuple(scales.weighed), f"{chosen.reason}."
    )


@dataclass
class _Scales:
    """The evidence so far."""

    parts: Candidates
    rules: Rules
    hear: Hear | None
    weighed: list[Evidence] = field(default_factory=list)

    def weigh(self, branch: str, labels: Labels) -> float:
        """Add a partition; return its modularity."""
        evidence = self.parts.evidence(branch, labels)
        self.weighed.append(evidence)
        if self.hear is not None:
            self.hear(evidence, labels)
        return evidence.modularity

    def modularity(self, branch: str) -> float:
        """Return the modularity of a partition that was weighed."""
        return next(each.modularity for each in self.weighed if each.branch == branch)


def _linked(parts: Candidates, scales: _Scales, gain: float) -> _Choice | None:
    """Return clusters by linkage, regrouped unless that explains clearly less; None if they do not gain so much."""
    linked = parts.unequal()
    by_linkage = scales.weigh(UNEQUAL, linked.argmax(axis=1))
    if by_linkage <= scales.modularity(SAFE) or not explains_more(by_linkage, scales.modularity(SAFE), gain):
        return None
    reason = "clusters of very unequal sizes, because equal ones do not fit the texts"
    if parts.options.regrouping:
        regrouped = parts.regrouped(linked)
        explained = scales.weigh(f"{UNEQUAL}, regrouped", regrouped.argmax(axis=1)) if regrouped is not linked else -1.0
        if not explains_more(by_linkage, explained, scales.rules.free_gain):
            linked, reason = regrouped, f"{reason}, regrouped"
    return _Choice(UNEQUAL, linked, FREE_EXPONENT, reason)


def _balanced(
    parts: Candidates, scales: _Scales, states: Sequence[TransportState], safe: _Choice
) -> tuple[_Choice, float]:
    """Return the best of several clusterings into equal sizes, relaxed or set free, and how far the starts agree.

    Where they do not agree, the safe candidate is returned; where that explains far more, it or clusters by linkage.
    """
    ranked = sorted(states, key=lambda state: parts.explained(state.labels), reverse=True)[:COMPARED_STARTS]
    relaxed = [parts.balanced(state) for state in ranked]
    common = agreement([each.argmax(axis=1) for each in relaxed])
    free = parts.free(ranked[0])
    by_free = scales.weigh(SIZES_FREE, free.argmax(axis=1))
    by_relaxed = scales.weigh(BALANCED, relaxed[0].argmax(axis=1))
    if common < scales.rules.least_agreement:
        return safe.because(f"the texts support several answers: starts agree on {common:.0%} of the pairs"), common
    if explains_more(by_free, by_relaxed, scales.rules.free_gain):
        found = _Choice(BALANCED, free, FREE_EXPONENT, "clusters of sizes that the neighbours suggest")
    else:
        found = _Choice(BALANCED, relaxed[0], BALANCED_EXPONENT, "clusters of similar sizes")
    by_safe, by_found = scales.modularity(SAFE), max(by_free, by_relaxed)
    if parts.options.unequal and explains_more(by_safe, by_found, scales.rules.free_gain):
        # Small clusters by linkage explain somewhat more on most corpora, right or wrong: here it must be far more.
        found = _linked(parts, scales, scales.rules.unequal_gain) or found
    if found.branch == BALANCED and explains_more(by_safe, by_found, scales.rules.safe_gain):
        found = safe.because("they explain the neighbours far better than clusters that start with equal sizes")
    return found, common
