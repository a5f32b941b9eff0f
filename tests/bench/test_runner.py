"""The runner: real processes, killed, doubled, repeated."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest

from shoal.bench.cell import Cell
from shoal.bench.data_sets import find_data_set
from shoal.bench.results import Results
from shoal.bench.runner import Runner, Task, in_order, is_done

posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")


def made_cell(seed: int = 0, **params) -> Cell:
    return Cell("bow-kmeans", {"n_clusters": 3, "n_init": 1, **params}, "topics", None, seed)


@pytest.fixture
def results(tmp_path) -> Results:
    return Results(tmp_path / "bench.jsonl")


@pytest.fixture
def task(data):
    """Return a function that makes a task of a cell."""
    sha256 = find_data_set("topics").sha256
    return lambda cell, row="row", cost="cheap": Task(cell, sha256, row, cost, 60)


def start(results: Results, tasks: list[Task]) -> subprocess.Popen[str]:
    """Start a runner in a process of its own."""
    cells = json.dumps([[task.cell.as_dict(), task.data_sha256] for task in tasks])
    command = [sys.executable, str(Path(__file__).with_name("run_cells.py")), str(results.file), cells]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(found, process: subprocess.Popen[str]):
    """Wait until ``found()`` is true while the process runs; return what it gave."""
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and process.poll() is None:
        answer = found()
        if answer:
            return answer
        time.sleep(0.02)
    raise AssertionError(f"it never happened: {process.communicate()}")


def children(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children()


def test_cheap_cells_come_first_then_seeds_and_each_cell_once(task):
    dear, second, first = made_cell(0, n_init=5), made_cell(1), made_cell(0)
    ordered = in_order([task(dear, "D", "dear"), task(second), task(first), task(first, "again")])
    assert [each.cell for each in ordered] == [first, second, dear]
    assert ordered[0].row == "row"


def test_done_means_ok_with_the_parameters_of_today(task):
    wanted = task(made_cell())
    record = {"status": "ok", "settings": wanted.cell.settings()}
    assert is_done(wanted, {wanted.key: record})
    assert not is_done(wanted, {})
    assert not is_done(wanted, {wanted.key: record | {"status": "failed"}})
    older = {**record["settings"], "gone": 1}
    del older["sif_a"]  # as if it had come since
    assert is_done(wanted, {wanted.key: record | {"settings": older}})
    assert not is_done(wanted, {wanted.key: record | {"settings": {**older, "max_features": 7}}}), "another default"


def test_what_is_done_is_left_alone_and_what_failed_is_tried_again(task, data, results):
    tasks = [task(made_cell()), task(made_cell(n_clusters=100)), task(Cell("bow-kmeans", {}, "nowhere", None, 0))]
    lines: list[str] = []
    runner = Runner(results, jobs=2, threads=1, data_folder=data, say=lines.append)
    first = runner.run(tasks)
    assert (first.wanted, first.already, first.ended) == (3, 0, {"ok": 1, "failed": 2, "unavailable": 0})
    ok, failed, dead = (results.by_key()[each.key] for each in tasks)
    assert (ok["status"], ok["threads"], ok["scores"]["acc"]) == ("ok", 1, 100.0)
    assert failed["reason"].startswith("ParameterError: n_clusters=100")
    assert dead["reason"].startswith("the process ended with code 1: shoal.errors.DataError: data set 'nowhere'")
    assert any(line.startswith("topics · row · seed 0: ACC 100.0  NMI 100.0  (") for line in lines)
    assert any("failed: ParameterError: n_clusters=100" in line for line in lines)

    size = results.file.stat().st_size
    started = runner.run(tasks[:1])
    assert (started.already, sum(started.ended.values())) == (1, 0)
    assert results.file.stat().st_size == size
    again = runner.run([tasks[0], tasks[2]])
    assert (again.already, again.ended["failed"]) == (1, 1)


@pytest.mark.slow
@posix_only
def test_interrupted_and_killed_it_goes_on_and_nothing_is_left_running(task, data, results):
    tasks = [task(made_cell(seed)) for seed in range(2)]
    interrupted = start(results, tasks)
    running = wait_for(lambda: children(interrupted), interrupted)
    interrupted.send_signal(signal.SIGINT)
    interrupted.communicate(timeout=30)
    assert interrupted.returncode != 0
    assert not any(child.is_running() for child in running), "ended before the runner"

    killed = start(results, tasks)
    wait_for(results.records, killed)
    running = wait_for(lambda: children(killed), killed)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    _, alive = psutil.wait_procs(running, timeout=30)
    assert not alive, "a cell ends with its runner"
    with results.file.open("ab") as stream:
        stream.write(b'{"schema": 1, "key"')  # as if it had been killed while it wrote

    lines: list[str] = []
    summary = Runner(results, jobs=2, data_folder=data, say=lines.append).run(tasks)
    assert (summary.already, summary.ended["ok"]) == (1, 1)
    assert "was torn off in the middle" in lines[0]
    assert Counter(record["key"] for record in results.records()) == {each.key: 1 for each in tasks}


@pytest.mark.slow
def test_two_at_once_share_the_work(task, data, results):
    tasks = [task(made_cell(seed)) for seed in range(2)]
    runners = [start(results, tasks) for _ in range(2)]
    answers = [runner.communicate(timeout=120) for runner in runners]
    assert [runner.returncode for runner in runners] == [0, 0], answers
    told = [json.loads(out) for out, _ in answers]
    assert sum(each["ok"] for each in told) == 2
    assert all(each["ok"] + each["elsewhere"] == 2 for each in told)
    assert Counter(record["key"] for record in results.records()) == {each.key: 1 for each in tasks}
    assert all(record["status"] == "ok" for record in results.records())
