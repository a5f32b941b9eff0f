"""Other people's tools on the same texts and the same vectors, each in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError, ParameterError, ShoalError
from shoal_bench.child import child_environment
from shoal_bench.peers.environment import Peer, ensure_environment

__all__ = ["OURS", "PEERS", "Peer", "ensure_environment", "find_peer", "run_peer"]

_HERE = Path(__file__).parent
_DECLARED: dict[str, dict[str, Any]] = tomllib.loads((_HERE / "peers.toml").read_text(encoding="utf-8"))
PEERS: dict[str, Peer] = {
    name: Peer(name, tuple(facts["requirements"]), _HERE / f"run_{name}.py", facts["options"])
    for name, facts in _DECLARED.items()
}
# Shoal itself, as if it were somebody else's: what a race compares is then measured in the same way.
OURS = Peer("shoal", (), _HERE / "run_shoal.py")


def find_peer(name: str) -> Peer:
    """Return the peer called ``name``.

    Examples
    --------
    >>> find_peer("bertopic").options
    {'topics': 'found', 'outliers': 'kept'}
    """
    if name not in PEERS:
        raise ParameterError(f"there is no peer {name!r}; the peers are {', '.join(PEERS)}.")
    return PEERS[name]


def run_peer(
    cell: Mapping[str, Any],
    texts: Sequence[str],
    labels: Sequence[str],
    vectors: NDArray[np.float32] | None,
    threads: int | None = None,
) -> dict[str, Any]:
    """Run a foreign tool on texts and vectors, in its own environment and process.

    Parameters
    ----------
    cell : mapping
        ``peer`` is the tool's name, ``params`` has ``n_clusters`` and its options, ``seed`` is the seed.
    texts, labels : sequence of str
        The texts and their classes. The classes stay here: no tool sees them.
    vectors : ndarray of shape (n, d) or None
        A vector for each text.
    threads : int, optional
        Threads of the tool's process; as many as this process was told when None.

    Returns
    -------
    dict
        ``labels`` (-1 for a text without cluster), ``seconds`` of the fit alone, ``peak_memory_mb`` of the tool's
        process, ``versions`` of its packages.

    Raises
    ------
    ParameterError
        If there is no such tool, or it has no such option.
    ShoalError
        If its environment cannot be built, or it fails.
    """
    peer = OURS if cell["peer"] == OURS.name else find_peer(cell["peer"])
    options = {name: value for name, value in cell["params"].items() if name != "n_clusters"}
    for name in options:
        if name not in peer.options:
            has = ", ".join(peer.options) or "none"
            raise ParameterError(f"the peer {peer.name!r} has no option {name!r}; its options are: {has}.")
    if vectors is None and peer.needs_vectors:
        raise DataError(f"the peer {peer.name!r} works on vectors, but there are none; pass a vector for each text.")
    python = Path(sys.executable) if peer is OURS else ensure_environment(peer)
    n_clusters, seed = cell["params"]["n_clusters"], cell["seed"]
    request = {"n_clusters": n_clusters, "seed": seed, "options": {**peer.options, **options}}
    with tempfile.TemporaryDirectory(prefix="shoal-peer-") as name:
        folder = Path(name)
        (folder / "texts.json").write_text(json.dumps(list(texts)), encoding="utf-8")
        (folder / "request.json").write_text(json.dumps(request), encoding="utf-8")
        if vectors is not None:
            np.save(folder / "vectors.npy", vectors, allow_pickle=False)
        answer = _ask(peer, python, folder, dict(os.environ) if threads is None else child_environment(threads))
    if len(answer["labels"]) != len(texts):
        raise ShoalError(
            f"the peer {peer.name!r} gave {len(answer['labels'])} labels for {len(texts)} texts; this is a bug in "
            f"{peer.script.name}."
        )
    return answer


def _ask(peer: Peer, python: Path, folder: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    """Run the tool's process and read what it left in the folder."""
    environment = {**environment, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "MPLBACKEND": "agg"}
    if "OMP_NUM_THREADS" in environment:
        environment["NUMBA_NUM_THREADS"] = environment["OMP_NUM_THREADS"]  # UMAP's threads, which nothing else pins
    command = [str(python), "-I", str(_HERE / "answer.py"), str(peer.script), str(folder)]
    # Not shown: the tools' own progress bars and warnings would fill the screen.
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, encoding="utf-8", errors="replace", check=False
    )
    if done.returncode or not (folder / "answer.json").is_file():
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()] or ["it said nothing"]
        damaged = f"Are its packages damaged? Delete peers/{peer.folder.name} in the cache folder and run again."
        remedy = "" if peer is OURS else f" ({damaged})"
        raise ShoalError(f"the peer {peer.name!r} ended with code {done.returncode}: {said[-1]}{remedy}")
    answer: dict[str, Any] = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
    return answer
