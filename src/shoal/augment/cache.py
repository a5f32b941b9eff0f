"""Augmented texts on disk, so that a corpus is augmented once."""

from __future__ import annotations

import gzip
import hashlib
import json
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path

_FORMAT = 1  # raise it when an augmenter's answers change for the same fingerprint


class AugmentCache:
    """A folder with one gzipped JSON-lines file per (fingerprint, seed, view, texts).

    A file appears whole or not at all; one that cannot be read counts as absent and is written anew.

    Parameters
    ----------
    folder : str or Path
        Made on the first write.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     cache = AugmentCache(folder)
    ...     key = cache.key("char_swap", seed=0, view=0, texts=["hello"])
    ...     before = cache.read(key)
    ...     cache.write(key, ["hlelo"])
    ...     print(before, cache.read(key))
    None ['hlelo']
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def key(self, fingerprint: str, seed: int, view: int, texts: Sequence[str]) -> str:
        """Name the entry: a sha256 over everything that decides it.

        Parameters
        ----------
        fingerprint : str
        seed, view : int
        texts : sequence of str

        Returns
        -------
        str
        """
        digest = hashlib.sha256(json.dumps([_FORMAT, fingerprint, seed, view]).encode())
        for text in texts:
            digest.update(b"\n" + json.dumps(text).encode())
        return digest.hexdigest()

    def read(self, key: str) -> list[str] | None:
        """Read an entry.

        Parameters
        ----------
        key : str

        Returns
        -------
        list of str or None
            None when the entry is absent or damaged.
        """
        try:
            with gzip.open(self._path(key), "rt", encoding="ascii") as lines:
                header = json.loads(next(lines))
                texts = [json.loads(line) for line in lines]
        # every way in which a file can be missing, cut short or overwritten
        except (OSError, EOFError, zlib.error, ValueError, StopIteration):
            return None
        whole = header == {"key": key, "n": len(texts)} and all(isinstance(text, str) for text in texts)
        return texts if whole else None

    def write(self, key: str, texts: Sequence[str]) -> None:
        """Write an entry under a temporary name, then move it into place.

        Parameters
        ----------
        key : str
        texts : sequence of str
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=self.folder, suffix=".tmp", delete=False) as unnamed:
            temporary = Path(unnamed.name)
        try:
            with gzip.open(temporary, "wt", encoding="ascii", compresslevel=5) as lines:
                lines.write(json.dumps({"key": key, "n": len(texts)}) + "\n")
                lines.writelines(json.dumps(text) + "\n" for text in texts)
            temporary.replace(self._path(key))
        finally:
            temporary.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        """Place of an entry."""
        return self.folder / f"{key}.jsonl.gz"
