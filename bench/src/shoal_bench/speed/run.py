"""Running the speed suite: what is missing, one process at a time, each record appended as it comes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict

from filelock import FileLock, Timeout

from shoal import __version__
from shoal.cache import cache_folder
from shoal.progress import progress
from shoal_bench.child import child_environment, record_of
from shoal_bench.results import FAILED, OK, Record, Results, key_of
from shoal_bench.speed.figures import exponents
from shoal_bench.speed.measures import speed_record
from shoal_bench.speed.plan import GROWTHS, SpeedRequest

_MODULE = "shoal_bench.speed"


def missing(requests: Sequence[SpeedRequest], results: Results) -> list[SpeedRequest]:
    """Return the measures that the results do not have."""
    known = results.by_key()
    return [request for request in requests if known.get(request.key, {"status": FAILED})["status"] != OK]


def run_speed(requests: Sequence[SpeedRequest], results: Results, *, again: bool = False) -> tuple[list[Record], int]:
    """Take the measures that the results do not have yet, then fit the exponents of growth.

    One run of the suite at a time: a second one waits for the first, for they would slow each other down.

    Parameters
    ----------
    requests : sequence of SpeedRequest
        What is wanted.
    results : Results
        What is there, and where records go.
    again : bool, default=False
        Take measures that are there already once more.

    Returns
    -------
    records : list of dict
        Every record that was asked for, old or new, exponents included.
    n_taken : int
        How many measures the results did not have.
    """
    with _alone(results.say):
        waiting = requests if again else missing(requests, results)
        if waiting:
            results.prepare()
        with progress("Speed", len(waiting), unit="measures") as bar:
            for request in waiting:
                bar.advance(0, request.title)
                record = _measured(request)
                results.append(record)
                results.say(f"{request.title}: {told(record)}")
                bar.advance(1, request.title)
        known = results.by_key()
        growths = _growths(requests, known)
        for growth in growths:
            if known.get(growth["key"], {}).get("exponent") != growth["exponent"]:
                results.append(growth)
                results.say(f"{growth['measure']}: {told(growth)}")
    return [*(known[request.key] for request in requests if request.key in known), *growths], len(waiting)


def _alone(say: Callable[[str], None]) -> AbstractContextManager[object]:
    """Take the suite's lock; say so if another run has it, and wait."""
    folder = cache_folder() / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / "speed.lock")
    try:
        return lock.acquire(timeout=0)
    except Timeout:
        say("another run of the speed suite is going on; waiting for it, so that they do not slow each other down …")
        return lock.acquire()


def _measured(request: SpeedRequest) -> Record:
    """Take a measure in a process of its own; a process that dies leaves a record of that."""
    ended = subprocess.run(
        [sys.executable, "-m", _MODULE],
        input=json.dumps(asdict(request)).encode(),
        env=child_environment(request.threads),
        capture_output=True,
        check=False,
    )
    return record_of(ended.returncode, ended.stdout, ended.stderr, lambda: speed_record(request.key, request.as_dict()))


def _growths(requests: Sequence[SpeedRequest], known: dict[str, Record]) -> list[Record]:
    """Return a record with the exponents for each measure of growth that has two sizes or more."""
    good = [known[request.key] for request in requests if known.get(request.key, {}).get("status") == OK]
    growths = []
    for measure in GROWTHS:
        found = [record for record in good if record["measure"] == measure]
        if len(found) > 1:
            shared = {name: found[0][name] for name in ("texts", "threads", "backbone", "method")}
            sizes = [record["n_texts"] for record in found]
            identity = {"measure": f"{measure}-exponent", **shared, "sizes": sizes}
            facts = {**identity, "n_texts": max(sizes), "exponent": exponents(found)}
            growths.append(speed_record(key_of({**identity, "version": __version__}), facts))
    return growths


def told(record: Record) -> str:
    """Say in a line what came of a measure.

    Examples
    --------
    >>> told({"status": "ok", "ratio": 1.5, "reference": "a plain loop", "seconds": 2.0, "peak_memory_mb": 700.0})
    '1.50 times the speed of: a plain loop  (2.00 s, 700 MB)'
    """
    if record["status"] != OK:
        return f"{record['status']}: {record['reason']}"
    if record.get("exponent"):
        fitted = {name: value for name, value in record["exponent"].items() if value is not None}
        return "exponents  " + "  ".join(f"{name} {value:.2f}" for name, value in fitted.items())
    cost = f"{record['seconds']:.2f} s, {record['peak_memory_mb'] or 0:.0f} MB"
    if record["ratio"] is None:
        return cost
    return f"{record['ratio']:.2f} times the speed of: {record['reference']}  ({cost})"
