"""Vectors kept on disk, found again by content: never stale, never half read."""

from __future__ import annotations

import contextlib
import hashlib
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.cache import cache_folder, write_atomically

# Oldest files go first when the cache holds more than this.
LIMIT_BYTES = 4 * 1024**3


class Encoded(NamedTuple):
    """Vectors, and how many of their texts were not read to the end."""

    vectors: NDArray[np.float32]
    truncated: int


def vector_key(fingerprint: str, texts: Sequence[str]) -> str:
    """Return the key of the vectors that an encoder of this fingerprint gives for these texts, in this order."""
    digest = hashlib.sha256(fingerprint.encode())
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()


def cached_vectors(key: str, compute: Callable[[], Encoded], folder: Path | None = None) -> Encoded:
    """Return the vectors kept under ``key``; compute and keep them if there are none that can be read.

    Parameters
    ----------
    key : str
        From :func:`vector_key`.
    compute : callable
        Gives the vectors; called only on a miss.
    folder : Path, optional
        Where the files are; by default ``vectors`` in the cache folder.

    Notes
    -----
    A file carries the sha256 of its own content and is written under a temporary name first: a damaged or
    half-written one counts as a miss, and two processes at once do each other no harm. A full disk or a
    read-only folder costs only the keeping.
    """
    folder = folder or cache_folder() / "vectors"
    file = folder / f"{key}.vectors"
    with contextlib.suppress(OSError, ValueError, EOFError):
        encoded = _unpack(file.read_bytes())
        with contextlib.suppress(OSError):  # a cache that can only be read still serves
            file.touch()
        return encoded
    encoded = compute()
    with contextlib.suppress(OSError):
        write_atomically(file, _pack(encoded))
        _evict(folder)
    return encoded


def _pack(encoded: Encoded) -> bytes:
    """Return a checksum, the count, and the array in numpy's own format."""
    stream = io.BytesIO()
    stream.write(encoded.truncated.to_bytes(8, "little"))
    np.save(stream, encoded.vectors, allow_pickle=False)
    content = stream.getvalue()
    return hashlib.sha256(content).digest() + content


def _unpack(packed: bytes) -> Encoded:
    """Undo :func:`_pack`; ValueError if a byte is not what it was."""
    checksum, content = packed[:32], packed[32:]
    if hashlib.sha256(content).digest() != checksum:
        raise ValueError("damaged vector file")
    vectors = np.load(io.BytesIO(content[8:]), allow_pickle=False)
    return Encoded(np.asarray(vectors, dtype=np.float32), int.from_bytes(content[:8], "little"))


def _evict(folder: Path) -> None:
    """Delete the files used longest ago until the folder is within its limit."""
    files = sorted(((f.stat().st_mtime, f.stat().st_size, f) for f in folder.glob("*.vectors")), reverse=True)
    kept = 0
    for _, size, file in files:
        kept += size
        if kept > LIMIT_BYTES:
            file.unlink(missing_ok=True)
