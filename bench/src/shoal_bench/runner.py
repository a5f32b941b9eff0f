"""Running what is missing: each cell in a process of its own, threads pinned, results appended as they come.

Several runners may work on the same suite at once. Whoever holds a cell's lock runs it; the system releases the lock
when a runner dies, and its cells die with it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import IO

from filelock import BaseFileLock, FileLock, Timeout

from shoal.cache import cache_folder
from shoal.progress import progress
from shoal_bench.cell import Cell, blank_record, changed_defaults
from shoal_bench.child import child_environment, record_of
from shoal_bench.data_sets import data_folder
from shoal_bench.results import FAILED, OK, UNAVAILABLE, Record, Results, extras_of

_COMMAND = (sys.executable, "-m", "shoal_bench.cell")
_POLL_SECONDS = 0.1
_OTHERS_SECONDS = 1.0  # between two evaluations at what other runners hold
_PATIENCE_SECONDS = 5.0


@dataclass(frozen=True)
class Task:
    """A cell that is wanted, with what it is called where it was asked for.

    Attributes
    ----------
    cell : Cell
        What to run.
    data_sha256 : str
        The checksum of its data.
    row : str
        The row that asks for it.
    cost : str
        What it costs.
    n_texts : int
        On how many texts.
    """

    cell: Cell
    data_sha256: str
    row: str
    cost: str
    n_texts: int

    @property
    def key(self) -> str:
        """The cell's key."""
        return self.cell.key(self.data_sha256)

    def with_extras(self, further: Sequence[str]) -> Task:
        """Return the task with further extras."""
        extras = tuple(dict.fromkeys([*self.cell.extras, *further]))
        return replace(self, cell=replace(self.cell, extras=extras))

    @property
    def title(self) -> str:
        """What it is called."""
        return f"{self.cell.data_set} · {self.row} · seed {self.cell.seed}"


@dataclass
class _Child:
    """A cell that is running, and the lock that says so."""

    task: Task
    process: subprocess.Popen[bytes]
    out: IO[bytes]
    err: IO[bytes]
    lock: BaseFileLock

    def record(self) -> Record:
        """Return what it answered; a record of its death if it did not."""
        self.out.seek(0)
        self.err.seek(0)
        blank = partial(blank_record, self.task.cell, self.task.data_sha256)
        return record_of(self.process.returncode, self.out.read(), self.err.read(), blank)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the process and to what it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def close(self) -> None:
        """Let go of everything."""
        self.out.close()
        self.err.close()
        self.lock.release()


def in_order(tasks: Sequence[Task]) -> list[Task]:
    """Put each cell once, with all extras asked of it; cheap ones first, then by seed: a table then fills evenly."""
    once: dict[str, Task] = {}
    for task in reversed(tasks):
        once[task.key] = task.with_extras(once[task.key].cell.extras if task.key in once else ())
    return sorted(once.values(), key=lambda task: (task.cost == "expensive", task.cell.seed, task.n_texts, task.title))


def is_done(task: Task, known: dict[str, Record]) -> bool:
    """Tell whether the results have the cell and its extras, fitted with the parameters that its method has today.

    A parameter that came new since then changes nothing; a default that changed does.
    """
    record = known.get(task.key)
    if record is None or record["status"] != OK or not set(task.cell.extras) <= extras_of(record):
        return False
    return not changed_defaults(record)


