"""Vectors kept on disk, found again by content: never stale, never half read."""

from __future__ import annotations

import contextlib
import hashlib
import io
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shoal.cache import cache_folder, write_atomically

# Oldest files go first when the cache holds more than this.
LIMIT_BYTES = 4 * 1024**3


def vector_key(fingerprint: str, texts: Sequence[str]) -> str:
    """Return the key of the vectors that an encoder of this fingerprint gives for these texts, in this order."""
    digest = hashlib.sha256(fingerprint.encode())
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()


def cached_vectors(
    key: str, compute: Callable[[], NDArray[np.float32]], folder: Path | None = None
) -> NDArray[np.float32]:
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
        vectors = _unpack(file.read_bytes())
        file.touch()
        return vectors
    vectors = compute()
    with contextlib.suppress(OSError):
        write_atomically(file, _pack(vectors))
        _evict(folder)
    return vectors


def _pack(vectors: NDArray[np.float32]) -> bytes:
    """Return a checksum followed by the array in numpy's own format."""
    stream = io.BytesIO()
    np.save(stream, vectors, allow_pickle=False)
    content = stream.getvalue()
    return hashlib.sha256(content).digest() + content


def _unpack(packed: bytes) -> NDArray[np.float32]:
    """Undo :func:`_pack`; ValueError if a byte is not what it was."""
    checksum, content = packed[:32], packed[32:]
    if hashlib.sha256(content).digest() != checksum:
        raise ValueError("damaged vector file")
    return np.asarray(np.load(io.BytesIO(content), allow_pickle=False), dtype=np.float32)


def _evict(folder: Path) -> None:
    """Delete the files used longest ago until the folder is within its limit."""
    files = sorted(((f.stat().st_mtime, f.stat().st_size, f) for f in folder.glob("*.vectors")), reverse=True)
    kept = 0
    for _, size, file in files:
        kept += size
        if kept > LIMIT_BYTES:
            file.unlink(missing_ok=True)
