"""Clusters as linear heads, one per part of a row, whose log-probabilities are averaged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.clusterers.base import State
from shoal.clusterers.softmax_regression import SoftmaxHead
from shoal.vectors import Vectors


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
        ends = np.cumsum([len(head.weights) for head in self.heads])[:-1]
        return mean_log_probabilities(self.heads, np.split(vectors, ends, axis=1)).astype(np.float64)

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
