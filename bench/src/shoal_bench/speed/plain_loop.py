"""Two ways to train on the same titles: a first implementation's plain loop, and the trainer. Only steps are timed."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from shoal.encoder.last_layers import LastLayersEncoder
from shoal.encoder.transformer import TransformerEncoder
from shoal.engine.local import LocalEngine
from shoal.functional import cluster_kl, mean_pool, nt_xent, student_t, target_distribution
from shoal.methods.objectives.sccl import SCCLObjective
from shoal.training import CorpusViews, Stage, Trainer, TrainingOptions, seeded, team_of

MAX_LENGTH, MOST_CLUSTERS = 32, 20
LEARNING_RATE, HEAD_LEARNING_RATE = 5e-6, 5e-4
ETA, TEMPERATURE, SCALE = 10.0, 0.5, 6.0


class PlainLoop:
    """What a first implementation of SCCL does: three forward passes a step, all padded to 32 tokens, dense Adam.

    It stands here to be compared with, and trains nothing that anybody uses.

    Parameters
    ----------
    titles : sequence of str
        The texts.
    batch_size : int
        Texts of a step.
    backbone : str
        The backbone.
    """

    def __init__(self, titles: Sequence[str], batch_size: int, backbone: str) -> None:
        self.encoder = _load(backbone)
        self.objective = _objective(self.encoder, self.encoder.dimension, len(titles))
        sample = titles[: 10 * MOST_CLUSTERS]
        self.objective.initialise(self.encoder.encode(sample), np.random.RandomState(0))
        encoded = self.encoder.tokenizer(
            list(titles), padding="max_length", truncation=True, max_length=MAX_LENGTH, return_tensors="pt"
        )
        self.ids, self.mask = encoded["input_ids"], encoded["attention_mask"]
        self.batch_size = batch_size
        self.padding = float(1 - self.mask.float().mean())
        heads = [self.objective.centers, *self.objective.project.parameters()]
        self.optimizer = torch.optim.Adam(
            [
                {"params": list(self.encoder.parameters()), "lr": LEARNING_RATE},
                {"params": heads, "lr": HEAD_LEARNING_RATE},
            ]
        )

    def seconds(self, n_steps: int) -> float:
        """Take some steps and return how long they took."""
        self.objective.train()
        started = time.perf_counter()
        for _ in range(n_steps):
            rows = torch.randperm(len(self.ids))[: self.batch_size]
            self.optimizer.zero_grad()
            original, left, right = (self._encode(rows) for _ in range(3))
            q = student_t(original, self.objective.centers)
            project = self.objective.project
            contrast = nt_xent(project(left), project(right), TEMPERATURE)
            loss: Tensor = ETA * contrast + cluster_kl(target_distribution(q).detach(), q)
            loss.backward()  # type: ignore[no-untyped-call]
            self.optimizer.step()
        return time.perf_counter() - started

    def _encode(self, rows: Tensor) -> Tensor:
        """Encode one view of some titles."""
        states = self.encoder.model(input_ids=self.ids[rows], attention_mask=self.mask[rows]).last_hidden_state
        return SCALE * nn.functional.normalize(mean_pool(states, self.mask[rows]))


class TrainerLoop:
    """The trainer on the same titles; the steps are timed as its own history times them.

    Parameters
    ----------
    titles : sequence of str
        The texts.
    batch_size : int
        Texts of a step.
    backbone : str
        The backbone.
    trainable_layers : int, optional
        Train only so many of the last layers, on the states of the others, which are computed here, once; by
        default everything is trained.
    processes : int, default=1
        How many processes train together.
    warm_up : int, default=0
        Steps before those that are timed: new processes are slow at first.
    """

    def __init__(
        self,
        titles: Sequence[str],
        batch_size: int,
        backbone: str,
        trainable_layers: int | None = None,
        processes: int = 1,
        warm_up: int = 0,
    ) -> None:
        self.warm_up = warm_up
        self.engine = LocalEngine(processes)
        whole = _load(backbone)
        self.views = CorpusViews.repeated(whole.tokenise(titles), 3)
        self.batch_size = batch_size
        encoder: nn.Module = whole
        if trainable_layers is not None:
            encoder = LastLayersEncoder(whole, self.views.tokens, trainable_layers)
        self.objective = _objective(encoder, whole.dimension, len(titles))
        self.padding = 0.0

    def seconds(self, n_steps: int) -> float:
        """Take some steps and return how long they took."""
        options = TrainingOptions(
            batch_size=self.batch_size,
            epochs=n_steps + self.warm_up,
            max_steps=n_steps + self.warm_up,
            evaluate_every=10**6,
            device="cpu",
            learning_rate=LEARNING_RATE,
            head_learning_rate=HEAD_LEARNING_RATE,
        )
        stages = [Stage("bench", self.objective)]
        with team_of(self.engine.crew(), self.views, options, stages) as team:
            history = (
                Trainer(self.views, options, n_clusters=len(self.objective.centers), team=team).run(stages).history
            )
        steps = [record for record in history if record["event"] == "step"][self.warm_up :]
        self.padding = float(np.mean([step["padding"] for step in steps]))
        return float(sum(step["seconds"] for step in steps))


def _load(backbone: str) -> TransformerEncoder:
    """Load the encoder of a loop."""
    return TransformerEncoder.load(backbone, max_length=MAX_LENGTH)


def _objective(encoder: nn.Module, dimension: int, n_texts: int) -> SCCLObjective:
    """Build SCCL's objective, the same heads on every call."""
    with seeded(0):
        return SCCLObjective(
            encoder,
            dimension=dimension,
            n_clusters=min(MOST_CLUSTERS, n_texts),
            projection_dim=128,
            contrastive=True,
            clustering=True,
            cluster_loss="original",
            eta=ETA,
            temperature=TEMPERATURE,
            alpha=1.0,
            scale=SCALE,
            assign="head",
            n_init=1,
        )
