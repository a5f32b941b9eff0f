"""The command line, called as the shell calls it, and texts of three topics that it can tell apart."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from cli_tickets import FAST, made_table
from command_line import caller
from shoal.cli import main


@pytest.fixture
def shoal(capsys, monkeypatch):
    """Return a function that runs ``shoal ARGUMENTS`` in this process."""
    return caller("shoal", main, capsys, monkeypatch)


@pytest.fixture
def fit(shoal, tmp_path):
    """Return a function that fits the fast method and returns the JSON object and the run folder."""

    def run(source: object, *arguments: object, out: str = "run") -> tuple[dict, Path]:
        answer = shoal("fit", source, *FAST, "--out", tmp_path / out, "--json", *arguments)
        assert answer.code == 0, answer.err
        return answer.json, tmp_path / out

    return run


@pytest.fixture
def tickets(tmp_path) -> Path:
    """Return a csv of 30 rows."""
    made_table().write_csv(tmp_path / "tickets.csv")
    return tmp_path / "tickets.csv"


@pytest.fixture
def stdin(monkeypatch):
    """Return a function that puts bytes on the standard input."""

    def feed(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))

    return feed
