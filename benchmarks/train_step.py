"""How fast a training step is: a plain loop beside ours, on the same titles, in one process.

    python benchmarks/train_step.py [--steps 3] [--repeats 3] [--batch-size 400]

The plain loop does what a first implementation of SCCL does: three forward passes a step, every text padded to
32 tokens, Adam over all weights. Ours is the trainer itself, once with everything trainable and once with the
last two layers trainable on the cached states of the others. Runs alternate, so that a machine that is busy
for a while is busy for all three; the figure of each is its best run. Titles: ``SHOAL_DATA``, a tab-separated
file (gzip) with a header and a column ``text``, or made-up ones if there is no such file.
"""

from __future__ import annotations

import argparse
import gzip
import os
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from shoal.encoder.frozen_layers import FrozenLayersEncoder
from shoal.encoder.transformer import TransformerEncoder
from shoal.functional import cluster_kl, mean_pool, nt_xent, student_t, target_distribution
from shoal.methods.sccl import SCCLObjective
from shoal.training import CorpusViews, Stage, Trainer, TrainingOptions, seeded

MAX_LENGTH, N_CLUSTERS = 32, 20
LEARNING_RATE, HEAD_LEARNING_RATE = 5e-6, 5e-4
BARS = {"all layers": 2.0, "last two layers": 5.0}


def read_titles(n: int) -> tuple[list[str], str]:
    file = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[2] / "shared" / "data" / "stackoverflow.tsv.gz"))
    rng = np.random.default_rng(0)
    if not file.is_file():
        words = [f"word{i}" for i in range(500)]
        return [" ".join(rng.choice(words, rng.integers(3, 9))) for _ in range(n)], "made-up titles"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        header, *rows = (line.rstrip("\n").split("\t") for line in lines)
    column = header.index("text")
    return [rows[i][column] for i in rng.permutation(len(rows))[:n]], file.name


def load() -> TransformerEncoder:
    return TransformerEncoder.load("builtin", max_length=MAX_LENGTH)


def make_objective(encoder: torch.nn.Module, dimension: int) -> SCCLObjective:
    with seeded(0):
        return SCCLObjective(
            encoder, dimension=dimension, n_clusters=N_CLUSTERS, projection_dim=128, contrastive=True, clustering=True,
            cluster_loss="original", eta=10.0, temperature=0.5, alpha=1.0, scale=6.0, assign="head", n_init=1,
        )  # fmt: skip


class PlainLoop:
    """Three forward passes, padded to 32, Adam over all weights."""

    def __init__(self, titles: list[str], batch_size: int) -> None:
        self.encoder = load()
        self.objective = make_objective(self.encoder, self.encoder.dimension)
        self.objective.initialise(self.encoder.encode(titles[: 10 * N_CLUSTERS]), np.random.RandomState(0))
        encoded = self.encoder.tokenizer(
            titles, padding="max_length", truncation=True, max_length=MAX_LENGTH, return_tensors="pt"
        )
        self.ids, self.mask = encoded["input_ids"], encoded["attention_mask"]
        self.batch_size = batch_size
        heads = [self.objective.centers, *self.objective.project.parameters()]
        self.optimizer = torch.optim.Adam(
            [
                {"params": list(self.encoder.parameters()), "lr": LEARNING_RATE},
                {"params": heads, "lr": HEAD_LEARNING_RATE},
            ]
        )

    def encode(self, rows: torch.Tensor) -> torch.Tensor:
        """Encode one view of some titles."""
        states = self.encoder.model(input_ids=self.ids[rows], attention_mask=self.mask[rows]).last_hidden_state
        return 6.0 * F.normalize(mean_pool(states, self.mask[rows]))

    def texts_per_second(self, n_steps: int) -> float:
        """Take some steps and return their speed."""
        self.objective.train()
        started = time.perf_counter()
        for _ in range(n_steps):
            rows = torch.randperm(len(self.ids))[: self.batch_size]
            self.optimizer.zero_grad()
            original, left, right = (self.encode(rows) for _ in range(3))
            q = student_t(original, self.objective.centers)
            project = self.objective.project
            loss = 10 * nt_xent(project(left), project(right)) + cluster_kl(target_distribution(q).detach(), q)
            loss.backward()
            self.optimizer.step()
        return n_steps * self.batch_size / (time.perf_counter() - started)


class OurLoop:
    """The trainer; only the steps are timed, as its own history times them."""

    def __init__(self, titles: list[str], batch_size: int, trainable_layers: str | int) -> None:
        whole = load()
        self.views = CorpusViews.repeated(whole.tokenise(titles), 3)
        self.batch_size = batch_size
        encoder: torch.nn.Module = whole
        if trainable_layers != "all":
            encoder = FrozenLayersEncoder(whole, self.views.tokens, int(trainable_layers))
        self.objective = make_objective(encoder, whole.dimension)
        self.padding = 0.0

    def texts_per_second(self, n_steps: int) -> float:
        """Take some steps and return their speed."""
        options = TrainingOptions(
            batch_size=self.batch_size, epochs=n_steps, max_steps=n_steps, evaluate_every=10**6, device="cpu",
            learning_rate=LEARNING_RATE, head_learning_rate=HEAD_LEARNING_RATE,
        )  # fmt: skip
        result = Trainer(self.views, options, n_clusters=N_CLUSTERS).run([Stage("bench", self.objective)])
        steps = [record for record in result.history if record["event"] == "step"]
        self.padding = float(np.mean([step["padding"] for step in steps]))
        return sum(step["texts"] for step in steps) / sum(step["seconds"] for step in steps)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=3, help="steps of a run")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each loop")
    parser.add_argument("--batch-size", type=int, default=400)
    given = parser.parse_args()
    titles, source = read_titles(given.batch_size * given.steps)
    loops = {
        "plain": PlainLoop(titles, given.batch_size),
        "all layers": OurLoop(titles, given.batch_size, "all"),
        "last two layers": OurLoop(titles, given.batch_size, 2),
    }
    lengths = loops["all layers"].views.tokens.lengths
    print(f"{len(titles)} titles of {source}, {lengths.mean():.1f} tokens on average; batch {given.batch_size}, "
          f"{given.steps} steps, {given.repeats} repeats, {torch.get_num_threads()} threads")  # fmt: skip
    for loop in loops.values():
        loop.texts_per_second(1)  # warm-up
    rates: dict[str, list[float]] = {name: [] for name in loops}
    for _ in range(given.repeats):
        for name, loop in loops.items():
            rates[name].append(loop.texts_per_second(given.steps))
    plain = max(rates["plain"])
    print(f"{'plain':<16}{plain:8.1f} texts/s   padding {1 - lengths.mean() / MAX_LENGTH:6.1%}")
    for name, bar in BARS.items():
        best = max(rates[name])
        print(
            f"{name:<16}{best:8.1f} texts/s   padding {loops[name].padding:6.1%}   {best / plain:5.2f} x   bar {bar} x"
        )


if __name__ == "__main__":
    main()
