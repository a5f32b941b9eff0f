"""Actors of a Ray cluster that work together with this process, and end with it."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

# Their connections break a moment before Ray knows that they are gone.
_SECONDS_TO_DIE = 5.0


class Follower:
    """One process of the cluster, of one thread."""

    def __init__(self) -> None:
        os.environ["OMP_NUM_THREADS"] = os.environ["SHOAL_QUIET"] = "1"
        os.environ["TOKENIZERS_PARALLELISM"] = "false"

    def load(self, module: str) -> int:
        """Import a module, which takes seconds; return the number of the process."""
        import_module(module)
        return os.getpid()

    def run(self, module: str, name: str, *args: Any) -> None:
        """Call a function."""
        getattr(import_module(module), name)(*args)


class RayActors:
    """Processes of a Ray cluster and this one, which leads them.

    Parameters
    ----------
    size : int
        Their number, this one included.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.pids: list[int] = []
        self._actors: list[Any] = []
        self._calls: list[Any] = []
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def start(self, work: Callable[[str, int, int], None]) -> str:
        """Start them; return where they wait for the lead."""
        import ray

        address = self._address()
        actor: Any = ray.remote(num_cpus=1, max_restarts=0)(Follower)
        self._actors = [actor.remote() for _ in range(1, self.size)]
        self.pids = ray.get([actor.load.remote(work.__module__) for actor in self._actors])
        self._calls = [
            actor.run.remote(work.__module__, work.__name__, address, number, self.size)
            for number, actor in enumerate(self._actors, 1)
        ]
        return address

    def lost(self) -> str:
        """Say which of them has ended, and how; an empty string if none has."""
        import ray

        done = ray.wait(self._calls, timeout=_SECONDS_TO_DIE)[0] if self._calls else []
        if not done:
            return ""
        number = self._calls.index(done[0]) + 1
        try:
            ray.get(done[0])
            reason = "before its time"
        except ray.exceptions.RayError as error:
            reason = str(getattr(error, "cause", error)).strip().partition("\n")[0]
        return f"worker {number} (process {self.pids[number - 1]}) of the Ray cluster has ended: {reason}"

    def end(self) -> None:
        """End those that still run."""
        import ray

        for actor in self._actors:
            ray.kill(actor)
        self._actors, self._calls = [], []
        if self._folder is not None:
            self._folder.cleanup()

    def _address(self) -> str:
        """Return where they meet: a file if the cluster is this machine alone, or a port of this machine."""
        import ray

        if sum(node["Alive"] for node in ray.nodes()) == 1:
            self._folder = tempfile.TemporaryDirectory(prefix="shoal-workers-")
            return (Path(self._folder.name) / "meeting").as_uri()
        here = ray.util.get_node_ip_address()
        with socket.create_server((here, 0)) as free:
            return f"tcp://{here}:{free.getsockname()[1]}"
