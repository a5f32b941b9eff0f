"""Both ends of a process that measures one thing: a question as JSON in, a record as its last line out."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from shoal_bench.results import FAILED, Record, json_object, one_line

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "POLARS_MAX_THREADS",
)
# Set to the process id of the one that asks: a child whose parent has died ends too, so that nobody measures twice.
PARENT = "SHOAL_BENCH_RUNNER"
_PARENT_CHECK_SECONDS = 0.5


def child_environment(threads: int) -> dict[str, str]:
    """Return the environment of a child of this process: threads pinned, no progress bars."""
    return {
        **os.environ,
        **dict.fromkeys(THREAD_VARIABLES, str(threads)),
        "TOKENIZERS_PARALLELISM": "false",
        "SHOAL_QUIET": "1",
        PARENT: str(os.getpid()),
    }


def record_of(code: int, out: bytes, err: bytes, blank: Callable[[], Record]) -> Record:
    """Return the record that a child left on its standard output, or one of its death.

    Parameters
    ----------
    code : int
        What it ended with.
    out, err : bytes
        What it said.
    blank : callable
        Returns what is known of the measure without it.
    """
    answer = json_object((out.splitlines() or [b""])[-1])
    if code == 0 and answer is not None:
        return answer
    said = err.decode(errors="replace").strip().splitlines() or ["it said nothing"]
    return {**blank(), "status": FAILED, "reason": one_line(f"the process ended with code {code}: {said[-1]}")}


def answer(work: Callable[[dict[str, Any]], Record]) -> None:
    """Be the child: read a question from standard input, and print its record as the last line of standard output."""
    if PARENT in os.environ:
        threading.Thread(target=_end_with, args=(int(os.environ[PARENT]),), daemon=True).start()
    question = json.load(sys.stdin)
    with contextlib.redirect_stdout(sys.stderr):  # libraries may talk
        record = work(question)
    sys.stdout.write("\n" + json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")


def _end_with(parent: int) -> None:
    """End this process, and what it has started, when its parent is gone."""
    while os.getppid() == parent:
        time.sleep(_PARENT_CHECK_SECONDS)
    if os.name == "posix" and os.getpgrp() == os.getpid():  # a group of its own, nobody else's
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
