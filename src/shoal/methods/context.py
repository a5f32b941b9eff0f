"""The context of one fit: created by ``fit``, passed down, discarded at the end."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.clustering import Topic
from shoal.methods.inputs import Rows

if TYPE_CHECKING:
    from shoal.training import Callback

Pairs = tuple[list[str], list[str]]


@dataclass
class FitContext:
    """What one fit works on, besides the parameters.

    Attributes
    ----------
    rows : Rows
        The texts or vectors.
    rng : RandomState
        The random generator of the fit.
    checkpoints : Path, optional
        Where the trainer keeps its checkpoints.
    callbacks : sequence of Callback
        Callbacks of the trainer.
    pairs : two lists of str, optional
        Augmented views of the texts, made elsewhere.
    history : list of dict
        Records so far, in order; becomes ``history_``.
    start_labels : ndarray of int64, optional
        Labels before any training; by default the final ones.
    undone_labels : ndarray of int64, optional
        Labels of the end of training, if the guard undid it.
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
    undone_labels: NDArray[np.int64] | None = None
    topics: list[tuple[Topic, ...]] | None = None

    def draw_seed(self) -> int:
        """Draw a seed."""
        return int(self.rng.randint(np.iinfo(np.int32).max))

    def log(self, stage: str, started: float, **facts: Any) -> None:
        """Add an entry to the history."""
        self.history.append({"stage": stage, "seconds": round(time.perf_counter() - started, 3), **facts})


def outcome_of(training: Mapping[str, Any] | None = None, choice: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return ``outcome_`` in its one form: how training ended, and what was chosen.

    Examples
    --------
    >>> outcome_of()
    {'rolled_back': False, 'reason': '', 'start': {}, 'end': {}, 'stages': [], 'trained': False, 'choice': None}
    """
    nothing: dict[str, Any] = {"rolled_back": False, "reason": "", "start": {}, "end": {}, "stages": []}
    kept = any(stage.get("kept_step") for stage in (training or {}).get("stages", []))
    return {**nothing, "trained": kept, **(training or {}), "choice": None if choice is None else dict(choice)}


def saved_outcome(saved: Mapping[str, Any] | None) -> dict[str, Any]:
    """Read the outcome of a saved model; older ``shoal`` models have training nested in the choice."""
    if saved is None or "weighed" not in saved:
        return outcome_of(saved, (saved or {}).get("choice"))
    return outcome_of(saved["training"], {name: saved[name] for name in ("reason", "branch", "smoothing", "weighed")})
