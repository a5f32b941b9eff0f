"""What training returns: of a step, and of a whole run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.training.callbacks import Record


@dataclass(frozen=True)
class TrainingResult:
    """The result of a run, besides the weights.

    Attributes
    ----------
    history : list of dict
        One record per step and per evaluation.
    outcome : dict
        Signs at ``start`` and ``end``, ``rolled_back``, ``reason``, and the same for each of the ``stages``.
    start_labels : ndarray of int64, shape (n,)
        Labels before the first step.
    undone_labels : ndarray of int64, shape (n,), or None
        Labels of the last end of a stage that was undone; None if none was.
    """

    history: list[Record]
    outcome: dict[str, Any]
    start_labels: NDArray[np.int64]
    undone_labels: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Learnt:
    """The result of one step: the terms of the loss, whether the gradient could be used, and how much was read."""

    terms: dict[str, float]
    usable: bool
    texts: int
    tokens: int
    computed: int
