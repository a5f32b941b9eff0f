"""What may listen to a run: stop it early, or write its figures elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from shoal.errors import MissingExtraError, ParameterError
from shoal.training.batch import CorpusViews, VectorCorpus
from shoal.vectors import Vectors

Record = dict[str, Any]


class Callback:
    """Listens to a run; override what is needed."""

    def on_start(self, views: CorpusViews | VectorCorpus, encoder: nn.Module) -> None:
        """See all views of the texts, or their vectors, and the encoder before the first step; not on resume."""

    def on_stage_start(self, stage: str, n_steps: int) -> None:
        """Hear that a stage begins."""

    def on_step(self, record: Record) -> None:
        """Hear what a step gave."""

    def on_embeddings(self, record: Record, embeddings: Vectors, labels: NDArray[np.int64]) -> None:
        """See the vectors and clusters of an evaluation, the first of a stage (step 0) included; change nothing."""

    def on_evaluation(self, record: Record) -> str:
        """Hear what an evaluation gave; a reason that is not empty ends the stage."""
        return ""

    def on_end(self) -> None:
        """Hear that the run is over."""

    def state_dict(self) -> dict[str, Any]:
        """Return what a checkpoint must hold."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Undo :meth:`state_dict`."""


class StageSnapshots(Callback):
    """Keeps the vectors and clusters of the texts as each stage found them, one ``.npz`` file a stage.

    Parameters
    ----------
    folder : Path
        Where the files go: ``before-STAGE.npz`` with ``vectors`` and ``labels``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def on_embeddings(self, record: Record, embeddings: Vectors, labels: NDArray[np.int64]) -> None:
        """Write the first evaluation of a stage."""
        if record["step"] == 0:
            self.folder.mkdir(parents=True, exist_ok=True)
            name = record["stage"].replace(" ", "-")
            np.savez_compressed(self.folder / f"before-{name}.npz", vectors=embeddings, labels=labels)


class EarlyStopping(Callback):
    """Ends a stage when the clusters have settled: almost no label moved since the last evaluation.

    Parameters
    ----------
    tolerance : float
        The share of labels that may move.
    patience : int, default=1
        Evaluations in a row at which fewer than that must have moved.

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
        """Forget the stage before."""
        self._settled = 0

    def on_evaluation(self, record: Record) -> str:
        """Count evaluations at which little moved."""
        self._settled = self._settled + 1 if record["moved"] < self.tolerance else 0
        return f"settled: {record['moved']:.2%} of the labels moved".replace("%", " %") if self._due else ""

    @property
    def _due(self) -> bool:
        """Whether it has been quiet for long enough."""
        return self._settled >= self.patience

    def state_dict(self) -> dict[str, Any]:
        """Return the count."""
        return {"settled": self._settled}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Set the count."""
        self._settled = state["settled"]


class TensorBoard(Callback):
    """Writes every figure of the history to TensorBoard.

    Parameters
    ----------
    folder : str or Path
        Where its files go.
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
    """Writes every figure of the history to the active MLflow run."""

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


def make_writer(name: str) -> Callback:
    """Return the writer called ``name``: ``"mlflow"``, ``"tensorboard"`` or ``"tensorboard:FOLDER"``."""
    kind, _, folder = name.partition(":")
    if kind == "tensorboard":
        return TensorBoard(folder or "runs")
    if name == "mlflow":
        return MLflow()
    raise ParameterError(f"log_to={name!r} is unknown; pass 'tensorboard', 'tensorboard:FOLDER' or 'mlflow'.")


def _figures(record: Record) -> list[tuple[str, float]]:
    """Return the numbers of a record, but not where it stands."""
    where = ("step", "epoch")
    return [
        (name, float(value)) for name, value in record.items() if name not in where and isinstance(value, int | float)
    ]
