"""The runner: real processes, killed, doubled, repeated; what they measure is made up."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from filelock import FileLock, Timeout

from shoal.errors import DataError
from shoal_bench import runner as module
from shoal_bench.cell import Cell
from shoal_bench.results import Results
from shoal_bench.runner import Runner, Task, in_order, is_done
from stand_in_cell import SHA256

posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
STAND_IN = (sys.executable, str(Path(__file__).with_name("stand_in_cell.py")))


@pytest.fixture
def results(tmp_path) -> Results:
    return Results(tmp_path / "bench.jsonl")


@pytest.fixture(autouse=True)
def _stand_in(monkeypatch):
    monkeypatch.setattr(module, "_COMMAND", STAND_IN)


def made_task(seed: int = 0, row: str = "row", cost: str = "cheap", **params) -> Task:
    return Task(Cell(None, params, "made-up", None, seed, "stand-in"), SHA256, row, cost, 60)


def start(results: Results, tasks: list[Task]) -> subprocess.Popen[str]:
    """Start a runner in a process of its own."""
    cells = json.dumps([[task.cell.as_dict(), task.data_sha256] for task in tasks])
    command = [sys.executable, str(Path(__file__).with_name("run_cells.py")), str(results.file), cells]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def is_held(file: Path) -> bool:
    """Tell whether a living process holds the lock."""
    try:
        FileLock(file).acquire(timeout=0).lock.release()
    except Timeout:
        return True
    return False


def wait_until(happened) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)


def test_cheap_cells_come_first_then_seeds_and_each_cell_once():
    expensive, second, first = made_task(cost="expensive", size=9), made_task(1), made_task()
    ordered = in_order([expensive, second, first, made_task(row="again")])
    assert ordered == [first, second, expensive]


def test_done_means_ok_with_the_parameters_of_today():
    wanted = Task(Cell("bow-kmeans", {"n_clusters": 3, "n_init": 1}, "topics", None, 0), SHA256, "row", "cheap", 60)
    record = {"status": "ok", "cell": wanted.cell.as_dict(), "settings": wanted.cell.settings()}
    assert is_done(wanted, {wanted.key: record})
    assert not is_done(wanted, {})
    assert not is_done(wanted, {wanted.key: record | {"status": "failed"}})
    older = {**record["settings"], "gone": 1}
    del older["sif_a"]  # as if it had come since
    assert is_done(wanted, {wanted.key: record | {"settings": older}})
    assert not is_done(wanted, {wanted.key: record | {"settings": {**older, "max_features": 7}}}), "another default"


def test_what_is_done_is_left_alone_and_what_failed_is_tried_again(results, tmp_path, monkeypatch):
    tasks = [made_task(), made_task(status="failed"), made_task(status="unavailable"), made_task(dies=3)]
    lines: list[str] = []
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path / "data"))
    runner = Runner(Results(results.file, lines.append), jobs=2, threads=3)
    first = runner.run(tasks)
    assert first == {"wanted": 4, "already": 0, "ok": 1, "failed": 2, "unavailable": 1, "elsewhere": 0}
    ok, failed, _, dead = (results.by_key()[each.key] for each in tasks)
    assert (ok["threads"], ok["data"]) == ("3", str(tmp_path / "data")), "threads are pinned, the data named"
    assert (failed["status"], dead["status"]) == ("failed", "failed")
    assert dead["reason"] == "the process ended with code 3: it hurts"
    assert "made-up · row · seed 0: ACC 90.0  NMI 80.0  (1 s, 2 MB)" in lines
    assert "made-up · row · seed 0: failed: made up" in lines

    size = results.file.stat().st_size
    second = runner.run(tasks[:1])
    assert second == {"wanted": 1, "already": 1, "ok": 0, "failed": 0, "unavailable": 0, "elsewhere": 0}
    assert results.file.stat().st_size == size
    again = runner.run([tasks[0], tasks[3]])
    assert (again["already"], again["failed"]) == (1, 1)


@pytest.mark.parametrize("last_words", ["bye!", "[1]"])
def test_a_last_line_that_is_no_record_is_a_failure_of_its_cell(results, monkeypatch, last_words):
    monkeypatch.setattr(module, "_COMMAND", (*STAND_IN, last_words))
    assert Runner(results).run([made_task()])["failed"] == 1
    assert results.records()[0]["reason"] == "the process ended with code 0: it said nothing"


def test_results_that_cannot_be_written_are_said_before_anything_is_run(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(Runner, "_child", lambda *_: pytest.fail("started"))
    with pytest.raises(DataError, match=r"cannot be (read|written).*Not a directory"):
        Runner(Results(tmp_path / "file" / "bench.jsonl")).run([made_task()])


def test_a_cell_that_another_runner_ends_meanwhile_is_not_run_again(results, monkeypatch):
    task = made_task()

    class Busy(Results):
        def by_key(self):
            known = super().by_key()
            if not known:  # just after this runner has looked
                self.append({"schema": 1, "key": task.key, "status": "ok"})
            return known

    monkeypatch.setattr(Runner, "_child", lambda *_: pytest.fail("started"))
    assert Runner(Busy(results.file)).run([task])["elsewhere"] == 1


@posix_only
def test_interrupted_and_killed_it_goes_on_and_nothing_is_left_running(results, tmp_path):
    alive = [tmp_path / f"{number}.lock" for number in range(4)]
    first, slow = made_task(), [made_task(1, alive=str(file), seconds=60) for file in alive]

    interrupted = start(results, slow[:1])
    wait_until(lambda: alive[0].exists() and is_held(alive[0]))
    interrupted.send_signal(signal.SIGINT)
    interrupted.communicate(timeout=30)
    assert interrupted.returncode != 0
    assert not is_held(alive[0]), "ended before the runner"

    killed = start(results, [first, slow[1]])
    wait_until(lambda: alive[1].exists() and is_held(alive[1]))
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    wait_until(lambda: not is_held(alive[1]))  # a cell ends with its runner
    assert len(results.records()) == 1
    with results.file.open("ab") as stream:
        stream.write(b'{"schema": 1, "key"')  # as if it had been killed while it wrote

    lines: list[str] = []
    tasks = [first, made_task(2)]
    summary = Runner(Results(results.file, lines.append), jobs=2).run(tasks)
    assert (summary["already"], summary["ok"]) == (1, 1)
    assert "was torn off in the middle" in lines[0]
    assert Counter(record["key"] for record in results.records()) == {each.key: 1 for each in tasks}


def test_two_at_once_share_the_work(results):
    tasks = [made_task(seed, seconds=0.2) for seed in range(4)]
    runners = [start(results, tasks) for _ in range(2)]
    answers = [runner.communicate(timeout=60) for runner in runners]
    assert [runner.returncode for runner in runners] == [0, 0], answers
    told = [json.loads(out) for out, _ in answers]
    assert sum(each["ok"] for each in told) == 4
    assert Counter(record["key"] for record in results.records()) == {each.key: 1 for each in tasks}
    assert all(record["status"] == "ok" for record in results.records())
