"""A virtual environment for each peer, built once, so that no tool's requirements meet another's or Shoal's."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock

from shoal.cache import cache_folder, write_atomically
from shoal.errors import ShoalError
from shoal.progress import progress

_MARKER = "ready.json"
_SHOWN_LINES = 5


@dataclass(frozen=True)
class Peer:
    """A tool of other people.

    Attributes
    ----------
    name : str
        Its name on the command line and in suites.
    requirements : tuple of str
        What pip installs, pinned.
    script : Path
        The file that :mod:`shoal_bench.peers.answer` runs in its environment.
    options : dict of str to Any
        What a suite's ``peer_options`` may set, with the defaults.
    needs_vectors : bool
        Whether it can do nothing without vectors.
    """

    name: str
    requirements: tuple[str, ...]
    script: Path
    options: dict[str, Any] = field(default_factory=dict)
    needs_vectors: bool = True

    @property
    def folder(self) -> Path:
        """Where its environment is: other requirements or another Python have another folder."""
        content = json.dumps([self.requirements, sys.version_info[:2], sys.platform])
        return cache_folder() / "peers" / f"{self.name}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"

    @property
    def python(self) -> Path:
        """The environment's Python."""
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def ensure_environment(peer: Peer) -> Path:
    """Build the environment of a peer if it is not there, and return its Python.

    Processes that ask at once wait for the one that builds. An environment that was built in part is built again.

    Parameters
    ----------
    peer : Peer
        The peer.

    Raises
    ------
    ShoalError
        If its packages cannot be installed; the message has pip's last words.
    """
    peer.folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{peer.folder}.lock"):
        if not ((peer.folder / _MARKER).is_file() and peer.python.exists()):
            shutil.rmtree(peer.folder, ignore_errors=True)
            _build(peer)
            write_atomically(peer.folder / _MARKER, json.dumps(peer.requirements).encode())
    return peer.python


def _build(peer: Peer) -> None:
    """Make the environment and install the requirements."""
    # seven retries: half a minute in all where there is no network
    pip = [str(peer.python), "-I", "-m", "pip", "install", "--retries", "7", "--disable-pip-version-check"]
    # By its exact version, before the others and as a limit to them: a bare requirement of torch, as most have it,
    # would bring gigabytes of CUDA packages.
    torch = [requirement for requirement in peer.requirements if requirement.startswith("torch==")]
    others = [requirement for requirement in peer.requirements if requirement not in torch]
    with progress(f"Preparing {peer.name}", total=3, unit="steps") as bar:
        bar.advance(0)
        _run([sys.executable, "-I", "-m", "venv", str(peer.folder)], peer, bar.advance)
        bar.advance(1)
        limits = peer.folder / "constraints.txt"
        limits.write_text("\n".join(torch) + "\n", encoding="utf-8")
        for requirements in (torch, [*others, "--constraint", str(limits)] if others else []):
            if requirements:
                _run([*pip, *requirements], peer, bar.advance)
            bar.advance(1)


def _run(command: Sequence[str], peer: Peer, tell: Callable[[int, str], None]) -> None:
    """Run a command, show what it says as it goes, and raise with its last words if it fails."""
    last: deque[str] = deque(maxlen=_SHOWN_LINES)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace"
    ) as process:
        try:
            for line in process.stdout or ():
                last.append(line.strip())
                tell(0, line.strip()[:60])
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        errors = [line for line in last if line.startswith("ERROR")]  # pip's own word; its warnings are many and long
        said = "\n  ".join(errors or last) or "it said nothing"
        raise ShoalError(
            f"the environment of the peer {peer.name!r} could not be built, exit code {process.returncode}:\n  {said}\n"
            f"Check that this machine reaches a package registry and that {', '.join(peer.requirements) or 'venv'} can "
            f"be had for Python {sys.version_info[0]}.{sys.version_info[1]}, then run the command again."
        )
