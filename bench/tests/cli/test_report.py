"""``shoal-bench report``: a thin command over ``write_pages``."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from shoal.errors import DataError
from shoal_bench.cli import report as report_command
from shoal_bench.report import write

app = typer.Typer()
app.command()(report_command.report)


def test_the_files_written_are_said(tmp_path, monkeypatch):
    asked = []

    def write_pages(results, folder, suites):
        asked.append((results, folder, suites))
        return [folder / "benchmarks.md", folder / "a.png"]

    monkeypatch.setattr(write, "write_pages", write_pages)
    results, out = tmp_path / "r.jsonl", tmp_path / "docs"
    arguments = ["--results", str(results), "--out", str(out), "--suite", "one", "--suite", "two"]
    told = CliRunner().invoke(app, arguments)
    assert told.exit_code == 0
    assert "benchmarks.md" in told.stderr
    assert "1 pictures" not in told.stderr
    assert asked == [(results, out, ["one", "two"])]
    answer = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert answer == {"files": [str(out / name) for name in ("benchmarks.md", "a.png")]}


def test_without_results_the_command_says_what_to_do(tmp_path):
    arguments = ["--results", str(tmp_path / "nothing.jsonl"), "--out", str(tmp_path)]
    failed = CliRunner().invoke(app, arguments)
    assert isinstance(failed.exception, DataError)
    with pytest.raises(DataError, match="there are no results"):
        raise failed.exception
