"""A command line, called as the shell calls it but in this process."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict:
        return json.loads(self.out)


def caller(name: str, main: Callable[[], None], capsys, monkeypatch) -> Callable[..., Answer]:
    """Return a function that runs ``NAME ARGUMENTS``."""

    def run(*arguments: object) -> Answer:
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ending:
            main()
        said = capsys.readouterr()
        code = ending.value.code
        return Answer(code if isinstance(code, int) else 0, said.out, said.err)

    return run
