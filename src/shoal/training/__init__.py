"""Training: one loop for every method."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.training.batch import LEFT, ORIGINAL, RIGHT, Batch, CorpusViews, VectorBatch, VectorCorpus
    from shoal.training.callbacks import Callback, EarlyStopping, MLflow, StageSnapshots, TensorBoard, make_logger
    from shoal.training.checkpoint import Checkpoints
    from shoal.training.guard import BestState, Guard, Signs
    from shoal.training.objective import Objective
    from shoal.training.options import TrainingOptions
    from shoal.training.partition import best_kmeans, first_kmeans, kmeans_from
    from shoal.training.randomness import seeded
    from shoal.training.result import TrainingResult
    from shoal.training.sampler import EpochSampler
    from shoal.training.stage import Stage
    from shoal.training.team import Team, team_of
    from shoal.training.trainer import Trainer

__all__ = [
    "LEFT",
    "ORIGINAL",
    "RIGHT",
    "Batch",
    "BestState",
    "Callback",
    "Checkpoints",
    "CorpusViews",
    "EarlyStopping",
    "EpochSampler",
    "Guard",
    "MLflow",
    "Objective",
    "Signs",
    "Stage",
    "StageSnapshots",
    "Team",
    "TensorBoard",
    "Trainer",
    "TrainingOptions",
    "TrainingResult",
    "VectorBatch",
    "VectorCorpus",
    "best_kmeans",
    "first_kmeans",
    "kmeans_from",
    "make_logger",
    "seeded",
    "team_of",
]

_MODULES = ("batch", "callbacks", "checkpoint", "guard", "objective", "options", "partition", "randomness", "sampler")


def __getattr__(name: str) -> Any:
    """Import a name on first use: what only reads the options of the trainer does not wait for torch."""
    if name not in __all__:
        raise AttributeError(f"module 'shoal.training' has no attribute {name!r}")
    for module in (*_MODULES, "result", "stage", "team", "trainer"):
        found = import_module(f"shoal.training.{module}").__dict__
        if name in found:
            globals()[name] = found[name]
            return found[name]
    raise AttributeError(f"module 'shoal.training' has no attribute {name!r}")
