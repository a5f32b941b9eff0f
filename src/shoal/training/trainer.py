"""The loop: the only one, with the only ``.backward()``. It knows objectives, never methods."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shoal.errors import ParameterError
from shoal.metrics import inter_cluster_distance, intra_cluster_distance
from shoal.progress import progress
from shoal.training.batch import CorpusViews, VectorCorpus
from shoal.training.callbacks import Callback, Record, restore_states, states_of
from shoal.training.checkpoint import Checkpoints
from shoal.training.guard import Guard, learnt_state
from shoal.training.options import TrainingOptions
from shoal.training.randomness import random_states, restore_random_states, seeded
from shoal.training.result import Learnt, TrainingResult
from shoal.training.run_state import RunState
from shoal.training.sampler import EpochSampler
from shoal.training.stage import Stage
from shoal.training.team import Team
from shoal.vectors import Vectors

TEXTS_PER_BLOCK = 4096


class Trainer:
    """Runs stages, one after another.

    Encoding the corpus and the steps themselves are done by all workers of the team; everything else by this one, its
    lead.

    Parameters
    ----------
    views : CorpusViews or VectorCorpus
        The corpus: tokenised, or the rows of a matrix.
    options : TrainingOptions
        How to train.
    n_clusters : int
        The number of clusters, for the signs of degradation.
    callbacks : sequence of Callback
        Observers of the run.
    checkpoints : Checkpoints, optional
        Where states are saved; if there is one, the run continues from it.
    words : ndarray of shape (n, m), optional
        Vectors of the texts' words, by which the guard judges.
    team : Team, optional
        The workers; by default this process alone.
    """

    stages: Sequence[Stage]
    stage: Stage
    optimizer: torch.optim.Optimizer

    def __init__(
        self,
        views: CorpusViews | VectorCorpus,
        options: TrainingOptions,
        *,
        n_clusters: int,
        callbacks: Sequence[Callback] = (),
        checkpoints: Checkpoints | None = None,
        words: Vectors | None = None,
        team: Team | None = None,
    ) -> None:
        self.views = views
        self.options = options
        self.n_clusters = n_clusters
        self.callbacks = callbacks
        self.checkpoints = checkpoints
        self.words = words
        self.team = team or Team()
        self.device = options.resolve_device()
        self.mixed = options.mixed_precision(self.device)
        self.sampler = EpochSampler(views.n_texts, options.batch_size, options.seed)
        self.rng = np.random.RandomState(options.seed)
        self.history: list[Record] = []
        self.state = RunState()

    def run(self, stages: Sequence[Stage]) -> TrainingResult:
        """Run ``stages``, or what is left of them after the latest checkpoint.

        Parameters
        ----------
        stages : sequence of Stage
            What to run; on resume, the same as at the start.

        Returns
        -------
        TrainingResult
            The weights are in the stages' objectives and in the encoder they share.
        """
        self.stages = stages
        with seeded(self.options.seed):
            saved = self.checkpoints.latest() if self.checkpoints is not None else None
            if self.checkpoints is not None:
                self.history = self.checkpoints.cut_history(0 if saved is None else saved["history_lines"])
            first = 0 if saved is None else int(saved["run"]["stage"])
            for index in range(first, len(stages)):
                self._run_stage(index, saved if index == first else None)
        for callback in self.callbacks:
            callback.on_end()
        return TrainingResult(self.history, self.state.outcome(), self.state.start_labels, self.state.undone_labels)

    def _run_stage(self, index: int, saved: dict[str, Any] | None) -> None:
        """Run one stage from its start, or from a checkpoint."""
        self.team.run(self._enter, index)
        stage = self.stage
        n_steps = stage.n_steps(self.options, math.ceil(self.sampler.batches_per_epoch / self.options.accumulate))
        for callback in self.callbacks:
            callback.on_stage_start(stage.name, n_steps)
        if saved is None:
            self._tell()  # the end of the stage before may have been undone
            self._begin(index, stage)
            self._checkpoint()
        else:
            self._restore(saved)
        self._tell()
        state = self.state
        with progress(f"Training: {stage.name}", n_steps, unit="steps") as bar:
            bar.advance(state.step)
            while state.step < n_steps and not state.ended and not state.finished:
                epoch = self.sampler.epoch
                record = self._step(stage, n_steps)
                self._evaluate_if_due(stage, n_steps, epoch_over=self.sampler.epoch > epoch)
                bar.advance(1, _detail(record))
                if state.step % self.options.checkpoint_every == 0 and state.step < n_steps and not state.ended:
                    self._checkpoint()
        if not state.finished:
            self._finish(stage)
            self._checkpoint()

    def _enter(self, index: int) -> None:
        """Make a stage the current one, with a new optimiser. Run by all workers."""
        self.stage = self.stages[index]
        objective = self.stage.objective.to(self.device)
        self.optimizer = self.options.make_optimizer(objective, objective.encoder, self.device)

    def _begin(self, index: int, stage: Stage) -> None:
        """Initialise the objective from the corpus, and evaluate it for the first time."""
        state = self.state
        state.begin_stage(index)
        embeddings = self.team.run(self._embed)
        if not np.isfinite(embeddings).all():  # of a stage before the first clusters, with nothing to go back to
            raise ParameterError(
                f"the vectors are not finite when the stage {stage.name!r} begins, so there is nothing to cluster; "
                "pass lower learning rates, or a smaller scale."
            )
        stage.objective.initialise(embeddings, self.rng)
        if index == 0:
            for callback in self.callbacks:
                callback.on_start(self.views, stage.objective.encoder)
        if stage.watched and state.guard is None:
            state.guard = Guard(embeddings, self.n_clusters, self.options.seed, self.words)
            state.labels = state.start_labels = stage.objective.labels(embeddings)
        if stage.watched:
            self._evaluate(stage, embeddings)
            if self.options.guard and state.first.signs is None and state.signs is not None:
                state.first.offer(0, state.signs, stage.objective)
        state.stage_start = state.signs.as_dict() if state.signs is not None else {}

    def _step(self, stage: Stage, n_steps: int) -> Record:
        """Take one step and return its record."""
        started = time.perf_counter()
        options = self.options
        rates = (options.learning_rate, options.head_learning_rate)
        if stage.learning_rate is not None:
            rates = (stage.learning_rate, stage.learning_rate)
        factor = options.rate_factor(self.state.step, n_steps)
        rows = [self.sampler.next() for _ in range(options.accumulate)]
        learnt = self.team.run(self._learn, rows, [rate * factor for rate in rates])
        self.state.take_step(usable=learnt.usable)
        record = {
            "event": "step",
            **self._where(stage),
            **learnt.terms,
            "total": sum(learnt.terms.values()),
            "learning_rate": rates[0] * factor,
            "head_learning_rate": rates[1] * factor,
            "seconds": time.perf_counter() - started,
            "texts": learnt.texts,
            "tokens": learnt.tokens,
            "padding": 1 - learnt.tokens / learnt.computed,
        }
        self._log(record)
        for callback in self.callbacks:
            callback.on_step(record)
        return record

    def _learn(self, batches: Sequence[NDArray[np.int64]], rates: Sequence[float]) -> Learnt:
        """Learn from some rows, with a learning rate for the encoder and one for the rest. Run by all workers."""
        objective, optimizer = self.stage.objective, self.optimizer
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        objective.train()
        optimizer.zero_grad(set_to_none=True)
        terms: dict[str, float] = {}
        texts = tokens = computed = 0
        for rows in batches:
            batch = self.views.batch(rows, objective.views)
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.mixed):
                losses = objective(batch)
            loss: Tensor = torch.stack(list(losses.values())).sum() / len(batches)
            loss.backward()  # type: ignore[no-untyped-call]
            for name, term in losses.items():
                terms[name] = terms.get(name, 0.0) + term.item() / len(batches)
            texts, tokens, computed = texts + len(batch), tokens + batch.n_tokens, computed + batch.n_computed
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        self.team.average_gradients(parameters)
        norm = nn.utils.clip_grad_norm_(parameters, self.options.clip_norm or math.inf)
        usable = math.isfinite(norm.item()) and all(map(math.isfinite, terms.values()))
        if usable:
            optimizer.step()
        return Learnt(terms, usable, texts, tokens, computed)

    def _evaluate_if_due(self, stage: Stage, n_steps: int, epoch_over: bool) -> None:
        """Refresh the objective and evaluate the corpus when due."""
        step, every = self.state.step, self.options.evaluate_every
        evaluation_due = stage.watched and ((step % every == 0 if every is not None else epoch_over) or step == n_steps)
        refresh_due = stage.refresh_due(step, epoch_over)
        if self.state.ended or not (evaluation_due or refresh_due):
            return
        embeddings = self.team.run(self._embed)
        if not np.isfinite(embeddings).all():
            self.state.alarm = self.state.ended = "vectors are not finite"
            return
        if refresh_due:
            stage.objective.refresh(embeddings)
            self._tell()
        if evaluation_due:
            self._evaluate(stage, embeddings)

    def _evaluate(self, stage: Stage, embeddings: Vectors) -> None:
        """Evaluate the whole corpus: labels, signs of degradation, the best state, reasons to stop."""
        state = self.state
        if state.guard is None:
            return
        started = time.perf_counter()
        labels = stage.objective.labels(embeddings)
        state.signs = state.guard.evaluate(embeddings, labels)
        record = {
            "event": "evaluation",
            **self._where(stage),
            "moved": float((labels != state.labels).mean()),
            **state.signs.as_dict(),
            "intra": intra_cluster_distance(embeddings, labels),
            "inter": inter_cluster_distance(embeddings, labels),
            "seconds": time.perf_counter() - started,
        }
        state.labels = labels
        self._log(record)
        for callback in self.callbacks:
            callback.on_embeddings(record, embeddings, labels)
        judged = self.options.guard and state.step > 0  # a stage may begin with new clusters
        state.alarm = state.guard.alarm(state.signs) if judged else ""
        if not state.alarm:
            state.best.offer(state.step, state.signs, stage.objective, always=not self.options.guard)
        wishes = [callback.on_evaluation(record) for callback in self.callbacks] if state.step else []
        state.ended = state.alarm or next(filter(None, wishes), "")

    def _finish(self, stage: Stage) -> None:
        """Roll back if something went wrong, and record the outcome of the stage."""
        state, best, first = self.state, self.state.best, self.state.first
        guarded = self.options.guard and state.guard is not None
        last = not any(later.watched for later in self.stages[state.stage + 1 :])
        undone, nothing_kept = "", False
        if best.signs is not None:  # a stage that is not watched has nothing to go back to
            undone = state.alarm or (self._objection(stage, last) if guarded and state.step else "")
        if undone and best.signs is not None:
            state.undone_labels = self._answer(stage, self.team.run(self._embed)) if state.alarm else state.labels
            best.restore(stage.objective)
            state.signs = best.signs
            if guarded and last and best.signs != first.signs and self._objection(stage, last):
                nothing_kept = True
                first.restore(stage.objective)
                state.signs = first.signs
        state.end_stage(stage.name, watched=stage.watched, undone=undone)
        if nothing_kept:
            state.undo_run()

    def _objection(self, stage: Stage, last: bool) -> str:
        """Say why the answer that the objective would give now is not to be kept; an empty string if it is.

        While training goes on, clusters follow from the centres of the start, which the answer may leave.
        """
        state, best = self.state, self.state.best
        if state.guard is None or best.signs is None:
            return ""
        embeddings = self.team.run(self._embed)
        state.labels = self._answer(stage, embeddings)
        state.signs = state.guard.evaluate(embeddings, state.labels)
        harm = state.guard.regret(best.signs, state.signs, stage.regret)
        return harm or (state.guard.doubt(state.signs) if last else "")

    def _answer(self, stage: Stage, embeddings: Vectors) -> NDArray[np.int64]:
        """Return the labels that the end of a stage would have; those of its last evaluation if it is not finite."""
        if not np.isfinite(embeddings).all():
            return self.state.labels
        return stage.objective.labels(embeddings, np.random.RandomState(self.options.seed))

    def _embed(self) -> Vectors:
        """Return the vectors of the texts themselves, in evaluation mode. Run by all workers."""
        objective = self.stage.objective.eval()
        rows = np.arange(self.views.n_texts)
        with torch.inference_mode():
            blocks = [
                self.views.batch(rows[first : first + TEXTS_PER_BLOCK], (0,))
                .encoded_by(objective.encoder)
                .float()
                .cpu()
                for first in range(0, len(rows), TEXTS_PER_BLOCK)
            ]
        vectors: Vectors = torch.cat(blocks).numpy()
        return vectors

    def _tell(self) -> None:
        """Tell the other workers what only this one has changed: what is learnt, and the optimiser's moments."""
        self.team.tell(self._take, learnt_state(self.stage.objective), self.optimizer.state_dict()["state"])

    def _take(self, weights: Mapping[str, Tensor], moments: Mapping[Any, Any]) -> None:
        """Take over weights and moments."""
        self.stage.objective.load_state_dict(weights, strict=False)
        numbered = {int(number): values for number, values in moments.items()}
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": numbered})

    def _checkpoint(self) -> None:
        """Save everything the rest of the run depends on."""
        if self.checkpoints is None:
            return
        self.checkpoints.write(
            {
                "weights": learnt_state(self.stage.objective),
                "optimizer": self.optimizer.state_dict()["state"],
                "run": self.state.state_dict(),
                "sampler": self.sampler.state_dict(),
                "random": random_states(self.rng),
                "callbacks": states_of(self.callbacks),
                "history_lines": len(self.history),
            }
        )

    def _restore(self, saved: dict[str, Any]) -> None:
        """Restore what :meth:`_checkpoint` saved."""
        self._take(saved["weights"], saved["optimizer"])
        self.state = RunState.from_state(saved["run"])
        self.sampler.load_state_dict(saved["sampler"])
        restore_random_states(self.rng, saved["random"])
        restore_states(self.callbacks, saved["callbacks"])

    def _where(self, stage: Stage) -> dict[str, Any]:
        """Return stage, step and epoch."""
        return {"stage": stage.name, "step": self.state.step, "epoch": self.sampler.epoch}

    def _log(self, record: Record) -> None:
        """Add a record to the history; values that are not finite become None, which JSON can hold."""
        for name, value in record.items():
            if isinstance(value, float) and not math.isfinite(value):
                record[name] = None
        self.history.append(record)
        if self.checkpoints is not None:
            self.checkpoints.append_history(record)


def _detail(record: Record) -> str:
    """Return the text beside the bar: the terms of the loss and the speed."""
    known = {"step", "epoch", "total", "learning_rate", "head_learning_rate", "seconds", "texts", "tokens", "padding"}
    terms = [f"{k} {v:.3f}" for k, v in record.items() if isinstance(v, float) and k not in known]
    return f"{' '.join(terms)} · {record['texts'] / record['seconds']:.0f} texts/s"
