"""Terminals, pipes and files: what goes where, whatever they can take."""

from __future__ import annotations

import os
import subprocess
import sys

import polars as pl
import pytest

from cli_tickets import FAST, made_table
from shoal.cli.console import shown

SHOAL = [sys.executable, "-c", "from shoal.cli import main; main()"]


@pytest.fixture
def run(fit, tmp_path):
    """Return a run on texts with what a terminal would obey and a spreadsheet would compute."""
    table = made_table()
    odd = ["=1+1", "+49 30", "-5", "@sum", "\x1b[2Jétage \x9b31m", *table["body"][5:]]
    table.with_columns(body=pl.Series(odd)).write_csv(tmp_path / "odd.csv")
    return fit(tmp_path / "odd.csv", "--text", "body", "--clusters", 3)[1]


def called(*arguments: object, **options) -> subprocess.CompletedProcess:
    return subprocess.run([*SHOAL, *map(str, arguments)], timeout=120, stderr=subprocess.PIPE, **options)


@pytest.mark.slow
class TestStreams:
    def test_a_terminal_of_ascii(self, run, tmp_path):
        environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
        for arguments in (
            ("show", run),
            ("show", run, "--json"),
            ("predict", run, tmp_path / "odd.csv", "--text", "body"),
        ):
            ended = called(*arguments, env=environment, stdout=subprocess.PIPE)
            assert (ended.returncode, ended.stderr) == (0, b"")
        assert "étage".encode() in ended.stdout  # a table is UTF-8, whatever the terminal is

    def test_a_closed_standard_output(self, run):
        ended = called("show", run, preexec_fn=lambda: os.close(1))
        assert (ended.returncode, ended.stderr) == (0, b"")

    def test_a_pipe_that_ends_early(self, run):
        reading, writing = os.pipe()
        os.close(reading)
        ended = called("show", run, stdout=writing)
        os.close(writing)
        assert (ended.returncode, ended.stderr) == (1, b"")

    def test_a_full_disk(self, run):
        with open("/dev/full", "wb") as full:  # noqa: PTH123
            ended = called("show", run, stdout=full)
        assert ended.returncode == 1
        assert ended.stderr.startswith(b"Error: [Errno 28] No space left on device")

    def test_names_that_are_not_utf8(self, tmp_path):
        folder = os.fsencode(tmp_path) + b"/\xff\x1b[2J"
        os.mkdir(folder)  # noqa: PTH102 - a name in bytes
        table = folder + b"/t\xe9xts.csv"
        made_table().write_csv(os.fsdecode(tmp_path / "plain.csv"))
        os.rename(tmp_path / "plain.csv", table)  # noqa: PTH104
        fit = [*SHOAL, "fit", table, "--text", "body", *FAST, "--clusters", "3"]
        ended = subprocess.run(fit, cwd=folder, capture_output=True, timeout=120)
        assert ended.returncode == 0, ended.stderr
        assert b"\x1b" not in ended.stderr
        ended = subprocess.run([*fit, "--json"], cwd=folder, capture_output=True, timeout=120)
        assert ended.returncode == 0, ended.stderr
        made = sorted(os.listdir(folder + b"/runs"))  # noqa: PTH208
        assert made == [b"t-xts-tfidf-kmeans-1", b"t-xts-tfidf-kmeans-2"]


def test_a_terminal_is_not_obeyed(shoal, run):
    answer = shoal("show", run)
    assert answer.code == 0
    assert not {"\x1b", "\x9b"} & set(answer.out + answer.err)
    assert shown("a\tb\nc") == "a\tb\nc"
    assert shown("\x1b]0;title\x07 \u202egpj.exe \ud800") == "�]0;title� �gpj.exe �"


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_safe_csv(shoal, run, tmp_path, suffix):
    for options, first in (((), "=1+1"), (("--safe-csv",), "'=1+1")):
        out = tmp_path / f"out{len(options)}{suffix}"
        assert shoal("predict", run, tmp_path / "odd.csv", "--text", "body", "--out", out, *options).code == 0
        cells = pl.read_csv(out, separator="," if suffix == ".csv" else "\t", infer_schema=False)["body"].to_list()
        assert (cells[0], cells[5][0].isalpha()) == (first, True)
    printed = shoal("predict", run, tmp_path / "odd.csv", "--text", "body", "--safe-csv").out
    assert "'@sum" in printed


def test_safe_csv_of_a_fit(fit, run, tmp_path):
    _, safe = fit(tmp_path / "odd.csv", "--text", "body", "--clusters", 3, "--safe-csv", out="safe")
    for folder, first in ((run, "=1+1"), (safe, "'=1+1")):
        assert pl.read_csv(folder / "assignments.csv", infer_schema=False)["body"][0] == first
    assert pl.read_parquet(safe / "assignments.parquet")["body"][0] == "=1+1"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "Error: there is not enough memory"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"), "Error: DefaultCPUAllocator"),
        (pl.exceptions.ComputeError("No space left on device (os error 28)"), "Error: No space left on device"),
    ],
)
def test_what_the_machine_lacks_is_no_bug(shoal, tickets, tmp_path, monkeypatch, error, message):
    def fail(*_):
        raise error

    monkeypatch.setattr("shoal.methods.two_stage.TwoStage._fit", fail)
    answer = shoal("fit", tickets, "--text", "body", *FAST, "--clusters", 3, "--out", tmp_path / "run")
    assert answer.code == 1
    assert answer.err.startswith(message)
    assert "bug" not in answer.err
