"""Callbacks: observe a run, stop it early, or log its metrics elsewhere."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from shoal.cache import write_atomically
from shoal.errors import MissingExtraError, ParameterError
from shoal.training.batch import CorpusViews, VectorCorpus
from shoal.vectors import Vectors

Record = dict[str, Any]


class Callback:
    """Observes a run; override the methods you need."""

    def on_start(self, views: CorpusViews | VectorCorpus, encoder: nn.Module) -> None:
        """Receive all views of the texts (or their vectors) and the encoder before the first step; not on resume."""

    def on_stage_start(self, stage: str, n_steps: int) -> None:
        """Run when a stage begins."""

    def on_step(self, record: Record) -> None:
        """Receive the record of a step."""

    def on_embeddings(self, record: Record, embeddings: Vectors, labels: NDArray[np.int64]) -> None:
        """Receive the vectors and clusters of each evaluation, that at step 0 included; do not modify them."""

    def on_evaluation(self, record: Record) -> str:
        """Receive the record of an evaluation; return a non-empty reason to end the stage."""
        return ""

    def on_end(self) -> None:
        """Run when training is over."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state to save in a checkpoint."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore what :meth:`state_dict` returned."""


class StageSnapshots(Callback):
    """Saves the vectors and clusters of the texts before each stage, one ``.npz`` file per stage.

    Parameters
    ----------
    folder : Path
        Where the files go: ``before-STAGE.npz`` with ``vectors`` and ``labels``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def on_embeddings(self, record: Record, embeddings: Vectors, labels: NDArray[np.int64]) -> None:
        """Save the first evaluation of a stage."""
        if record["step"] == 0:
            name = record["stage"].replace(" ", "-")
            content = io.BytesIO()
            np.savez_compressed(content, vectors=embeddings, labels=labels)
            write_atomically(self.folder / f"before-{name}.npz", content.getvalue())


class EarlyStopping(Callback):
    """Ends a stage when the clusters have settled: almost no label changed since the last evaluation.

    Parameters
    ----------
    tolerance : float
        The share of labels that may change.
    patience : int, default=1
        Evaluations in a row that must stay below ``tolerance``.

    Examples
    --------
    >>> stopping = EarlyStopping(tolerance=0.01)
    >>> stopping.on_evaluation({"moved": 0.2}), stopping.on_evaluation({"moved": 0.001})
    ('', 'settled: 0.10 % of the labels moved')
    """

    def __init__(self, tolerance: float, patience: int = 1) -> None:
        if not 0 <= tolerance <= 1:
            raise ParameterError(f"tolerance={tolerance!r} but it is a share of labels; pass a value from 0 to 1.")
        self.tolerance = tolerance
        self.patience = patience
        self._settled = 0

    def on_stage_start(self, stage: str, n_steps: int) -> None:
        """Reset the count."""
        self._settled = 0

    def on_evaluation(self, record: Record) -> str:
        """Count evaluations in a row with few changed labels."""
        self._settled = self._settled + 1 if record["moved"] < self.tolerance else 0
        return f"settled: {record['moved']:.2%} of the labels moved".replace("%", " %") if self._due else ""

    @property
    def _due(self) -> bool:
        """Whether the labels have been stable for long enough."""
        return self._settled >= self.patience

    def state_dict(self) -> dict[str, Any]:
        """Return the count of stable evaluations."""
        return {"settled": self._settled}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the count."""
        self._settled = state["settled"]


class TensorBoard(Callback):
    """Logs every metric of the history to TensorBoard.

    Parameters
    ----------
    folder : str or Path
        Where the event files go.
    """

    def __init__(self, folder: str | Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as reason:
            raise MissingExtraError("log_to='tensorboard'", "tensorboard") from reason
        self._writer: Any = SummaryWriter(str(folder))

    def on_step(self, record: Record) -> None:
        """Write the figures."""
        for name, value in _figures(record):
            self._writer.add_scalar(f"{record['stage']}/{name}", value, record["step"])

    def on_evaluation(self, record: Record) -> str:
        """Write the figures."""
        self.on_step(record)
        return ""

    def on_end(self) -> None:
        """Close the file."""
        self._writer.close()


class MLflow(Callback):
    """Logs every metric of the history to the active MLflow run."""

    def __init__(self) -> None:
        try:
            import mlflow
        except ImportError as reason:
            raise MissingExtraError("log_to='mlflow'", "mlflow") from reason
        self._mlflow: Any = mlflow

    def on_step(self, record: Record) -> None:
        """Write the figures."""
        figures = {f"{record['stage']}.{name}": value for name, value in _figures(record)}
        self._mlflow.log_metrics(figures, step=record["step"])

    def on_evaluation(self, record: Record) -> str:
        """Write the figures."""
        self.on_step(record)
        return ""


def make_logger(name: str) -> Callback:
    """Return the logger called ``name``: ``"mlflow"``, ``"tensorboard"`` or ``"tensorboard:FOLDER"``."""
    kind, _, folder = name.partition(":")
    if kind == "tensorboard":
        return TensorBoard(folder or "runs")
    if name == "mlflow":
        return MLflow()
    raise ParameterError(f"log_to={name!r} is unknown; pass 'tensorboard', 'tensorboard:FOLDER' or 'mlflow'.")


def states_of(callbacks: Sequence[Callback]) -> dict[str, dict[str, Any]]:
    """Return the state of each callback, to be saved in a checkpoint.

    Examples
    --------
    >>> states_of([Callback(), Callback()])
    {'Callback': {}, 'Callback 2': {}}
    """
    return {name: callback.state_dict() for name, callback in _named(callbacks).items()}


def restore_states(callbacks: Sequence[Callback], states: Mapping[str, Mapping[str, Any]]) -> None:
    """Restore what :func:`states_of` returned."""
    for name, callback in _named(callbacks).items():
        if name in states:  # a new callback has no state to restore
            callback.load_state_dict(states[name])


def _named(callbacks: Sequence[Callback]) -> dict[str, Callback]:
    """Name each callback by its class, with a number from the second of a class on."""
    named: dict[str, Callback] = {}
    for callback in callbacks:
        kind = type(callback).__name__
        number = sum(type(other).__name__ == kind for other in named.values()) + 1
        named[kind if number == 1 else f"{kind} {number}"] = callback
    return named


def _figures(record: Record) -> list[tuple[str, float]]:
    """Return the numbers in a record, except its position."""
    where = ("step", "epoch")
    return [
        (name, float(value)) for name, value in record.items() if name not in where and isinstance(value, int | float)
    ]
