"""Tables of texts on three topics, the fast method's flags, and a Python of one's own."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import polars as pl

TOPICS = {
    "fruit": ["apple", "pear", "plum", "cherry", "ripe", "juice", "orchard", "sweet"],
    "cars": ["engine", "wheel", "brake", "diesel", "garage", "driver", "motor", "tyre"],
    "music": ["guitar", "piano", "melody", "singer", "concert", "drum", "chord", "rhythm"],
}
FAST = ("--method", "tfidf-kmeans", "--set", "n_init=2")


ADDED = ["cluster", "cluster_name", "confidence", "second_cluster", "second_confidence"]


def made_table(n: int = 30, *, empty: tuple[int, ...] = ()) -> pl.DataFrame:
    """Return ``n`` rows of three topics in turn; the rows in ``empty`` have no text."""
    rng = random.Random(0)
    topics = [list(TOPICS)[i % 3] for i in range(n)]
    texts = [" ".join(rng.sample(TOPICS[topic], 5)) for topic in topics]
    return pl.DataFrame(
        {
            "ticket": [f"T-{i:03}" for i in range(n)],
            "body": [None if i in empty else text for i, text in enumerate(texts)],
            "topic": topics,
            "day": [f"2024-05-{i % 28 + 1:02}" for i in range(n)],
        }
    )


def assignments(run: Path) -> pl.DataFrame:
    """Return the table of a run."""
    return pl.read_parquet(run / "assignments.parquet")


def in_python(code: str, **options) -> subprocess.CompletedProcess[str]:
    """Run a program in a Python of its own."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, **options)
