"""``shoal-bench``, called as the shell calls it."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass

import pytest

from shoal_bench.cli import main


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
def shoal_bench(capsys, monkeypatch):
    """Return a function that runs ``shoal-bench ARGUMENTS`` in this process."""

    def run(*arguments: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["shoal-bench", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ending:
            main()
        said = capsys.readouterr()
        code = ending.value.code
        return Answer(code if isinstance(code, int) else 0, said.out, said.err)

    return run
