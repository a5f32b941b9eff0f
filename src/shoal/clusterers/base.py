"""What every clusterer of vectors offers."""

from __future__ import annotations

from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from shoal.vectors import Vectors

State = dict[str, NDArray[np.generic]]


class Clusterer(Protocol):
    """A partition of a vector space that was learnt from vectors.

    ``scores`` is a pure function of one row: the cluster of a text is the arg max of its scores and the
    probabilities are their softmax, so that the texts it was fitted on and texts never seen take the same way.
    """

    kind: ClassVar[str]
    centers: Vectors
    n_iter: int

    def scores(self, vectors: Vectors) -> NDArray[np.float64]:
        """Return a log-score for each row and cluster, (n, n_clusters)."""

    def state(self) -> State:
        """Return the arrays that make it up, for safetensors."""

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Build it again from :meth:`state`."""
