"""``shoal fit`` with a method that trains: killed and resumed, pairs from columns, the outcome in the run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

from tiny_backbone import tiny_backbone

SMALL = ["--method", "sccl", "--clusters", "3", "--set", "batch_size=10", "--set", "learning_rate=0.001"]


@pytest.fixture
def trained(tickets, tmp_path):
    """Return the arguments of a small training on the tickets."""
    folder = tiny_backbone(tmp_path / "backbone")
    return ["fit", str(tickets), "--text", "body", *SMALL, "--backbone", folder, "--set", "augmentation=char_swap"]


def labels(run) -> list[int | None]:
    return pl.read_parquet(run / "assignments.parquet")["cluster"].to_list()


def test_history_and_outcome_are_in_the_run(shoal, trained, tmp_path):
    answer = shoal(
        *trained,
        "--set",
        "max_steps=4",
        "--set",
        "tolerance=none",
        "--label",
        "topic",
        "--out",
        tmp_path / "run",
        "--json",
    )
    assert answer.code == 0, answer.err
    assert set(answer.json["start_scores"]) == set(answer.json["scores"]) == {"acc", "nmi", "ari", "purity"}
    rows = [json.loads(line) for line in (tmp_path / "run" / "history.jsonl").read_text().splitlines()]
    steps = [row for row in rows if row.get("event") == "step"]
    assert [row["step"] for row in steps] == [1, 2, 3, 4]
    assert {"contrastive", "cluster", "total", "seconds", "tokens"} <= set(steps[0])
    assert any("moved" in row and "size_entropy" in row for row in rows)
    outcome = json.loads((tmp_path / "run" / "run.json").read_text())["outcome"]
    assert {"start", "end", "rolled_back", "reason"} <= set(outcome)


def test_pairs_from_columns(shoal, trained, tickets, tmp_path):
    table = pl.read_csv(tickets)
    table.with_columns(left=pl.col("body"), right=pl.col("body")).write_csv(tickets)
    answer = shoal(*trained, "--set", "max_steps=2", "--pairs", "left,right", "--out", tmp_path / "run", "--json")
    assert answer.code == 0, answer.err
    assert "augment" not in (tmp_path / "run" / "history.jsonl").read_text()
    assert shoal(*trained, "--pairs", "left").code == 4
    assert shoal(*trained, "--pairs", "left,middle").code == 3
    assert shoal("fit", tickets, "--text", "body", "--method", "tfidf-kmeans", "--pairs", "left,right").code == 4


@pytest.mark.slow
def test_killed_several_times_it_ends_where_the_uninterrupted_run_ends(shoal, trained, tmp_path):
    trained = [*trained, "--set", "max_steps=60", "--set", "tolerance=none", "--set", "checkpoint_every=3"]
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert shoal(*trained, "--out", whole, "--json").code == 0
    checkpoints = tmp_path / "broken.partial" / "checkpoints"
    call = [sys.executable, "-c", "from shoal.cli import main; main()"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    kills = 0
    for arguments in ([*trained, "--out", str(broken)], *[["fit", "--resume", str(broken)]] * 2):
        before = newest(checkpoints)
        process = subprocess.Popen([*call, *arguments], env=environment, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 120
        while newest(checkpoints) == before and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.communicate()
        assert not broken.exists() or process.returncode == 0
    assert kills >= 1
    if not broken.exists():
        resumed = shoal("fit", "--resume", broken, "--json")
        assert resumed.code == 0, resumed.err
    assert labels(broken) == labels(whole)
    first, second = (pl.read_parquet(run / "assignments.parquet")["confidence"].to_list() for run in (whole, broken))
    assert first == second
    assert not checkpoints.exists()


def newest(checkpoints) -> float:
    """Return when the checkpoints last changed."""
    return max((path.stat().st_mtime_ns for path in checkpoints.glob("*") if path.exists()), default=0)
