"""``shoal`` with its imports paid once: each call is a fork of a process that has imported everything and used nothing.

The requests come as lines of JSON on the standard input, the answers go to the standard output.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

NETWORK = 99  # the code of a process that asked for the network
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

    def __call__(
        self, *arguments: object, kill_at: int | None = None, forbidden: Path | None = None, seconds: int = 120
    ) -> Answer:
        """Run a command; ``forbidden`` is a folder in which opening a file counts as a write; so does the network."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"arguments": list(map(str, arguments)), "kill_at": kill_at, "folder": str(self.folder)}
        request |= {"forbidden": None if forbidden is None else str(forbidden), "seconds": seconds}
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

        signal.alarm(request["seconds"])
        _cut_off()
        for number, log in enumerate(logs, start=1):
            os.dup2(os.open(log, os.O_CREAT | os.O_TRUNC | os.O_WRONLY), number)
        sys.argv = ["shoal", *request["arguments"]]
        try:
            main()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()

    forbidden = request["forbidden"]
    ending = run_traced(action, Path(forbidden or folder), request["kill_at"], reads=forbidden is not None)
    out, err = (log.read_text("utf-8", "replace") for log in logs)
    return {"code": ending.code, "writes": ending.writes, "out": out, "err": err}


def _cut_off() -> None:
    """End the process with a code of its own if it asks for another machine."""

    def refuse(*_: object, **__: object) -> None:
        os._exit(NETWORK)

    socket.getaddrinfo = socket.create_connection = socket.socket.connect = refuse  # type: ignore[assignment,method-assign]


if __name__ == "__main__":
    _serve()
