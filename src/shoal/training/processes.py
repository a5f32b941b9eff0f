"""Workers as processes of this machine. They talk over the loopback interface and end with the process that leads."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

from shoal.errors import WorkerError

READY = b"ready\n"
_SECONDS_TO_DIE = 5.0


class LocalProcesses:
    """The other workers of a team, each a process of its own.

    Parameters
    ----------
    size : int
        Number of workers, with the lead, which is this process.
    n_threads : int
        Threads of each.
    """

    def __init__(self, size: int, n_threads: int) -> None:
        self.size = size
        self.n_threads = n_threads
        self._processes: list[subprocess.Popen[bytes]] = []
        self._complaints: list[IO[bytes]] = []
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def start(self) -> str:
        """Start them; return where they wait for the lead."""
        self._folder = tempfile.TemporaryDirectory(prefix="shoal-workers-")  # only this user may look into it
        address = (Path(self._folder.name) / "meeting").as_uri()
        _stay_on_loopback()
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": str(self.n_threads),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),  # where this process finds classes, so do they
            "SHOAL_QUIET": "1",
            "TOKENIZERS_PARALLELISM": "false",
        }
        for number in range(1, self.size):
            self._complaints.append(tempfile.TemporaryFile())  # noqa: SIM115 - for as long as the process runs
            command = [sys.executable, "-m", "shoal.training.follower", address, str(number), str(self.size)]
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
                raise WorkerError(f"{self.lost() or 'a worker did not start'}; pass fewer workers, or none.")
        return address

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


def _stay_on_loopback() -> None:
    """Let the workers of one machine talk where no other machine can listen; a choice of the user's counts."""
    names = [name for _, name in socket.if_nameindex() if name.startswith("lo")]
    if names:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", names[0])
