"""Clusters as linear heads, one per part of a row, whose log-probabilities are averaged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.clusterers.base import State
from shoal.clusterers.softmax_regression import SoftmaxHead
from shoal.vectors import Vectors, unit_rows

# The least typicality: it must be above 0, or nothing would be left of the order of the clusters.
LEAST_COSINE = 1e-3


class Heads:
    """A partition by softmax heads, each on its own columns of a row.

    Parameters
    ----------
    heads : sequence of SoftmaxHead
        One per part, in the order of the columns.
    centers : ndarray of shape (n_clusters, d)
        Mean of each cluster's rows; d is the width of all parts together.

    Examples
    --------
    >>> head = SoftmaxHead(np.eye(2, dtype=np.float32), np.zeros(2, dtype=np.float32))
    >>> Heads([head, head], np.eye(2, 4)).scores(np.array([[3.0, 0.0, 0.0, 1.0]])).argmax(axis=1).tolist()
    [0]
    """

    kind: ClassVar[str] = "heads"
    n_iter = 1

    def __init__(self, heads: Sequence[SoftmaxHead], centers: Vectors) -> None:
        self.heads = list(heads)
        self.centers = centers

    def scores(self, vectors: Vectors) -> NDArray[np.float64]:
        """Return the heads' mean log-probability of each cluster, (n, n_clusters)."""
        return mean_log_probabilities(self.heads, self._parts(vectors)).astype(np.float64)

    def typical(self, vectors: Vectors, labels: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return how typical of its cluster each row is: the cosine of each part with its centre, (n, n_heads).

        A cosine of 0 or less becomes ``LEAST_COSINE``, and that of a part without content infinity: it says nothing.
        """
        columns = []
        for part, centers in zip(self._parts(vectors), self._parts(self.centers), strict=True):
            cosines = np.einsum("ij,ij->i", part, unit_rows(centers)[labels])
            columns.append(np.where(part.any(axis=1), np.maximum(cosines, LEAST_COSINE), np.inf))
        return np.stack(columns, axis=1).astype(np.float32)

    def _parts(self, vectors: Vectors) -> list[Vectors]:
        """Return the columns of each head."""
        return np.split(vectors, np.cumsum([len(head.weights) for head in self.heads])[:-1], axis=1)

    def state(self) -> State:
        """Return the arrays that :meth:`from_state` needs."""
        arrays: State = {"centers": self.centers}
        for number, head in enumerate(self.heads):
            arrays |= {f"weights_{number}": head.weights, f"bias_{number}": head.bias}
        return arrays

    @classmethod
    def from_state(cls, state: State) -> Heads:
        """Rebuild it from :meth:`state`."""
        arrays = {name: np.asarray(array, dtype=np.float32) for name, array in state.items()}
        n_heads = sum(name.startswith("weights_") for name in arrays)
        heads = [SoftmaxHead(arrays[f"weights_{number}"], arrays[f"bias_{number}"]) for number in range(n_heads)]
        return cls(heads, arrays["centers"])


def mean_log_probabilities(heads: Sequence[SoftmaxHead], parts: Sequence[Vectors]) -> Vectors:
    """Return the mean of the heads' log-probabilities, one head per part of the row."""
    total: Vectors = np.mean(
        [head.log_probabilities(part) for head, part in zip(heads, parts, strict=True)], axis=0, dtype=np.float32
    )
    return total
