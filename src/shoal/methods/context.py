"""What a fit knows beside the parameters: made by ``fit``, passed down, gone when it is done."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.clustering import Topic
from shoal.methods.inputs import Rows
from shoal.training import Callback

Pairs = tuple[list[str], list[str]]


@dataclass
class FitContext:
    """One fit.

    Attributes
    ----------
    rows : Rows
        The texts or vectors.
    rng : RandomState
        All randomness comes from it.
    checkpoints : Path, optional
        Where the states of a training are kept.
    callbacks : sequence of Callback
        Callbacks of the training.
    pairs : two lists of str, optional
        Augmented views of the texts that were made elsewhere.
    history : list of dict
        What has happened so far, in order; becomes ``history_``.
    start_labels : ndarray of int64, optional
        Labels before any training; by default the final ones.
    topics : list of tuple of Topic, optional
        The topics of each cluster, if the method finds any.
    """

    rows: Rows
    rng: np.random.RandomState
    checkpoints: Path | None = None
    callbacks: Sequence[Callback] = ()
    pairs: Pairs | None = None
    history: list[dict[str, Any]] = field(default_factory=list)
    start_labels: NDArray[np.int64] | None = None
    topics: list[tuple[Topic, ...]] | None = None

    def draw_seed(self) -> int:
        """Draw a seed."""
        return int(self.rng.randint(np.iinfo(np.int32).max))

    def log(self, stage: str, started: float, **facts: Any) -> None:
        """Add an entry to the history."""
        self.history.append({"stage": stage, "seconds": round(time.perf_counter() - started, 3), **facts})


def outcome_of(training: Mapping[str, Any] | None = None, choice: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return ``outcome_`` in its one form: how the training ended, and what was chosen.

    Examples
    --------
    >>> outcome_of()
    {'rolled_back': False, 'reason': '', 'start': {}, 'end': {}, 'stages': [], 'choice': None}
    """
    nothing = {"rolled_back": False, "reason": "", "start": {}, "end": {}, "stages": []}
    return {**nothing, **(training or {}), "choice": None if choice is None else dict(choice)}


def saved_outcome(saved: Mapping[str, Any] | None) -> dict[str, Any]:
    """Read an outcome from a saved model; older ones of ``shoal`` have the choice on top and the training inside."""
    if saved is None or "weighed" not in saved:
        return outcome_of(saved, (saved or {}).get("choice"))
    return outcome_of(saved["training"], {name: saved[name] for name in ("reason", "branch", "smoothing", "weighed")})
