"""The command line, called as the shell calls it, and texts of three topics that it can tell apart."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from cli_tickets import FAST, made_table
from shoal.cli import main


@dataclass(frozen=True)
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict:
        return json.loads(self.out)


@pytest.fixture
def shoal(capsys, monkeypatch):
    """Return a function that runs ``shoal ARGUMENTS`` in this process."""

    def run(*arguments: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["shoal", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ending:
            main()
        said = capsys.readouterr()
        code = ending.value.code
        return Answer(code if isinstance(code, int) else 0, said.out, said.err)

    return run


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
