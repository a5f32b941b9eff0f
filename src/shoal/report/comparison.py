"""Two clusterings of the same texts: which clusters stayed, split, merged, are new or gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.clustering import Cluster
from shoal.errors import DataError
from shoal.metrics import accuracy, ari, nmi
from shoal.report.contents import Contents

# A cluster goes into another if more than half of its texts do; a part of a split or merger is at least a tenth.
_MOST = 0.5
_PART = 0.1


@dataclass(frozen=True)
class Change:
    """What became of clusters.

    Attributes
    ----------
    kind : str
        ``stayed``, ``split``, ``merged``, ``gone`` or ``new``.
    before, after : tuple of int
        Clusters of the first and of the second run.
    n_texts : int
        How many texts it is about.
    share : float
        The share of them that is in the clusters of both sides.
    """

    kind: str
    before: tuple[int, ...]
    after: tuple[int, ...]
    n_texts: int
    share: float


@dataclass(frozen=True)
class Comparison:
    """How two clusterings differ.

    Attributes
    ----------
    before, after : tuple of Cluster
        The clusters of both runs.
    counts : ndarray of shape (n_before, n_after)
        Texts by both clusters.
    changes : tuple of Change
        What became of each cluster.
    agreement : dict of str to float
        In percent: ``matched`` (texts in corresponding clusters, under the best one-to-one matching), ``nmi``, ``ari``.
    n_shared, n_before, n_after : int
        Texts that both runs have, and that each has.
    """

    before: tuple[Cluster, ...]
    after: tuple[Cluster, ...]
    counts: NDArray[np.int64]
    changes: tuple[Change, ...]
    agreement: dict[str, float]
    n_shared: int
    n_before: int
    n_after: int

    def as_json(self) -> dict[str, Any]:
        """Return the object that ``shoal compare --json`` prints."""
        return {
            "agreement": self.agreement,
            "n_texts": {"shared": self.n_shared, "before": self.n_before, "after": self.n_after},
            "changes": [
                {
                    "kind": change.kind,
                    "before": [{"cluster": k, "name": self.before[k].name} for k in change.before],
                    "after": [{"cluster": k, "name": self.after[k].name} for k in change.after],
                    "n_texts": change.n_texts,
                    "share": round(change.share, 4),
                }
                for change in self.changes
            ],
        }


def compare(before: Contents, after: Contents) -> Comparison:
    """Compare two clusterings of the same texts; a text that only one of them has is ignored.

    Raises
    ------
    DataError
        If they have no text in common.
    """
    first, second = shared_rows(before.texts, after.texts)
    both = (before.labels[first] >= 0) & (after.labels[second] >= 0)
    left, right = before.labels[first][both], after.labels[second][both]
    if not len(left):
        raise DataError("the two runs have no text in common; compare runs on the same texts.")
    counts = np.zeros((len(before.clusters), len(after.clusters)), dtype=np.int64)
    np.add.at(counts, (left, right), 1)
    agreement = {name: 100 * score(left, right) for name, score in (("matched", accuracy), ("nmi", nmi), ("ari", ari))}
    return Comparison(
        before.clusters,
        after.clusters,
        counts,
        tuple(changes_of(counts)),
        agreement,
        len(left),
        int((before.labels >= 0).sum()),
        int((after.labels >= 0).sum()),
    )


def shared_rows(first: Sequence[str], second: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of the texts that both have; the n-th copy of a text corresponds to the n-th copy.

    Examples
    --------
    >>> [rows.tolist() for rows in shared_rows(["a", "b", "a"], ["a", "a", "c"])]
    [[0, 2], [0, 1]]
    """
    seen: Counter[str] = Counter()
    rows: dict[tuple[str, int], int] = {}
    for row, text in enumerate(second):
        rows[text, seen[text]] = row
        seen[text] += 1
    seen.clear()
    pairs = []
    for row, text in enumerate(first):
        other = rows.get((text, seen[text]))
        seen[text] += 1
        if other is not None:
            pairs.append((row, other))
    found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def changes_of(counts: NDArray[np.int64]) -> list[Change]:
    """Say what became of each cluster, from the texts by cluster before and after.

    A cluster has stayed if most of its texts are in one new cluster and most of that is from it. It has split if new
    clusters are mostly from it, two or more, and has merged with others if most of each is in one new cluster. What
    is none of this is gone, or new.

    Examples
    --------
    >>> [change.kind for change in changes_of(np.array([[9, 0, 1], [0, 5, 5], [0, 0, 0]]))]
    ['stayed', 'split']
    """
    sizes, after_sizes = counts.sum(axis=1), counts.sum(axis=0)
    goes = counts > _MOST * np.maximum(sizes, 1)[:, None]  # most of the old is in the new
    comes = counts > _MOST * np.maximum(after_sizes, 1)[None]  # most of the new is from the old
    changes: list[Change] = []
    old, new = set(np.flatnonzero(sizes).tolist()), set(np.flatnonzero(after_sizes).tolist())

    def add(kind: str, before: list[int], after: list[int]) -> None:
        n_texts = int(sizes[before].sum() if before else after_sizes[after].sum())
        inside = int(counts[np.ix_(before, after)].sum())
        changes.append(Change(kind, tuple(before), tuple(after), n_texts, inside / max(1, n_texts)))
        old.difference_update(before)
        new.difference_update(after)

    for j in sorted(new):
        sources = [i for i in np.flatnonzero(goes[:, j]).tolist() if counts[i, j] >= _PART * after_sizes[j]]
        if len(sources) > 1:
            add("merged", sources, [j])
    for i in sorted(old):
        parts = [j for j in np.flatnonzero(comes[i]).tolist() if j in new and counts[i, j] >= _PART * sizes[i]]
        if len(parts) > 1:
            add("split", [i], parts)
    for i in sorted(old):
        stayed = [j for j in np.flatnonzero(goes[i] & comes[i]).tolist() if j in new]
        if stayed:
            add("stayed", [i], stayed)
    for i in sorted(old):
        add("gone", [i], [])
    for j in sorted(new):
        add("new", [], [j])
    order = ["stayed", "split", "merged", "gone", "new"]
    return sorted(changes, key=lambda change: (order.index(change.kind), -change.n_texts))
