"""Other people's tools on the same texts and the same vectors, each in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError, ParameterError, ShoalError
from shoal_bench.peers.environment import Peer, ensure_environment

__all__ = ["PEERS", "Peer", "ensure_environment", "find_peer", "run_peer"]

_HERE = Path(__file__).parent
_TORCH = "torch==2.13.0"
_SCIENCE = ("numpy==2.4.6", "scikit-learn==1.9.1")
_TOPICS = ("umap-learn==0.5.12", "hdbscan==0.8.44")

# What each option does, and how each tool comes to K clusters, is in the README.
PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        Peer(
            name="bertopic",
            requirements=(_TORCH, "bertopic==0.17.4", *_TOPICS, *_SCIENCE),
            script=_HERE / "run_bertopic.py",
            options={"topics": "found", "outliers": "kept"},
        ),
        Peer(
            name="clustpy",
            requirements=(_TORCH, "clustpy==0.0.3", *_SCIENCE),
            script=_HERE / "run_clustpy.py",
            options={"algorithm": "DEC", "pretrain_epochs": 100, "clustering_epochs": 150},
        ),
        Peer(
            name="top2vec",
            requirements=(_TORCH, "top2vec==1.0.36", *_TOPICS, *_SCIENCE),
            script=_HERE / "run_top2vec.py",
            options={"topics": "found"},
        ),
    )
}


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
    cell: Mapping[str, Any], texts: Sequence[str], labels: Sequence[str], vectors: NDArray[np.float32] | None
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
    peer = find_peer(cell["peer"])
    options = {name: value for name, value in cell["params"].items() if name != "n_clusters"}
    for name in options:
        if name not in peer.options:
            has = ", ".join(peer.options) or "none"
            raise ParameterError(f"the peer {peer.name!r} has no option {name!r}; its options are: {has}.")
    if vectors is None and peer.needs_vectors:
        raise DataError(f"the peer {peer.name!r} works on vectors, but there are none; pass a vector for each text.")
    python = ensure_environment(peer)
    request = {
        "n_clusters": cell["params"]["n_clusters"],
        "seed": cell["seed"],
        "options": {**peer.options, **options},
    }
    with tempfile.TemporaryDirectory(prefix="shoal-peer-") as name:
        folder = Path(name)
        (folder / "texts.json").write_text(json.dumps(list(texts)), encoding="utf-8")
        (folder / "request.json").write_text(json.dumps(request), encoding="utf-8")
        if vectors is not None:
            np.save(folder / "vectors.npy", vectors, allow_pickle=False)
        answer = _ask(peer, python, folder)
    if len(answer["labels"]) != len(texts):
        raise ShoalError(
            f"the peer {peer.name!r} gave {len(answer['labels'])} labels for {len(texts)} texts; this is a bug in "
            f"{peer.script.name}."
        )
    return answer


def _ask(peer: Peer, python: Path, folder: Path) -> dict[str, Any]:
    """Run the tool's process and read what it left in the folder."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "MPLBACKEND": "agg"}
    if "OMP_NUM_THREADS" in os.environ:
        environment["NUMBA_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"]  # UMAP's threads, which nothing else pins
    command = [str(python), "-I", str(_HERE / "answer.py"), str(peer.script), str(folder)]
    # Not shown: the tools' own progress bars and warnings would fill the screen.
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, encoding="utf-8", errors="replace", check=False
    )
    if done.returncode or not (folder / "answer.json").is_file():
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()] or ["it said nothing"]
        raise ShoalError(
            f"the peer {peer.name!r} ended with code {done.returncode}: {said[-1]} (Are its packages damaged? Delete "
            f"peers/{peer.folder.name} in the cache folder and run again.)"
        )
    answer: dict[str, Any] = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
    return answer
