"""Soft assignments whose clusters have given sizes, by Sinkhorn's algorithm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

from shoal.vectors import Float

# Within this spread of scores / temperature no product of the scalings leaves float32's range, e^±87.
_SAFE_SPREAD = 42.0


def sinkhorn(
    scores: NDArray[Float], sizes: NDArray[Any] | None = None, temperature: float = 0.05, n_iterations: int = 50
) -> NDArray[Float]:
    r"""Soft assignment whose clusters have given sizes: entropic optimal transport.

    The plan closest to :math:`\exp(s / \tau)` under the two sums below, by Sinkhorn's alternate scaling of
    columns and rows (Cuturi, 2013; used for clustering by Asano et al., 2020): in the log domain where the
    scores are far apart, and otherwise by one factor per column and per row, which is many times faster.

    Parameters
    ----------
    scores : ndarray of shape (n, k)
        Higher where the cluster suits the row better.
    sizes : ndarray of shape (k,), optional
        Shares of the clusters, or counts: they are divided by their sum. Equal shares when None.
    temperature : float
        :math:`\tau` > 0; small values give nearly hard assignments and need more iterations.
    n_iterations : int
        Number of sweeps.

    Returns
    -------
    ndarray of shape (n, k)
        Rows sum to 1, because each sweep ends with them; columns sum to n * sizes at convergence.

    Examples
    --------
    >>> sinkhorn(np.array([[2.0, 1.0], [2.0, 0.0]]), temperature=0.5).round(4)  # both rows prefer column 0
    array([[0.2689, 0.7311],
           [0.7311, 0.2689]])
    """
    n, k = scores.shape
    shares = np.ones(k) if sizes is None else np.asarray(sizes)
    columns = (n * shares / shares.sum()).clip(np.finfo(scores.dtype).tiny).astype(scores.dtype)
    plan: Any = scores / scores.dtype.type(temperature)
    if n and plan.max() - plan.min() < _SAFE_SPREAD and columns.min() > math.exp(-_SAFE_SPREAD):
        np.exp(plan - plan.max(), out=plan)
        rows = np.ones(n, dtype=plan.dtype)
        for _ in range(n_iterations):
            scaling = columns / (rows @ plan)
            rows = 1 / (plan @ scaling)
        plan *= scaling
        plan /= plan.sum(axis=1, keepdims=True)
        return np.asarray(plan)
    for _ in range(n_iterations):
        plan = plan - logsumexp(plan, axis=0) + np.log(columns)
        plan = log_softmax(plan, axis=1)
    return np.asarray(np.exp(plan))
