"""Augmented texts on disk, so that a corpus is augmented once."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Sequence
from pathlib import Path

from shoal.cache import cache_folder, write_to_cache

_FORMAT = 1  # raise it when an augmenter's answers change for the same fingerprint


class AugmentCache:
    """A folder with one gzipped JSON-lines file per (fingerprint, seed, view, texts).

    A file that cannot be read counts as absent and is written again. On a full disk or in a read-only folder nothing is
    cached.

    Parameters
    ----------
    folder : str or Path, optional
        Made on the first write; by default ``augmented`` in the cache folder.

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

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = cache_folder() / "augmented" if folder is None else Path(folder)

    def key(self, fingerprint: str, seed: int, view: int, texts: Sequence[str]) -> str:
        """Return the name of an entry: a sha256 of everything that decides its content."""
        digest = hashlib.sha256(json.dumps([_FORMAT, fingerprint, seed, view]).encode())
        for text in texts:
            digest.update(b"\n" + json.dumps(text).encode())
        return digest.hexdigest()

    def read(self, key: str) -> list[str] | None:
        """Return the texts of an entry; None if it is absent or damaged."""
        try:
            header, *texts = map(json.loads, gzip.decompress(self._path(key).read_bytes()).decode("ascii").splitlines())
        # every way in which a file can be missing, cut short or overwritten
        except (OSError, EOFError, zlib.error, ValueError):
            return None
        whole = header == {"key": key, "n": len(texts)} and all(isinstance(text, str) for text in texts)
        return texts if whole else None

    def write(self, key: str, texts: Sequence[str]) -> None:
        """Write an entry; a reader sees the whole file or none."""
        lines = [json.dumps(line) + "\n" for line in ({"key": key, "n": len(texts)}, *texts)]
        content = gzip.compress("".join(lines).encode("ascii"), compresslevel=5)
        write_to_cache(self._path(key), content)

    def _path(self, key: str) -> Path:
        """Return the file of an entry."""
        return self.folder / f"{key}.jsonl.gz"
