"""``shoal-bench``: choosing cells, running them, saying what is missing."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress

from cli_tickets import made_table
from shoal_bench.cli import speed
from shoal_bench.runner import Runner

NOTHING = dict.fromkeys(("wanted", "already", "ok", "failed", "unavailable", "elsewhere"), 0)
SUITE = """
title = "Three topics"
source = "made up"
data_sets = ["topics", "absent"]
quick_data_sets = ["topics"]
[[rows]]
name = "BoW"
method = "bow-kmeans"
[[rows]]
name = "TF-IDF"
method = "tfidf-kmeans"
[[rows]]
name = "Tool"
peer = "bertopic"
[[rows]]
name = "Later"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder with a data set, a suite on it, and nothing else to be found."""
    table = made_table(60)
    lines = [f"{label}\t{text}" for label, text in zip(table["topic"], table["body"], strict=True)]
    content = "\n".join(["label\ttext", *lines, ""]).encode()
    (tmp_path / "topics.tsv.gz").write_bytes(gzip.compress(content, mtime=0))
    (tmp_path / "mine.toml").write_text(SUITE)
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def bench(shoal_bench, folder):
    """Return a function that runs ``shoal-bench`` on that suite."""

    def run(*arguments, suite="mine.toml"):
        suite = folder / suite if suite.endswith(".toml") else suite
        return shoal_bench("--suite", suite, "--results", folder / "bench.jsonl", *arguments)

    return run


def planned(answer) -> list[tuple[str, str, int]]:
    assert answer.code == 0, answer.err
    return [(cell["data_set"], cell["row"], cell["seed"]) for cell in answer.json["cells"]]


@pytest.mark.slow
def test_a_suite_is_run_once_and_then_left_alone(bench, folder):
    first = bench("--texts", 45, "--row", "BoW", "--threads", 1, "--json")
    assert first.code == 0, first.err
    expected = {"suites": ["mine"], "tier": "quick", "wanted": 1, "already": 0, "ok": 1}
    assert expected.items() <= first.json.items()
    assert "topics · BoW · seed 0: ACC" in first.err
    (line,) = (folder / "bench.jsonl").read_text().splitlines()
    record = json.loads(line)
    assert (record["cell"]["n_texts"], record["threads"], record["reason"]) == (45, 1, "")
    second = bench("--texts", 45, "--row", "BoW")
    assert second.code == 0
    assert f"All 1 cells are in {folder / 'bench.jsonl'} already; nothing to do." in second.err
    assert planned(bench("--texts", 45, "--dry-run", "--json")) == [("topics", "TF-IDF", 0)]


def test_cells_are_chosen_by_tier_data_set_row_method_peer_and_seed(bench):
    def plan(*arguments):
        return planned(bench("--dry-run", "--json", *arguments))

    assert plan() == [("topics", "BoW", 0), ("topics", "TF-IDF", 0)]
    assert plan("--seeds", "4,2", "--row", "BoW") == [("topics", "BoW", 2), ("topics", "BoW", 4)]
    assert plan("--method", "tfidf-kmeans") == [("topics", "TF-IDF", 0)]
    assert plan("--tier", "standard", "--data-set", "topics", "--row", "BoW") == [
        ("topics", "BoW", n) for n in range(3)
    ]
    assert ("topics", "Tool", 0) in plan("--peer", "bertopic")
    assert plan("--row", "Tool") == [("topics", "Tool", 0)]
    assert "2 cells to run" in bench("--dry-run").out


def test_missing_data_is_a_sentence_and_a_code(bench, folder):
    answer = bench("--tier", "standard", "--dry-run")
    assert answer.code == 3
    assert str(folder / "absent.tsv.gz") in answer.err
    assert "set SHOAL_DATA to the folder that holds it" in answer.err
    answer = bench("--dry-run", suite="sccl-table1")
    assert answer.code == 3
    assert "or run: shoal-bench fetch agnews" in answer.err


def test_all_leaves_out_what_is_not_there(bench, folder):
    answer = bench("--dry-run", "--method", "sccl", suite="all")
    assert answer.code == 3
    assert "none of the data sets" in answer.err
    (folder / "tweet.tsv.gz").write_bytes((folder / "topics.tsv.gz").read_bytes())
    answer = bench("--dry-run", "--json", suite="all")
    assert {name for name, _, _ in planned(answer)} == {"tweet"}
    assert "agnews" in answer.json["left_out"]
    assert "shoal-bench fetch" in answer.err
    assert "agnews" in answer.err


def test_without_any_data_all_is_the_speed_suite(bench):
    answer = bench("--dry-run", "--json", suite="all")
    assert planned(answer) == []
    assert {measure["texts"] for measure in answer.json["measures"]} == {"short docstrings", "long docstrings"}
    assert "Left out" in answer.err
    shown = bench("--dry-run", suite="all").out
    assert "15 measures to take" in shown
    assert "cells to run" not in shown


def test_the_plan_of_the_speed_suite(bench):
    answer = bench("--dry-run", "--json", suite="speed")
    assert (answer.json["cells"], len(answer.json["measures"])) == ([], 15)


@pytest.mark.parametrize(
    ("arguments", "suite", "code", "message"),
    [
        (["--tier", "slow"], "mine.toml", 4, "there is no tier 'slow'"),
        (["--seeds", "a"], "mine.toml", 4, "--seeds 'a' are no seeds"),
        (["--seeds", "0,-1"], "mine.toml", 4, "are no seeds"),
        (["--seeds", "4294967296"], "mine.toml", 4, "from 0 to 4294967295"),
        (["--row", "Later"], "mine.toml", 4, "no row 'Later' that can be run; it has: BoW, TF-IDF, Tool"),
        (["--data-set", "nowhere"], "mine.toml", 4, "no data set 'nowhere'"),
        (["--row", "BoW", "--row", "Bow"], "mine.toml", 4, "no row 'Bow'"),
        (["--peer", "fish"], "mine.toml", 4, "no peer 'fish' that can be run; it has: bertopic"),
        (["--jobs", "0"], "mine.toml", 2, "jobs"),
        ([], "sccl-table9", 4, "there is no suite 'sccl-table9'"),
        ([], "nowhere.toml", 3, "cannot be read"),
    ],
)
def test_bad_input(bench, arguments, suite, code, message):
    answer = bench(*arguments, suite=suite)
    assert answer.code == code
    assert message in answer.err


def test_a_suite_without_a_row_to_run(bench, folder):
    content = 'title = "t"\nsource = "s"\ndata_sets = ["tweet"]\n[[rows]]\nname = "Later"\n'
    (folder / "later.toml").write_text(content)
    answer = bench(suite="later.toml")
    assert answer.code == 4
    assert "no row is left to run" in answer.err


def test_results_that_cannot_be_written(shoal_bench, folder, monkeypatch):
    monkeypatch.setattr(Runner, "_child", lambda *_: pytest.fail("started"))
    answer = shoal_bench("--suite", folder / "mine.toml", "--results", folder)
    assert answer.code == 3
    assert "Is a directory" in answer.err


def test_without_a_suite(shoal_bench):
    answer = shoal_bench()
    assert answer.code == 4
    assert "pass --suite NAME or --suite all. The names: shoal-bench list" in answer.err


def test_failed_cells_are_told_by_the_exit_code(bench, monkeypatch):
    monkeypatch.setattr(Runner, "run", lambda self, tasks: {**NOTHING, "wanted": 2, "ok": 1, "failed": 1})
    answer = bench()
    assert answer.code == 1
    assert "2 cells: 1 ok, 1 failed." in answer.err
    assert "Failed ones are tried again by the same command." in answer.err


def test_threads_are_the_cores_shared_among_the_jobs(bench, monkeypatch):
    asked = []
    monkeypatch.setattr("os.cpu_count", lambda: 6)
    monkeypatch.setattr(Runner, "run", lambda self, tasks: asked.append((self.jobs, self.threads)) or NOTHING)
    for arguments in ((), ("--jobs", 2), ("--jobs", 9), ("--jobs", 2, "--threads", 5)):
        bench(*arguments)
    assert asked == [(1, 6), (2, 3), (9, 1), (2, 5)]


def test_interrupted_it_says_how_to_go_on(bench, monkeypatch):
    def interrupted(self, tasks):
        raise KeyboardInterrupt

    monkeypatch.setattr(Runner, "run", interrupted)
    answer = bench()
    assert answer.code == 130
    assert "Interrupted with 2 cells left; the finished ones are kept. The same command goes on" in answer.err


def test_list(shoal_bench, folder):
    answer = shoal_bench("list", "--json")
    assert answer.code == 0
    assert answer.json["suites"]["sccl-table1"]["rows"]["SCCL"] == "sccl"
    assert answer.json["suites"]["sccl-table1"]["rows"]["HAC-SD"] == "hac-sd"
    assert answer.json["data_sets"]["tweet"] is False
    assert "sccl-table1" in shoal_bench("list").out


def test_help_has_examples_and_says_where_data_is_looked_for(shoal_bench):
    said = shoal_bench("--help").out
    assert "shoal-bench --suite sccl-table1 --tier quick" in said
    assert "SHOAL_DATA" in said


def test_lines_are_printed_above_the_progress_bar():
    shown = io.StringIO()
    with Progress(console=Console(file=shown, force_terminal=True, width=80)) as bar:
        bar.add_task("working", total=2)
        bar.refresh()
        speed.tell("one is done")
    erase = "\x1b[2K"
    assert f"{erase}one is done\n" in shown.getvalue()
