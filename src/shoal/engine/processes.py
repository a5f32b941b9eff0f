"""Processes of this machine that work together with this one, and end with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO

from shoal.errors import EngineError

READY = b"ready\n"
_SECONDS_TO_DIE = 5.0


class LocalProcesses:
    """Processes that share the cores of this machine with this one, which leads them.

    Parameters
    ----------
    size : int
        Their number, this one included.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._processes: list[subprocess.Popen[bytes]] = []
        self._complaints: list[IO[bytes]] = []
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def start(self, work: Callable[[str, int, int], None]) -> str:
        """Start them; return where they wait for the lead."""
        self._folder = tempfile.TemporaryDirectory(prefix="shoal-workers-")  # only this user may look into it
        address = (Path(self._folder.name) / "meeting").as_uri()
        n_threads = int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1) // self.size
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": str(max(1, n_threads)),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),  # where this process finds classes, so do they
            "SHOAL_QUIET": "1",
            "TOKENIZERS_PARALLELISM": "false",
        }
        for number in range(1, self.size):
            self._complaints.append(tempfile.TemporaryFile())  # noqa: SIM115 - for as long as the process runs
            order = [work.__module__, work.__name__, address, str(number), str(self.size)]
            command = [sys.executable, "-m", "shoal.engine.processes", *order]
            self._processes.append(
                subprocess.Popen(
                    command,
                    env=environment,
                    stdin=subprocess.PIPE,  # its end tells them that the lead is no more
                    stdout=subprocess.PIPE,
                    stderr=self._complaints[-1],
                )
            )
        for process in self._processes:
            if process.stdout is None or process.stdout.readline() != READY:
                raise EngineError(f"{self.lost() or 'a worker did not start'}; pass fewer workers, or none.")
        return address

    @property
    def pids(self) -> list[int]:
        """The numbers of those that were started."""
        return [process.pid for process in self._processes]

    def lost(self) -> str:
        """Say which of them has ended, and how; an empty string if none has."""
        for number, process in enumerate(self._processes, 1):
            with suppress(subprocess.TimeoutExpired):  # its connections break a moment before it is gone
                code = process.wait(_SECONDS_TO_DIE / len(self._processes))
                return f"worker {number} (process {process.pid}) {self._end_of(number, code)}"
        return ""

    def end(self) -> None:
        """End those that still run."""
        for process in self._processes:
            with suppress(OSError):
                if process.stdin is not None:
                    process.stdin.close()
            try:
                process.wait(_SECONDS_TO_DIE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()
        for complaint in self._complaints:
            complaint.close()
        if self._folder is not None:
            self._folder.cleanup()
        self._processes, self._complaints = [], []

    def _end_of(self, number: int, code: int) -> str:
        """Say how a process ended: by a signal, or with the last line of what it wrote."""
        if code < 0:
            return f"was ended by {signal.Signals(-code).name}"
        complaint = self._complaints[number - 1]
        complaint.seek(0)
        lines = complaint.read().decode(errors="replace").strip().splitlines()
        return f"failed with exit code {code}" + (f": {lines[-1]}" if lines else "")


def _end_with_the_lead() -> None:
    """Wait for the end of standard input, which comes when the lead closes it or dies; end the process at once."""
    os.read(0, 1)  # not through sys.stdin, whose lock would be held when an error ends the interpreter
    os._exit(0)


def _main(module: str, name: str, address: str, number: str, size: str) -> None:
    """Do the work of one of the processes."""
    threading.Thread(target=_end_with_the_lead, daemon=True).start()
    work: Callable[[str, int, int], None] = getattr(import_module(module), name)
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    work(address, int(number), int(size))


if __name__ == "__main__":
    _main(*sys.argv[1:])
