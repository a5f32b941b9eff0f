"""5. From features to one partition: candidates, compared by evidence that needs no labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from shoal.clusterers import TransportState
from shoal.methods.shoal.candidates import KMEANS_ITERATIONS, Candidates, PartitionOptions
from shoal.methods.shoal.evidence import (
    BALANCED,
    EQUAL,
    SAFE,
    SIZES_FREE,
    START,
    UNEQUAL,
    Evidence,
    Rules,
    found_again,
    leaves_less,
    most_trusted,
)
from shoal.methods.shoal.features import Features
from shoal.methods.shoal.regrouping import Labels
from shoal.progress import progress
from shoal.vectors import Vectors

Hear = Callable[[Evidence, Labels], None]

# Exponents of the sizes in co-training: balanced clusters nearly keep theirs, others keep them.
BALANCED_EXPONENT, FREE_EXPONENT = 0.9, 1.0
# Clusters are sought anew among this share of the rows, so many times.
SHARE, SAMPLES = 0.8, 9
# Fewer are enough if each leads to the same clear choice; linkage, which must be far better, is so by luck less often.
FEW_SAMPLES = {UNEQUAL: 3, SIZES_FREE: 5}


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
    stability : dict of str to float
        How much of each kind of clusters is found again among four fifths of the rows; empty if that was not needed.
    evidence : tuple of Evidence
        For every partition considered.
    reason : str
        Why it was chosen, in one sentence.
    """

    labels: Labels
    assignment: Vectors
    start: Labels
    branch: str
    stability: Mapping[str, float]
    evidence: tuple[Evidence, ...]
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """Return the choice as plain values."""
        return {
            "reason": self.reason,
            "branch": self.branch,
            "stability": dict(self.stability),
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
    kind: str | None = None,
    hear: Hear | None = None,
) -> Partition:
    """Find one partition of rows with features by meaning and by words.

    The features are joined and smoothed over the graph of neighbours by either. Then:

    1. k-means by meaning alone, and *settled*: its borders moved to the smoothed rows. This is the safe candidate.
    2. Clusters by linkage, which may have any sizes. Where the safe candidate explains the neighbours far better than
       clusters of equal size that start from it, and these better still, sizes differ by far: they are the answer.
    3. Clusters of equal size from several starts; the one that explains the neighbours best is kept, and its sizes are
       set free.
    4. Each is sought anew among random four fifths of the rows. Linkage is the answer if its clusters are found again
       far better than those that started with equal sizes. Where these are hardly found again, the safe candidate is,
       if it is more stable.
    5. Clusters by linkage are regrouped. The others stay free or are relaxed from equal sizes: what explains more.
    6. One round of co-training between meaning and words, except for the safe candidate.

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
    kind : str, optional
        Take this kind of clusters, whatever the evidence for it.
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
    scales = _Scales(parts, rules, hear)
    start = parts.by_meaning(rng, options.n_init)
    scales.weigh(START, start)
    safe = parts.settled(start)
    scales.weigh(SAFE, safe)
    chosen = _Choice(SAFE, parts.hard(safe), None, "k-means by meaning, with borders that follow the neighbours")
    stability: Mapping[str, float] = {}
    if options.equal_sizes and n_clusters > 1:
        chosen, stability = _compared(parts, scales, safe, chosen, kind, rng)
    assignment = chosen.assignment
    if options.co_training and chosen.exponent is not None:
        assignment = parts.cotrained(assignment, chosen.exponent)
        scales.weigh(f"{chosen.branch}, co-trained", assignment.argmax(axis=1))
    labels: Labels = assignment.argmax(axis=1)
    return Partition(labels, assignment, start, chosen.branch, stability, tuple(scales.weighed), f"{chosen.reason}.")


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


def _compared(
    parts: Candidates, scales: _Scales, safe: Labels, chosen: _Choice, kind: str | None, rng: np.random.RandomState
) -> tuple[_Choice, Mapping[str, float]]:
    """Return the kind of clusters that is to be trusted most, and how much of each is found again."""
    kinds = {SAFE: safe}
    first = parts.equal_from(safe)
    if parts.options.unequal:
        linked = parts.unequal(parts.options.n_init)
        kinds[UNEQUAL] = linked.argmax(axis=1)
        by_linkage, by_safe = scales.weigh(UNEQUAL, kinds[UNEQUAL]), scales.modularity(SAFE)
        far = leaves_less(by_safe, parts.explained(first.labels), scales.rules.unequal_gain)
        if kind == UNEQUAL or (kind is None and far and by_linkage > by_safe):
            scales.weigh(EQUAL, first.labels)
            return _regrouped(parts, scales, linked), {}
    states = [first, parts.equal_from_communities(rng)]
    states += [parts.equal_from_kmeans(rng) for _ in range(parts.options.n_init)]
    equal = max(states, key=lambda state: parts.explained(state.labels))
    scales.weigh(EQUAL, equal.labels)
    free = parts.free(equal)
    kinds[SIZES_FREE] = free.argmax(axis=1)
    scales.weigh(SIZES_FREE, kinds[SIZES_FREE])
    stability = {} if kind else _stability(parts, kinds, scales.rules, rng)
    kind = kind or most_trusted(stability, scales.rules)
    if kind == UNEQUAL:
        return _regrouped(parts, scales, linked), stability
    if kind == SIZES_FREE:
        return _balanced(parts, scales, equal, free), stability
    if stability:
        chosen = chosen.because(
            f"the texts support several answers: among four fifths of them {stability[SAFE]:.0%} of such a cluster is "
            f"found again, {stability[SIZES_FREE]:.0%} of one that starts with equal sizes"
        )
    return chosen, stability


def _stability(
    parts: Candidates, kinds: Mapping[str, Labels], rules: Rules, rng: np.random.RandomState
) -> dict[str, float]:
    """Return how much of each kind of clusters is found again: the median over samples.

    A few samples are enough if each leads to the same choice, and to stable clusters.
    """
    drawn: list[dict[str, float]] = []
    with progress("Stability", SAMPLES, unit="samples") as bar:
        while len(drawn) < SAMPLES:
            drawn.append(_found_in_sample(parts, kinds, rng))
            bar.advance(1)
            medians = {kind: float(np.median([found[kind] for found in drawn])) for kind in kinds}
            choices = {most_trusted(found, rules) for found in drawn}
            if len(choices) == 1:
                (kind,) = choices
                if len(drawn) >= FEW_SAMPLES.get(kind, SAMPLES) and medians[kind] >= rules.stable:
                    break
    return medians


def _found_in_sample(parts: Candidates, kinds: Mapping[str, Labels], rng: np.random.RandomState) -> dict[str, float]:
    """Seek each kind of clusters anew, from one start, among a random share of the rows; return what is found."""
    n_rows = len(parts.smooth)
    rows = np.sort(rng.permutation(n_rows)[: max(parts.n_clusters, round(SHARE * n_rows))])
    some = parts.among(rows)
    return {kind: found_again(labels[rows], _anew(some, kind, rng)) for kind, labels in kinds.items()}


def _anew(some: Candidates, kind: str, rng: np.random.RandomState) -> Labels:
    """Seek clusters of a kind among some rows."""
    if kind == SAFE:
        return some.settled(some.by_meaning(rng, 1, KMEANS_ITERATIONS))
    found = some.unequal() if kind == UNEQUAL else some.free(some.equal_from_kmeans(rng))
    labels: Labels = found.argmax(axis=1)
    return labels


def _regrouped(parts: Candidates, scales: _Scales, linked: Vectors) -> _Choice:
    """Return clusters by linkage, regrouped unless that explains clearly less."""
    reason = "clusters of very unequal sizes, because equal ones do not fit the texts"
    if parts.options.regrouping:
        regrouped = parts.regrouped(linked)
        explained = scales.weigh(f"{UNEQUAL}, regrouped", regrouped.argmax(axis=1)) if regrouped is not linked else -1.0
        if not leaves_less(scales.modularity(UNEQUAL), explained, scales.rules.free_gain):
            linked, reason = regrouped, f"{reason}, regrouped"
    return _Choice(UNEQUAL, linked, FREE_EXPONENT, reason)


def _balanced(parts: Candidates, scales: _Scales, equal: TransportState, free: Vectors) -> _Choice:
    """Return clusters that started with equal sizes, set free if that explains more than to relax them."""
    relaxed = parts.balanced(equal)
    by_relaxed = scales.weigh(BALANCED, relaxed.argmax(axis=1))
    if leaves_less(scales.modularity(SIZES_FREE), by_relaxed, scales.rules.free_gain):
        return _Choice(BALANCED, free, FREE_EXPONENT, "clusters of sizes that the neighbours suggest")
    return _Choice(BALANCED, relaxed, BALANCED_EXPONENT, "clusters of similar sizes")
