"""Run the trainer with a method's parameters and the context of its fit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from shoal.encoder.word_statistics import WordStatistics
from shoal.engine import current_engine
from shoal.methods.base import TextClusterer
from shoal.methods.context import FitContext, outcome_of
from shoal.methods.inputs import Rows
from shoal.training import (
    Callback,
    Checkpoints,
    CorpusViews,
    EarlyStopping,
    Stage,
    Trainer,
    TrainingOptions,
    TrainingResult,
    VectorCorpus,
    make_logger,
    team_of,
)
from shoal.training.options import TRAINING
from shoal.vectors import Vectors

# Enough for topics, too few for single words.
WORD_DIMENSIONS = 100
# Not part of a run's identity: the seed drawn is in it already; the others only say what to write, and how often.
_NOT_IN_IDENTITY = ("random_state", "checkpoint_every", "log_to")


def training_options(model: TextClusterer, seed: int, **others: Any) -> TrainingOptions:
    """Return the trainer's options: the model's parameters of the same names, and ``others``, which override them."""
    params = model.get_params(deep=False)
    named = {name: params[name] for name in TRAINING if name in params}
    return TrainingOptions(**{**named, "seed": seed, **others})


def run_stages(
    model: TextClusterer,
    corpus: CorpusViews | VectorCorpus,
    stages: Sequence[Stage],
    options: TrainingOptions,
    context: FitContext,
    content: Sequence[str],
) -> TrainingResult:
    """Run the stages of a model, and set its ``outcome_``.

    ``content``, the texts or a digest of the vectors, distinguishes this run's checkpoints from those of others.
    """
    checkpoints = None
    if context.checkpoints is not None:
        checkpoints = Checkpoints(context.checkpoints, _identity(model, content, options.seed))
    words = _words(context.rows) if any(stage.watched for stage in stages) else None
    with team_of(current_engine().crew(), corpus, options, stages) as team:
        trainer = Trainer(
            corpus,
            options,
            n_clusters=model.n_clusters_,
            callbacks=[*_own_callbacks(model), *context.callbacks],
            checkpoints=checkpoints,
            words=words,
            team=team,
        )
        result = trainer.run(stages)
    context.history += result.history
    context.undone_labels = result.undone_labels
    model.outcome_ = outcome_of(result.outcome)
    return result


def _words(rows: Rows) -> Vectors | None:
    """Return vectors of the texts' words, by which the guard judges; None if there are no texts."""
    if rows.texts is None:
        return None
    return WordStatistics(n_components=WORD_DIMENSIONS).fit(rows.texts).encode(rows.texts)


def _own_callbacks(model: TextClusterer) -> list[Callback]:
    """Return the callbacks that the model's parameters ask for."""
    params = model.get_params(deep=False)
    callbacks: list[Callback] = []
    if params.get("tolerance") is not None:
        callbacks.append(EarlyStopping(params["tolerance"]))
    if params["log_to"] is not None:
        callbacks.append(make_logger(params["log_to"]))
    return callbacks


def _identity(model: TextClusterer, content: Sequence[str], seed: int) -> str:
    """Return a hash of everything that determines the result."""
    params = {name: value for name, value in model.get_params(deep=False).items() if name not in _NOT_IN_IDENTITY}
    facts = [type(model).__name__, seed, params, *content]
    return hashlib.sha256(json.dumps(facts, default=repr, sort_keys=True).encode()).hexdigest()
