"""Pairs of texts that training moved most, in the kinds of ClusterBERT's table 5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import DataError
from shoal.vectors import unit_rows

STAYED, TOGETHER, APART = "stayed close", "moved together", "moved apart"
# kind, and whether both texts are of one class: the paper's five, and the three that remain without classes
LABELLED = ((STAYED, True), (TOGETHER, True), (TOGETHER, False), (APART, False), (APART, True))
UNLABELLED = ((STAYED, None), (TOGETHER, None), (APART, None))

BLOCK = 512
# Many of the strongest pairs share a text, so this multiple of the wanted number is kept to choose from.
SPARE = 50
# Two vectors with at least this cosine before training belong to equal texts.
SAME = 1 - 1e-6

Kind = tuple[str, bool | None]
_Found = tuple[float, int, int, float, float]  # strength, both rows, both cosines


@dataclass(frozen=True)
class MovedPair:
    """Two texts and how near they were before and after, by cosine.

    Attributes
    ----------
    kind : str
        "stayed close", "moved together" or "moved apart".
    same_class : bool or None
        Whether they are of one class; None if classes are not known.
    left, right : int
        Their rows.
    before, after : float
        The cosines.
    """

    kind: str
    same_class: bool | None
    left: int
    right: int
    before: float
    after: float


def moved_pairs(
    before: ArrayLike,
    after: ArrayLike,
    labels: Sequence[object] | None = None,
    *,
    n: int = 10,
    max_texts: int = 10_000,
) -> list[MovedPair]:
    """Find the pairs of each kind that moved most, or stayed closest.

    All pairs of up to ``max_texts`` texts are compared, in blocks; of more texts, a fixed random sample. A text is in
    at most one pair of a kind, and pairs of equal texts do not count.

    Parameters
    ----------
    before, after : array of shape (n_texts, d)
        The vectors before and after training; d may differ.
    labels : sequence, optional
        The texts' classes; pairs of one class and of two are then separate kinds.
    n : int, default 10
        Pairs of each kind.
    max_texts : int, default 10_000
        How many texts are compared at most.

    Returns
    -------
    list of MovedPair
        By kind, the strongest first.

    Examples
    --------
    >>> before, after = [[1, 0], [1, 0.1], [0, 1]], [[1, 0], [0, 1], [0, 1]]
    >>> [(pair.kind, pair.left, pair.right) for pair in moved_pairs(before, after, n=1)]
    [('stayed close', 1, 2), ('moved together', 1, 2), ('moved apart', 0, 1)]
    """
    first, last = (unit_rows(np.asarray(vectors, dtype=np.float64)) for vectors in (before, after))
    if len(first) != len(last) or (labels is not None and len(labels) != len(first)):
        raise DataError(
            f"before has {len(first)} rows, after {len(last)}, labels "
            f"{'none' if labels is None else len(labels)}; pass one of each per text."
        )
    rows = np.arange(len(first))
    if len(rows) > max_texts:
        rows = np.sort(np.random.default_rng(0).choice(rows, max_texts, replace=False))
    codes = None if labels is None else np.unique([str(labels[i]) for i in rows.tolist()], return_inverse=True)[1]
    kinds: tuple[Kind, ...] = UNLABELLED if labels is None else LABELLED
    best: dict[Kind, list[_Found]] = {kind: [] for kind in kinds}
    for start in range(0, len(rows), BLOCK):
        block = np.arange(start, min(start + BLOCK, len(rows)))
        was, now = (points[rows[block]] @ points[rows].T for points in (first, last))
        usable = (np.arange(len(rows))[None, :] > block[:, None]) & (was < SAME)
        same = None if codes is None else codes[block][:, None] == codes[None, :]
        for kind in kinds:
            inside = usable if same is None else usable & (same == kind[1])
            best[kind] = _better(best[kind], kind[0], block, was, now, inside, n * SPARE)
    return [
        MovedPair(kind, shared, int(rows[left]), int(rows[right]), was, now)
        for (kind, shared), found in best.items()
        for _, left, right, was, now in _once(found, n)
    ]


def _better(
    known: list[_Found],
    kind: str,
    block: NDArray[np.int64],
    was: NDArray[np.float64],
    now: NDArray[np.float64],
    inside: NDArray[np.bool_],
    count: int,
) -> list[_Found]:
    """Return the best of the known pairs and those of a block."""
    strength = np.minimum(was, now) if kind == STAYED else (now - was if kind == TOGETHER else was - now)
    strength = np.where(inside, strength, -np.inf)
    top = np.argpartition(strength.ravel(), -min(count, strength.size))[-count:]
    for place in top[np.isfinite(strength.ravel()[top])]:
        i, j = divmod(int(place), strength.shape[1])
        if kind == STAYED or strength[i, j] > 0:  # a pair that did not move is in neither of the other kinds
            known.append((float(strength[i, j]), int(block[i]), j, float(was[i, j]), float(now[i, j])))
    return sorted(known, key=lambda pair: (-pair[0], pair[1:3]))[:count]


def _once(found: list[_Found], n: int) -> list[_Found]:
    """Return the strongest pairs, each text once."""
    taken: set[int] = set()
    chosen: list[_Found] = []
    for pair in found:
        if len(chosen) < n and not taken & {pair[1], pair[2]}:
            taken |= {pair[1], pair[2]}
            chosen.append(pair)
    return chosen
