"""Clusters under Student's t kernel: the head of DEC, SCCL and related methods after training."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.clusterers.base import State
from shoal.vectors import Vectors, squared_distances


class StudentT:
    """Soft assignment to centres by Student's t kernel (SCCL, eq. 3); its softmax is q.

    Parameters
    ----------
    centers : ndarray of shape (n_clusters, d)
        The centres.
    alpha : float, default=1
        Degrees of freedom.
    scale : float, default=1
        Vectors and centres are multiplied by this before distances are taken.

    Examples
    --------
    >>> head = StudentT(np.array([[0.0], [1.0]], dtype=np.float32))
    >>> np.exp(head.scores(np.array([[0.0]], dtype=np.float32))).round(4).tolist()
    [[0.6667, 0.3333]]
    """

    kind: ClassVar[str] = "student-t"
    n_iter = 1

    def __init__(self, centers: Vectors, alpha: float = 1.0, scale: float = 1.0) -> None:
        self.centers = centers
        self.alpha = alpha
        self.scale = scale

    def scores(self, vectors: Vectors) -> NDArray[np.float64]:
        """Return log q."""
        squares = squared_distances(vectors, self.centers) * self.scale**2
        kernel = -(self.alpha + 1) / 2 * np.log1p(squares / self.alpha)
        return np.asarray(kernel - np.logaddexp.reduce(kernel, axis=1, keepdims=True))

    def state(self) -> State:
        """Return centres, degrees of freedom and scale."""
        return {"centers": self.centers, "alpha": np.array([self.alpha]), "scale": np.array([self.scale])}

    @classmethod
    def from_state(cls, state: State) -> StudentT:
        """Rebuild it from :meth:`state`."""
        centers = np.asarray(state["centers"], dtype=np.float32)
        return cls(centers, float(state["alpha"][0]), float(state["scale"][0]))
