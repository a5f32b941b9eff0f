"""``shoal`` with its imports paid once: each call is a fork of a process that has imported everything and used nothing.

The requests come as lines of JSON on the standard input, the answers go to the standard output.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Answer:
    """How a call ended."""

    code: int | None  # None: killed
    writes: int
    out: str
    err: str


class ForkedShoal:
    """Runs ``shoal ARGUMENTS``, and kills it at the n-th change of a folder if asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Self:
        # Logs and the cache are inside the folder that is watched only if they are part of the question.
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]),
            "OMP_NUM_THREADS": "1",
            "HF_HUB_OFFLINE": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "SHOAL_CACHE": str(self.folder / "cache"),
        }
        environment.pop("SHOAL_DEBUG", None)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "campaign.forked_shoal"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)

    def __call__(self, *arguments: object, kill_at: int | None = None) -> Answer:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"arguments": list(map(str, arguments)), "kill_at": kill_at, "folder": str(self.folder)}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return Answer(**json.loads(self._process.stdout.readline()))


def _serve() -> None:
    """Answer requests until there are no more."""
    import importlib

    for name in (
        "torch",
        "transformers",
        "shoal.cli",
        "shoal.fitting",
        "shoal.methods.sccl",
        "shoal.methods.two_stage",
    ):
        importlib.import_module(name)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        answers.write(json.dumps(_run(json.loads(line))) + "\n")
        answers.flush()


def _run(request: dict[str, Any]) -> dict[str, Any]:
    """Run one command in a fork."""
    from campaign.tracing import run_traced

    folder = Path(request["folder"])
    logs = [folder.with_name(f"{folder.name}.{name}") for name in ("out", "err")]

    def action() -> None:
        from shoal.cli import main

        for number, log in enumerate(logs, start=1):
            os.dup2(os.open(log, os.O_CREAT | os.O_TRUNC | os.O_WRONLY), number)
        sys.argv = ["shoal", *request["arguments"]]
        try:
            main()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()

    ending = run_traced(action, folder, request["kill_at"])
    out, err = (log.read_text("utf-8", "replace") for log in logs)
    return {"code": ending.code, "writes": ending.writes, "out": out, "err": err}


if __name__ == "__main__":
    _serve()
