"""A Gaussian mixture."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from shoal.clusterers.base import State
from shoal.vectors import Vectors


class Mixture:
    """Gaussians with diagonal covariances; scores are log joint probabilities, so their softmax is the posterior.

    Diagonal, because a full covariance of sentence vectors has more entries than a corpus has texts.
    """

    kind: ClassVar[str] = "mixture"

    def __init__(self, means: Vectors, variances: Vectors, weights: NDArray[np.float64]) -> None:
        self.centers = means
        self.variances = variances
        self.weights = weights
        self.n_iter = 1

    def scores(self, vectors: Vectors) -> NDArray[np.float64]:
        """Return log weight + log density per row and component."""
        precision = 1 / self.variances.astype(np.float64)
        points, means = vectors.astype(np.float64), self.centers.astype(np.float64)
        squares = (points**2) @ precision.T - 2 * points @ (means * precision).T + (means**2 * precision).sum(axis=1)
        constant = np.log(2 * np.pi * self.variances.astype(np.float64)).sum(axis=1)
        scores: NDArray[np.float64] = np.log(self.weights) - 0.5 * (squares + constant)
        return scores

    def state(self) -> State:
        """Return means, variances and weights."""
        return {"centers": self.centers, "variances": self.variances, "weights": self.weights}

    @classmethod
    def from_state(cls, state: State) -> Mixture:
        """Rebuild it from :meth:`state`."""
        means, variances = (np.asarray(state[name], dtype=np.float32) for name in ("centers", "variances"))
        return cls(means, variances, np.asarray(state["weights"], dtype=np.float64))


def fit_mixture(
    vectors: Vectors, n_clusters: int, rng: np.random.RandomState, *, n_init: int = 1, max_iter: int = 300
) -> Mixture:
    """Fit by expectation maximisation from a k-means start; the best of ``n_init`` by likelihood."""
    model = GaussianMixture(n_clusters, covariance_type="diag", n_init=n_init, max_iter=max_iter, random_state=rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # scikit-learn refuses a single text; the same text twice has the same mean
        model.fit(np.repeat(vectors, 2 if len(vectors) == 1 else 1, axis=0).astype(np.float64))
    mixture = Mixture(model.means_.astype(np.float32), model.covariances_.astype(np.float32), model.weights_)
    mixture.n_iter = int(model.n_iter_)
    return mixture
