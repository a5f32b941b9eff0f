"""5. From features to one partition: candidates, compared by evidence that needs no labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.clusterers import fit_spherical_kmeans
from shoal.methods.shoal.candidates import Candidates, PartitionOptions, filled
from shoal.methods.shoal.evidence import START, UNEQUAL, Evidence, balanced_branch, choose
from shoal.methods.shoal.features import Features
from shoal.methods.shoal.regrouping import Labels
from shoal.vectors import Vectors

# Share that regrouping may cost in distinctness, and co-training, which makes heads agree, in strength.
STEP_COST = 0.02
# Exponents of the sizes in co-training: balanced clusters nearly keep theirs, unequal ones keep them.
BALANCED_EXPONENT, UNEQUAL_EXPONENT = 0.9, 1.0


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
    smoothing : float
        Its amount of smoothing, from 0 to 1.
    evidence : list of Evidence
        For every partition considered.
    reason : str
        Why it was chosen, in one sentence.
    """

    labels: Labels
    assignment: Vectors
    start: Labels
    branch: str
    smoothing: float
    evidence: tuple[Evidence, ...]
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """Return the choice as plain values."""
        weighed = [
            {**asdict(each), "strength": each.strength, "distinctness": each.distinctness} for each in self.evidence
        ]
        return {
            "reason": self.reason,
            "branch": self.branch,
            "smoothing": self.smoothing,
            "weighed": weighed,
        }


def find_partition(
    features: Features, n_clusters: int, rng: np.random.RandomState, options: PartitionOptions | None = None
) -> Partition:
    """Find one partition of rows with features by meaning and by words.

    1. The features are joined, smoothed over the graph of neighbours by either (not at all, by half, fully), and
       clustered with nearly equal sizes. Of the amounts of smoothing that cost the silhouette little, the one with
       the strongest evidence is chosen.
    2. Clusters of unequal sizes, by linkage on the smoothed rows, are chosen if they are about as distinct or more:
       strong, and connected to their nearest by few neighbours. They are then regrouped.
    3. One round of co-training between meaning and words. Co-training and regrouping are each kept unless the
       evidence gets weaker.
    4. If k-means by meaning alone has the stronger evidence, it is the answer after all.

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
    start = fit_spherical_kmeans(features.meaning, n_clusters, rng, n_init=options.n_init)
    start_labels: Labels = start.scores(features.meaning).argmax(axis=1)
    parts = Candidates(features, n_clusters, options)

    found = {balanced_branch(amount): parts.balanced(amount, rng) for amount in options.smoothing}
    if options.unequal:
        found[UNEQUAL] = parts.unequal(max(options.smoothing))
    weighed = {branch: parts.evidence(branch, assignment.argmax(axis=1)) for branch, assignment in found.items()}
    branch, reason = choose(list(weighed.values()))
    assignment, best = found[branch], weighed[branch]
    smoothing = next(
        (amount for amount in options.smoothing if balanced_branch(amount) == branch), max(options.smoothing)
    )

    def improve(better: Vectors, name: str, what: str, measure: Callable[[Evidence], float]) -> None:
        """Keep the result of a step unless its evidence is weaker."""
        nonlocal assignment, best, reason
        after = parts.evidence(f"{branch}, {name}", better.argmax(axis=1))
        weighed[after.branch] = after
        if measure(after) >= (1 - STEP_COST) * measure(best):
            assignment, best, reason = better, after, f"{reason}; {what} kept"
        else:
            reason = f"{reason}; {what} dropped, its evidence was weaker"

    if branch == UNEQUAL and options.regrouping:
        again = parts.regrouped(assignment, smoothing)
        if again is assignment:
            reason = f"{reason}; nothing to regroup"
        else:
            improve(again, "regrouped", "regrouping", lambda each: each.distinctness)
    if options.co_training:
        exponent = UNEQUAL_EXPONENT if branch == UNEQUAL else BALANCED_EXPONENT
        taught = parts.cotrained(assignment, exponent)
        improve(taught, "co-trained", "co-training", lambda each: each.strength)
    before = parts.evidence(START, start_labels)
    if before.strength > best.strength:
        reason = f"k-means: its evidence ({before.strength:.4f}) was stronger than that of {branch} clusters"
        branch, assignment = START, filled(np.eye(n_clusters, dtype=np.float32)[start_labels])
    labels: Labels = assignment.argmax(axis=1)
    evidence = (*weighed.values(), before)
    return Partition(labels, assignment, start_labels, branch, smoothing, evidence, f"{reason}.")
