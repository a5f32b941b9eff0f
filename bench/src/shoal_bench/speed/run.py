"""Running the speed suite: what is missing, one process at a time, each record appended as it comes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from functools import partial

from filelock import FileLock, Timeout

from shoal import __version__
from shoal.cache import cache_folder
from shoal.progress import progress
from shoal_bench.child import child_environment, record_of
from shoal_bench.results import FAILED, OK, Record, Results, key_of
from shoal_bench.speed.figures import exponents
from shoal_bench.speed.measures import blank_record, speed_record
from shoal_bench.speed.plan import GROWTHS, SpeedOptions, SpeedRequest, requests_for

_MODULE = "shoal_bench.speed"


@dataclass
class SpeedSummary:
    """What a run did.

    Attributes
    ----------
    wanted, already : int
        How many measures were asked for, and how many of them the results had.
    records : list of dict
        Every record that was asked for, old or new, exponents included.
    """

    wanted: int
    already: int
    records: list[Record] = field(default_factory=list)

    def count(self, status: str) -> int:
        """Return how many of the records have this status."""
        return sum(record["status"] == status for record in self.records)


def missing(options: SpeedOptions, results: Results, again: bool = False) -> list[SpeedRequest]:
    """Return the measures that the results do not have; with ``again`` all that are asked for."""
    known = results.by_key()
    return [
        request
        for request in requests_for(options)
        if again or known.get(request.key, {"status": FAILED})["status"] != OK
    ]


def run_speed(
    options: SpeedOptions, results: Results, *, again: bool = False, say: Callable[[str], None] = lambda line: None
) -> SpeedSummary:
    """Take the measures that the results do not have yet, then fit the exponents of growth.

    One run of the suite at a time: a second one waits for the first, for they would slow each other down.

    Parameters
    ----------
    options : SpeedOptions
        What is wanted.
    results : Results
        What is there, and where records go.
    again : bool, default=False
        Take measures that are there already once more.
    say : callable
        Gets a line for people now and then.

    Returns
    -------
    SpeedSummary
    """
    with _alone(say):
        wanted = requests_for(options)
        waiting = missing(options, results, again)
        summary = SpeedSummary(len(wanted), len(wanted) - len(waiting))
        healed = results.prepare() if waiting else ""
        if healed:
            say(healed)
        with progress("Speed", len(waiting), unit="measures") as bar:
            for request in waiting:
                bar.advance(0, request.title)
                record = _measured(request)
                healed = results.append(record)
                say(f"{request.title}: {told(record)}")
                if healed:
                    say(healed)
                bar.advance(1, request.title)
        known = results.by_key()
        summary.records = [known[request.key] for request in wanted if request.key in known]
        for growth in _growths(wanted, known):
            if known.get(growth["key"], {}).get("exponent") != growth["exponent"]:
                results.append(growth)
                say(f"{growth['measure']}: {told(growth)}")
            summary.records.append(growth)
    return summary


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
    return record_of(ended.returncode, ended.stdout, ended.stderr, partial(blank_record, request))


def _growths(wanted: list[SpeedRequest], known: dict[str, Record]) -> list[Record]:
    """Return a record with the exponents for each measure of growth that has two sizes or more."""
    growths = []
    for measure in GROWTHS:
        requests = [request for request in wanted if request.measure == measure]
        found = [known[request.key] for request in requests if known.get(request.key, {}).get("status") == OK]
        if len(found) < 2:
            continue
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
