"""What every clusterer of vectors offers."""

from __future__ import annotations

from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from shoal.vectors import Vectors

State = dict[str, NDArray[np.generic]]


class Clusterer(Protocol):
    """A partition of a vector space, learnt from vectors.

    ``scores`` is a pure function of one row: the cluster of a text is the arg max of its scores, the probabilities
    are their softmax, and fitted texts and new texts follow the same rule.
    """

    kind: ClassVar[str]
    centers: Vectors
    n_iter: int

    def scores(self, vectors: Vectors) -> NDArray[np.float64]:
        """Return a log-score per row and cluster, (n, n_clusters)."""

    def state(self) -> State:
        """Return its arrays, for safetensors."""

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Rebuild it from :meth:`state`."""
