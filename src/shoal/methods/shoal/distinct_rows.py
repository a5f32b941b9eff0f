"""The rows of a fit, each distinct text once; a sample of them; clusters numbered in their order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.methods.inputs import Rows, row_keys


@dataclass(frozen=True)
class DistinctRows:
    """The rows of a fit: which are distinct, and the first row of each; a repeated text counts once."""

    rows: Rows
    keys: NDArray[np.uint64]
    first: NDArray[np.int64]
    copies: NDArray[np.int64]

    @classmethod
    def of(cls, rows: Rows) -> DistinctRows:
        """Find the distinct rows."""
        return cls(rows, *np.unique(row_keys(rows), return_index=True, return_inverse=True))

    def draw(self, size: int, rng: np.random.RandomState) -> DistinctRows:
        """Return a random sample of the distinct rows, without copies; all of it if there are no more than ``size``."""
        if len(self.keys) <= size:
            return self
        drawn = np.sort(rng.permutation(len(self.keys))[:size])
        return DistinctRows(self.rows, self.keys[drawn], self.first[drawn], np.arange(size))

    def numbered(self, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the labels of the distinct rows, numbered in the order of the rows."""
        order = np.argsort(self.first)
        numbered = np.empty_like(labels)
        numbered[order] = numbered_in_order(labels[order])
        return numbered


def numbered_in_order(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the labels with clusters numbered by their first rows: the numbers then do not depend on the seed.

    Examples
    --------
    >>> numbered_in_order(np.array([2, 2, 0, 1, 0])).tolist()
    [0, 0, 1, 2, 1]
    """
    _, first, owner = np.unique(labels, return_index=True, return_inverse=True)
    numbers = np.empty(len(first), dtype=np.int64)
    numbers[np.argsort(first)] = np.arange(len(first))
    return numbers[owner]
