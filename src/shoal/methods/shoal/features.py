"""1. The features of each text: by meaning, the encoder's vector; by words, statistics of its words in this corpus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from shoal.clusterers import graph_of, nearest_neighbours
from shoal.vectors import Vectors, unit_rows


@dataclass(frozen=True)
class Features:
    """The features of some rows, by meaning and by words.

    Attributes
    ----------
    meaning : ndarray of shape (n, d)
        Unit rows: the encoder's vectors, centred.
    words : ndarray of shape (n, e), optional
        Unit rows: word statistics in few dimensions; None if there are no texts.
    counts : csr_matrix of shape (n, v), optional
        Unit rows: the same statistics, one column per word.
    """

    meaning: Vectors
    words: Vectors | None = None
    counts: csr_matrix | None = None

    @property
    def each(self) -> tuple[Vectors, ...]:
        """The features there are: by meaning, and by words if there are texts."""
        return (self.meaning,) if self.words is None else (self.meaning, self.words)

    @property
    def joint(self) -> Vectors:
        """All features side by side, as unit rows."""
        return unit_rows(np.hstack(self.each))

    def weighted(self, weight: float) -> Features:
        """Return the same features with this weight of the words against the meaning."""
        if weight == 1 or self.words is None or self.counts is None:
            return self
        return Features(self.meaning, self.words * np.float32(weight), self.counts * np.float32(weight))

    def rows(self, rows: NDArray[np.int64]) -> Features:
        """Return some of the rows."""
        return Features(
            self.meaning[rows],
            None if self.words is None else self.words[rows],
            None if self.counts is None else self.counts[rows],
        )

    def graphs(self, n_neighbors: int) -> list[csr_matrix]:
        """Return the neighbour graph by meaning, and the one by words, which comes from ``counts``."""
        sources: list[Vectors | csr_matrix] = [self.meaning]
        if self.counts is not None:
            sources.append(self.counts)
        return [graph_of(nearest_neighbours(source, n_neighbors)) for source in sources]
