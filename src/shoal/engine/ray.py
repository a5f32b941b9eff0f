"""Workers of a Ray cluster: one thread each, results in the order of the blocks; a lost worker costs what it held."""

from __future__ import annotations

import itertools
import logging
import os
import shutil
import socket
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from typing import Any, Self
from urllib.parse import urlsplit

from shoal.engine.local import Block, Result
from shoal.engine.ray_crew import RayActors
from shoal.errors import EngineError, MissingExtraError, ParameterError

# A worker has one block at hand while it computes another. Results that wait for an earlier one count too.
BLOCKS_PER_WORKER = 2
BLOCKS_AT_ONCE = 3
# So often a block is given to a worker again whose process has ended.
RETRIES = 3
CONNECT_SECONDS = 5
# Ray gives a cluster half a minute to start, which on a busy machine is not always enough.
STARTS = 3
# Read when Ray is imported: no statistics are sent to its makers, and a lost worker is not reported in its own words.
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",
}
# Of a cluster of this machine alone. The first is named after systems whose firewalls ask: with it, all processes
# listen on the loopback interface. Without the second, workers would let all other programs go first.
HERE = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_worker_niceness": "0"}
ADDRESS = "RAY_ADDRESS"


class Worker:
    """One process of the cluster: it keeps the last function that it was given."""

    def __init__(self) -> None:
        for name in ("OMP_NUM_THREADS", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS"):
            os.environ[name] = "1"
        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        self._held: tuple[int, Callable[[Any], Any]] | None = None

    def pid(self) -> int:
        """Return the number of its process."""
        return os.getpid()

    def run(self, number: int, sent: list[Any], block: Any) -> Any:
        """Return the function of a block; ``number`` tells functions apart, ``sent`` is where to fetch it."""
        if self._held is None or self._held[0] != number:
            import ray
            from threadpoolctl import threadpool_limits

            self._held = None  # two encoders need not fit
            self._held = (number, ray.get(sent[0]))
            threadpool_limits(1)  # also of what was loaded before this process knew
        return self._held[1](block)


class RayEngine:
    """A cluster of Ray: the one that ``RAY_ADDRESS`` names, or one of this machine alone.

    Parameters
    ----------
    workers : int, optional
        Number of workers; by default one per core of the cluster.
    """

    name = "ray"
    is_local = False

    def __init__(self, workers: int | None = None) -> None:
        if find_spec("ray") is None:
            raise MissingExtraError("the engine 'ray'", "ray", ", or pass --engine local")
        self._wanted = workers
        self._workers: list[Any] = []
        self._numbers = itertools.count()
        self._sent: tuple[str, tuple[int, list[Any]]] | None = None
        self._folder: str | None = None
        self._connected = False

    @property
    def n_workers(self) -> int:
        """How many blocks are worked on at once."""
        return self._n_workers

    def __enter__(self) -> Self:
        address = os.environ.get(ADDRESS, "").strip()
        there = address not in ("", "local")
        if there:
            _require_listening(address)
        for name, value in {**QUIET, **({} if there else HERE)}.items():
            os.environ.setdefault(name, value)
        import ray

        if not ray.is_initialized():
            self._connect(address if there else None)
        cores = int(ray.cluster_resources().get("CPU", 0))
        self._n_workers = self._wanted or max(cores, 1)
        if self._n_workers > cores:
            self.__exit__()
            raise ParameterError(f"workers={self._wanted} but the cluster has {cores} cores; pass at most {cores}.")
        return self

    def __exit__(self, *error: object) -> None:
        import ray

        self._end_workers()
        if self._connected:
            ray.shutdown()
            self._connected = False
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def map_blocks(self, function: Callable[[Block], Result], blocks: Iterable[Block]) -> Iterator[Result]:
        """Yield the function of each block, in the order of the blocks."""
        sent = self._send(function)
        running: dict[Any, int] = {}
        results: deque[Any] = deque()
        for block in blocks:
            if len(results) >= BLOCKS_AT_ONCE * self.n_workers:
                yield self._result(results.popleft())
            worker = self._free_worker(running)
            call = self._workers[worker].run.remote(*sent, block)
            running[call] = worker
            results.append(call)
        while results:
            yield self._result(results.popleft())

    def keep(self, block: Block) -> Block:
        """Return a reference to the block in the memory that the workers of a machine share."""
        import ray

        kept: Block = ray.put(block)  # a reference, which Ray replaces by the block itself
        return kept

    def crew(self) -> RayActors:
        """Return processes that train together with this one; their cores are those of the workers, which end."""
        self._end_workers()
        return RayActors(self.n_workers)

    def pids(self) -> list[int]:
        """Return the numbers of the workers' processes, which exist from the first block on."""
        import ray

        self._start_workers()
        found: list[int] = ray.get([worker.pid.remote() for worker in self._workers])
        return found

    def _connect(self, address: str | None) -> None:
        """Connect to a cluster, or start one."""
        import ray

        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        try:
            if address is not None:
                ray.init(address, **quiet)
            else:
                self._start_cluster(quiet)
            self._connected = True
        except Exception as error:  # Ray has no class of its own for it
            self.__exit__()
            if address is not None:
                raise _unreachable(address, error) from error
            raise EngineError(
                f"no Ray cluster can be started here ({_first_line(error)}); pass --engine local."
            ) from error

    def _start_cluster(self, quiet: dict[str, Any], attempts: int = STARTS) -> None:
        """Start a cluster of this machine alone."""
        import ray

        # Its sockets need a short path, and its folder is nobody else's business.
        self._folder = self._folder or tempfile.mkdtemp(prefix="shoal-", dir="/tmp" if os.name == "posix" else None)
        here = {"num_cpus": self._wanted or os.cpu_count(), "num_gpus": 0, "include_dashboard": False}
        try:
            ray.init("local", _temp_dir=self._folder, **here, **quiet)
        except Exception:
            if attempts == 1:
                raise
            ray.shutdown()
            self._start_cluster(quiet, attempts - 1)

    def _start_workers(self) -> None:
        """Start the workers before the first block."""
        if not self._workers:
            import ray

            actor: Any = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=RETRIES)(Worker)
            self._workers = [actor.remote() for _ in range(self.n_workers)]

    def _end_workers(self) -> None:
        """End the workers; the next block starts new ones."""
        import ray

        for worker in self._workers:
            ray.kill(worker)
        self._workers, self._sent = [], None

    def _send(self, function: Callable[..., Any]) -> tuple[int, list[Any]]:
        """Put a function where all workers can fetch it; return its number, and its place for :meth:`Worker.run`.

        If the last one had the same fingerprint, that is the one: workers that have it need not load it again.
        """
        import ray

        self._start_workers()
        fingerprint = getattr(function, "fingerprint", None)
        if fingerprint is not None and self._sent is not None and self._sent[0] == fingerprint:
            return self._sent[1]
        self._sent = None  # two encoders need not fit
        try:
            sent = next(self._numbers), [ray.put(function)]  # in a list: Ray would fetch it for every block
        except (TypeError, AttributeError) as error:
            raise ParameterError(
                f"{type(function).__name__} cannot be sent to other processes ({_first_line(error)}); "
                "pass engine 'local'."
            ) from error
        if fingerprint is not None:
            self._sent = fingerprint, sent
        return sent

    def _free_worker(self, running: dict[Any, int]) -> int:
        """Return the worker with the fewest blocks; wait until it has less than it may have."""
        import ray

        while True:
            done, _ = ray.wait(list(running), num_returns=len(running), timeout=0) if running else ([], [])
            for call in done:
                del running[call]
            loads = Counter(running.values())
            worker = min(range(self.n_workers), key=lambda each: loads[each])
            if loads[worker] < BLOCKS_PER_WORKER:
                return worker
            ray.wait(list(running), num_returns=1)

    def _result(self, call: Any) -> Any:
        """Return the result of a block; an error of the function is raised as if it had been called here."""
        import ray

        try:
            return ray.get(call)
        except ray.exceptions.RayTaskError as error:
            cause: BaseException = error.cause
            if not isinstance(cause, ray.exceptions.RayError):
                raise cause from None
            raise EngineError(
                f"a worker cannot load its work ({_first_line(cause)}); install the same packages on every machine."
            ) from error
        except ray.exceptions.RayError as error:
            raise EngineError(
                f"a block ended its worker {RETRIES + 1} times, perhaps for lack of memory "
                f"({_first_line(error)}); pass fewer --workers, or --engine local."
            ) from error


def _require_listening(address: str) -> None:
    """Refuse an address that nobody answers at: Ray itself would wait for a minute, and then end the process."""
    if address == "auto":
        return
    try:
        parts = urlsplit(address if "//" in address else f"//{address}")
        if parts.hostname is None or parts.port is None:
            raise ValueError("it is no HOST:PORT")
        socket.create_connection((parts.hostname, parts.port), timeout=CONNECT_SECONDS).close()
    except (OSError, ValueError) as error:
        raise _unreachable(address, error) from error


def _unreachable(address: str, reason: BaseException) -> EngineError:
    """Return the error for a cluster that cannot be reached."""
    return EngineError(
        f"{ADDRESS}={address} cannot be reached ({_first_line(reason)}); start Ray there, or unset {ADDRESS} for a "
        "cluster of this machine alone."
    )


def _first_line(error: BaseException) -> str:
    """Return the first line of a message."""
    return str(error).strip().partition("\n")[0]
