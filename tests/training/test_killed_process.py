"""A real process, really killed, again and again, while it trains and while it writes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from training.killable_run import run


def start(backbone, checkpoints, out):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "SHOAL_QUIET": "1"}
    command = [sys.executable, str(Path(__file__).with_name("killable_run.py")), backbone, str(checkpoints), str(out)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)


def finish(process):
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors.decode()


def n_lines(history: Path) -> int:
    return history.read_bytes().count(b"\n") if history.is_file() else 0


def kill_after(process, history: Path, lines: int) -> bool:
    """Kill the process as soon as its history has so many lines; tell whether it was still running."""
    while process.poll() is None:
        if n_lines(history) >= lines:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            return process.returncode == -signal.SIGKILL
        time.sleep(0.001)
    return False


@pytest.mark.slow  # four processes, each with torch
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_killed_several_times_it_ends_with_the_labels_of_the_uninterrupted_run(backbone, tmp_path):
    run(backbone, None, tmp_path / "straight.npz")
    folder = tmp_path / "checkpoints"
    killed = 0
    for lines in (3, 20, 33):
        killed += kill_after(start(backbone, folder, tmp_path / "resumed.npz"), folder / "history.jsonl", lines)
    assert killed == 3
    finish(start(backbone, folder, tmp_path / "resumed.npz"))
    straight, resumed = np.load(tmp_path / "straight.npz"), np.load(tmp_path / "resumed.npz")
    for name in ("labels", "start", "vectors"):
        np.testing.assert_array_equal(resumed[name], straight[name])
