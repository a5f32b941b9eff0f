"""8. Memory of the fitted rows, recognised by their content."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from shoal.methods.inputs import Rows, row_keys

_FILE = "memory.safetensors"


class Memory:
    """The cluster of each fitted row.

    Parameters
    ----------
    keys : ndarray of uint64
        Distinct keys, in ascending order.
    labels : ndarray of int64
        Their clusters.
    of_texts : bool
        Whether the keys come from texts.
    """

    def __init__(self, keys: NDArray[np.uint64], labels: NDArray[np.int64], of_texts: bool) -> None:
        order = np.argsort(keys, kind="stable")
        self.keys, self.labels, self.of_texts = keys[order], labels[order], of_texts

    def recall(self, rows: Rows) -> NDArray[np.int64]:
        """Return the cluster of each known row, -1 for the others."""
        if self.of_texts != (rows.texts is not None):
            return np.full(len(rows), -1, dtype=np.int64)
        keys = row_keys(rows)
        places = np.searchsorted(self.keys, keys).clip(max=len(self.keys) - 1)
        return np.where(self.keys[places] == keys, self.labels[places], -1)

    def save(self, folder: Path) -> None:
        """Write the memory to ``folder``."""
        kind = np.array([self.of_texts])
        save_file({"keys": self.keys, "labels": self.labels, "of_texts": kind}, folder / _FILE)

    @classmethod
    def load(cls, folder: Path) -> Memory:
        """Read what :meth:`save` wrote."""
        arrays = load_file(folder / _FILE)
        return cls(arrays["keys"], arrays["labels"], bool(arrays["of_texts"][0]))
