"""A stage of training: one objective and its length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shoal.training.guard import REGRET
from shoal.training.objective import Objective
from shoal.training.options import TrainingOptions


@dataclass(frozen=True)
class Stage:
    """A stage of training.

    Attributes
    ----------
    name : str
        Its name in the progress line and the history.
    objective : Objective
        What is minimised.
    epochs, max_steps : int, optional
        Its length; by default as in the options.
    refresh_every : int or "epoch", optional
        Steps between calls to ``objective.refresh``, or at the end of every epoch; by default never.
    learning_rate : float, optional
        Learning rate of everything trained; by default as in the options.
    watched : bool, default=True
        Whether there are clusters to evaluate. Off for pre-training: no guard, no early stopping; the guard then
        compares with the start of the first watched stage.
    regret : float
        How far the final quality (see :class:`~shoal.training.Signs`) may be below the best without a rollback.
    """

    name: str
    objective: Objective
    epochs: int | None = None
    max_steps: int | None = None
    refresh_every: int | Literal["epoch"] | None = None
    learning_rate: float | None = None
    watched: bool = True
    regret: float = REGRET

    def refresh_due(self, step: int, epoch_over: bool) -> bool:
        """Tell whether to refresh the objective after ``step``."""
        if self.refresh_every is None:
            return False
        return epoch_over if self.refresh_every == "epoch" else step % self.refresh_every == 0

    def n_steps(self, options: TrainingOptions, steps_per_epoch: int) -> int:
        """Return how many steps it has."""
        limits = [limit for limit in (self.max_steps, options.max_steps) if limit is not None]
        return min([(self.epochs or options.epochs) * steps_per_epoch, *limits])
