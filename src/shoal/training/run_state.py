"""The state of a run: everything that changes between steps, besides weights and optimiser."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.training.guard import BestState, Guard, Signs

# A loss may overflow once; this many unusable steps in a row mean that the run is lost.
BROKEN_STEPS = 3
_NO_LABELS = np.empty(0, dtype=np.int64)
_PLAIN = ("stage", "step", "broken", "finished", "ended", "alarm", "outcomes", "stage_start")


@dataclass
class RunState:
    """The state of a run.

    Attributes
    ----------
    stage, step : int
        Number of the stage, and of steps taken in it.
    broken : int
        Steps in a row whose gradient was not finite.
    finished : bool
        Whether the stage is over and its outcome recorded.
    ended, alarm : str
        Why the stage ended before its last step, and what went wrong; empty if not.
    outcomes : list of dict
        Outcomes of the finished stages.
    stage_start : dict
        The signs at the stage's start.
    labels, start_labels : ndarray of int64, shape (n,)
        Labels at the last evaluation and at the run's start.
    undone_labels : ndarray of int64, shape (n,), optional
        Labels of the last end of a stage that was undone.
    signs : Signs, optional
        Signs at the last evaluation.
    guard : Guard, optional
        Compares the run with its start.
    first, best : BestState
        The state at the run's start, and the stage's best one.
    """

    stage: int = 0
    step: int = 0
    broken: int = 0
    finished: bool = False
    ended: str = ""
    alarm: str = ""
    outcomes: list[dict[str, Any]] = field(default_factory=list)
    stage_start: dict[str, Any] = field(default_factory=dict)
    undone_labels: NDArray[np.int64] | None = None
    labels: NDArray[np.int64] = field(default_factory=lambda: _NO_LABELS)
    start_labels: NDArray[np.int64] = field(default_factory=lambda: _NO_LABELS)
    signs: Signs | None = None
    guard: Guard | None = None
    first: BestState = field(default_factory=BestState)
    best: BestState = field(default_factory=BestState)

    def begin_stage(self, stage: int) -> None:
        """Move to the start of a stage."""
        self.stage, self.step, self.broken, self.finished = stage, 0, 0, False
        self.ended, self.alarm = "", ""
        self.best = BestState()

    def take_step(self, *, usable: bool) -> None:
        """Count a step; raise the alarm if losses and gradients stay broken."""
        self.step += 1
        self.broken = 0 if usable else self.broken + 1
        if self.broken == BROKEN_STEPS:
            self.alarm = self.ended = f"loss or gradient not finite for {BROKEN_STEPS} steps in a row"

    def end_stage(self, name: str, *, watched: bool, undone: str) -> None:
        """Record the outcome of the stage; ``undone`` says why its best state was restored, empty if it was not."""
        self.outcomes.append(
            {
                "stage": name,
                "watched": watched,
                "steps": self.step,
                "kept_step": self.best.step if undone else self.step,
                "rolled_back": bool(undone),
                "reason": undone,
                "stopped": self.ended,
                "start": self.stage_start,
                "end": self.signs.as_dict() if self.signs is not None else {},
            }
        )
        self.finished = True

    def undo_run(self) -> None:
        """Record that nothing of the run was kept: what the stages before the last have learnt is undone too."""
        for stage in self.outcomes:
            if stage["watched"] and stage["steps"]:
                stage |= {"kept_step": 0, "rolled_back": True, "reason": stage["reason"] or "undone with the whole run"}

    def outcome(self) -> dict[str, Any]:
        """Return the outcome of the whole run."""
        watched = [stage for stage in self.outcomes if stage["watched"]] or self.outcomes
        return {
            "trained": any(stage["kept_step"] for stage in watched),
            "rolled_back": any(stage["rolled_back"] for stage in self.outcomes),
            "reason": "; ".join(stage["reason"] for stage in self.outcomes if stage["reason"]),
            "start": next((stage["start"] for stage in self.outcomes if stage["start"]), {}),
            "end": self.outcomes[-1]["end"],
            "stages": self.outcomes,
        }

    def state_dict(self) -> dict[str, Any]:
        """Return everything as plain values and tensors."""
        return {
            **{name: getattr(self, name) for name in _PLAIN},
            "labels": self.labels,
            "undone_labels": self.undone_labels,
            "start_labels": self.start_labels,
            "signs": self.signs and self.signs.as_dict(),
            "guard": self.guard and self.guard.state_dict(),
            "first": self.first.state_dict(),
            "best": self.best.state_dict(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> RunState:
        """Reverse :meth:`state_dict`."""
        first, best = BestState(), BestState()
        first.load_state_dict(state["first"])
        best.load_state_dict(state["best"])
        return cls(
            **{name: state[name] for name in _PLAIN},
            labels=np.asarray(state["labels"]),
            undone_labels=None if state["undone_labels"] is None else np.asarray(state["undone_labels"]),
            start_labels=np.asarray(state["start_labels"]),
            signs=state["signs"] and Signs.from_dict(state["signs"]),
            guard=state["guard"] and Guard.from_state(state["guard"]),
            first=first,
            best=best,
        )