class Runner:
    """Runs the cells that the results do not have yet.

    Parameters
    ----------
    results : Results
        What is there, and where records go.
    jobs : int
        Cells at a time.
    threads : int
        Threads of each.
    """

    def __init__(self, results: Results, *, jobs: int = 1, threads: int = 1) -> None:
        self.results = results
        self.jobs = jobs
        self.threads = threads
        self._children: list[_Child] = []

    def missing(self, tasks: Sequence[Task]) -> list[Task]:
        """Return the tasks that are still to be done, each cell once, in order."""
        known = self.results.by_key()
        missing = [task for task in in_order(tasks) if not is_done(task, known)]
        # A newer record takes the older one's place, so it must have all that the older one had.
        return [task.with_extras(sorted(extras_of(known.get(task.key)))) for task in missing]

    def run(self, tasks: Sequence[Task]) -> dict[str, int]:
        """Run what is missing.

        Parameters
        ----------
        tasks : sequence of Task
            What is wanted; what the results have is left alone.

        Returns
        -------
        dict
            How many cells were ``wanted``, ``already`` there, ended ``ok``, ``failed`` or ``unavailable``, and were run
            ``elsewhere`` meanwhile. On Ctrl-C the running cells are ended and KeyboardInterrupt goes on.
        """
        before = len(self.results.records())  # counted first: what others add from here on is not run again
        waiting = self.missing(tasks)
        wanted = len(in_order(tasks))
        counts = {"wanted": wanted, "already": wanted - len(waiting), OK: 0, FAILED: 0, UNAVAILABLE: 0, "elsewhere": 0}
        if waiting:
            self.results.prepare()
        try:
            with progress("Bench", len(waiting), unit="cells") as bar:
                while waiting or self._children:
                    finished = self._collect(counts)
                    waiting, elsewhere = self._start(waiting, before)
                    counts["elsewhere"] += elsewhere
                    bar.advance(finished + elsewhere, ", ".join(child.task.title for child in self._children))
                    time.sleep(_POLL_SECONDS if self._children else _OTHERS_SECONDS * bool(waiting))
        finally:
            self._end_children()
        return counts

    def _collect(self, counts: dict[str, int]) -> int:
        """Write down the cells that have ended and return how many."""
        ended = [child for child in self._children if child.process.poll() is not None]
        for child in ended:
            self._children.remove(child)
            record = child.record()
            self.results.append(record)
            child.close()
            counts[record["status"]] += 1
            self.results.say(f"{child.task.title}: {_told(record)}")
        return len(ended)

    def _start(self, waiting: list[Task], before: int) -> tuple[list[Task], int]:
        """Start as many cells as there is room for; return those left, and how many others have done meanwhile."""
        if len(self._children) >= self.jobs:
            return waiting, 0
        left, elsewhere = [], 0
        for task in waiting:
            lock = self._lock(task) if len(self._children) < self.jobs else None
            if lock is None:
                left.append(task)
            elif self._tried_since(task, before):
                elsewhere += 1
                lock.release()
            else:
                self._children.append(self._child(task, lock))
        return left, elsewhere

    def _tried_since(self, task: Task, before: int) -> bool:
        """Tell whether another runner has brought this cell to an end since this one began."""
        return any(record.get("key") == task.key for record in self.results.records()[before:])

    def _lock(self, task: Task) -> BaseFileLock | None:
        """Take the cell's lock; None if another runner has it."""
        folder = cache_folder() / "bench"
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / f"{task.key}.lock", timeout=0)
        try:
            lock.acquire()
        except Timeout:
            return None
        return lock

    def _child(self, task: Task, lock: BaseFileLock) -> _Child:
        """Start the process of a cell."""
        environment = {**child_environment(self.threads), "SHOAL_DATA": str(data_folder().absolute())}
        out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - the child's, closed with it
        with tempfile.TemporaryFile() as question:
            question.write(json.dumps(task.cell.as_dict()).encode())
            question.seek(0)
            process = subprocess.Popen(
                _COMMAND,
                stdin=question,
                stdout=out,
                stderr=err,
                env=environment,
                start_new_session=True,  # Ctrl-C is ours to pass on
            )
        return _Child(task, process, out, err, lock)

    def _end_children(self) -> None:
        """End what still runs: politely, then not."""
        for child in self._children:
            child.send(signal.SIGTERM)
        for child in self._children:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.process.wait(_PATIENCE_SECONDS)
            child.send(signal.SIGKILL)
            child.process.wait()
            child.close()
        self._children.clear()


def _told(record: Record) -> str:
    """Say in a line what came of a cell."""
    if record["status"] != OK:
        return f"{record['status']}: {record['reason']}"
    figures = "  ".join(f"{name.upper()} {record['scores'][name]:.1f}" for name in ("acc", "nmi"))
    return f"{figures}  ({record['seconds']:.0f} s, {record['peak_memory_mb'] or 0:.0f} MB)"
