"""A small run that can be started as a process of its own, and killed."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch

from shoal.methods.sccl import SCCL

NUMBERS = ("one", "two", "three", "four")
TEXTS = [f"{word} {number}" for word in ("cat", "saw", "dog", "nail", "tea") for number in NUMBERS]


def run(backbone: str, checkpoints: Path | None, out: Path) -> None:
    """Fit, and write labels and vectors to ``out``."""
    torch.set_num_threads(1)
    model = SCCL(
        2,
        backbone=backbone,
        augmentation="char_swap",
        batch_size=4,
        epochs=8,
        learning_rate=1e-3,
        checkpoint_every=2,
        tolerance=None,
        device="cpu",
    )
    model.fit(TEXTS, checkpoints=checkpoints)
    np.savez(out, labels=model.labels_, start=model.start_labels_, vectors=model.transform(TEXTS))


if __name__ == "__main__":
    run(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
