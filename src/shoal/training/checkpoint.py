"""Training states on disk: JSON and safetensors, complete or absent, never a pickle.

::

    checkpoints/
      history.jsonl        one record per line; lines past the state's own count are cut on resume
      state-00000003/      the third; written as ``.state-00000003.tmp``, renamed when every byte is on disk
        state.json         numbers and names, with placeholders for the tensors
        state.safetensors  the tensors
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from shoal.cache import write_atomically
from shoal.errors import RunFolderError

_TENSOR, _NAME = "$tensor", "state-"
_JSON, _TENSORS, _HISTORY = "state.json", "state.safetensors", "history.jsonl"


class Checkpoints:
    """The checkpoints of one run.

    Parameters
    ----------
    folder : Path
        Where they are; created with the first checkpoint.
    identity : str
        Identifies the run: a hash of its parameters and texts. States of another run are refused.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     states = Checkpoints(Path(folder), "run a")
    ...     states.write({"weights": torch.ones(2), "epoch": 3})
    ...     states.latest()
    {'weights': tensor([1., 1.]), 'epoch': 3}
    """

    def __init__(self, folder: Path, identity: str) -> None:
        self.folder = folder
        self.identity = identity

    @property
    def history(self) -> Path:
        """``history.jsonl``."""
        return self.folder / _HISTORY

    def write(self, state: Mapping[str, Any]) -> None:
        """Write a state under a new number; older ones are deleted once it is safely on disk."""
        older = self._found()
        number = int(older[0].name.removeprefix(_NAME)) + 1 if older else 1
        final = self.folder / f"{_NAME}{number:08d}"
        temporary = self.folder / f".{final.name}.tmp"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        tensors: dict[str, Tensor] = {}
        content = {"identity": self.identity, "state": _split_tensors(state, "", tensors)}
        save_file(tensors, temporary / _TENSORS)
        (temporary / _JSON).write_text(json.dumps(content), encoding="utf-8")
        for file in temporary.iterdir():
            _to_disk(file)
        temporary.rename(final)
        _to_disk(self.folder)
        for folder in older:
            shutil.rmtree(folder, ignore_errors=True)

    def latest(self) -> dict[str, Any] | None:
        """Return the newest complete state, or None.

        Raises
        ------
        RunFolderError
            If it belongs to another run.
        """
        for folder in self._found():
            with contextlib.suppress(OSError, ValueError, LookupError, SafetensorError):
                content = json.loads((folder / _JSON).read_text(encoding="utf-8"))
                identity = content["identity"]
                state: dict[str, Any] = _join_tensors(content["state"], load_file(folder / _TENSORS))
                break
        else:
            return None
        if identity != self.identity:
            raise RunFolderError(
                f"{self.folder} holds checkpoints of a run with other texts or parameters (a seed that is not "
                "a number never matches); pass the same texts and parameters, or another folder."
            )
        return state

    def cut_history(self, n_lines: int) -> list[dict[str, Any]]:
        """Return the first ``n_lines`` of the history and drop the rest."""
        lines = self.history.read_bytes().splitlines(keepends=True)[:n_lines] if self.history.is_file() else []
        write_atomically(self.history, b"".join(lines))
        return [json.loads(line) for line in lines]

    def append_history(self, record: Mapping[str, Any]) -> None:
        """Add a line to the history."""
        with self.history.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(record) + "\n")

    def _found(self) -> list[Path]:
        """Return the folders of the states, newest first, without temporary ones."""
        return sorted(self.folder.glob(f"{_NAME}*"), reverse=True)


def _split_tensors(node: Any, path: str, tensors: dict[str, Tensor]) -> Any:
    """Move the tensors out of a tree of dicts; return what JSON can hold."""
    if isinstance(node, np.ndarray):
        node = torch.from_numpy(np.ascontiguousarray(node))
    if isinstance(node, Tensor):
        tensors[path] = node.detach().cpu().contiguous().clone()  # clone: safetensors refuses shared memory
        return {_TENSOR: path}
    if isinstance(node, Mapping):
        return {str(name): _split_tensors(child, f"{path}/{name}", tensors) for name, child in node.items()}
    return node


def _join_tensors(node: Any, tensors: Mapping[str, Tensor]) -> Any:
    """Reverse :func:`_split_tensors`."""
    if not isinstance(node, dict):
        return node
    if _TENSOR in node:
        return tensors[node[_TENSOR]]
    return {name: _join_tensors(child, tensors) for name, child in node.items()}


def _to_disk(path: Path) -> None:
    """Flush a file, or a folder's directory entry, to disk."""
    with contextlib.suppress(OSError):  # some systems cannot open a folder
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
