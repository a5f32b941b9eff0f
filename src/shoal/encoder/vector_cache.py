"""A cache of vectors on disk, keyed by content: never stale, never half read."""

from __future__ import annotations

import contextlib
import hashlib
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.cache import cache_folder, write_to_cache

# Beyond this size the files that were used longest ago are deleted.
LIMIT_BYTES = 4 * 1024**3


class EncodedTexts(NamedTuple):
    """The vectors of some texts, and how many of the texts were cut off."""

    vectors: NDArray[np.float32]
    truncated: int


def vector_key(fingerprint: str, texts: Sequence[str]) -> str:
    """Return the cache key of these texts, in this order, under an encoder with this fingerprint."""
    digest = hashlib.sha256(fingerprint.encode())
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()


def cached_vectors(key: str, compute: Callable[[], EncodedTexts], folder: Path | None = None) -> EncodedTexts:
    """Return the vectors cached under ``key``; compute and cache them if there are none that can be read.

    Parameters
    ----------
    key : str
        From :func:`vector_key`.
    compute : callable
        Computes the vectors; called only on a miss.
    folder : Path, optional
        Where the files are; by default ``vectors`` in the cache folder.

    Notes
    -----
    A file holds the sha256 of its own content and is written under a temporary name first: a damaged or
    half-written file counts as a miss, and two processes may write at once. On a full disk or in a read-only
    folder nothing is cached.
    """
    encoded = read_vectors(key, folder)
    if encoded is None:
        encoded = compute()
        store_vectors(key, encoded, folder)
    return encoded


def read_vectors(key: str, folder: Path | None = None) -> EncodedTexts | None:
    """Return the vectors cached under ``key``; None if there are none that can be read."""
    file = _file_of(key, folder)
    with contextlib.suppress(OSError, ValueError, EOFError):
        encoded = _unpack(file.read_bytes())
        with contextlib.suppress(OSError):  # a read-only cache is still read
            file.touch()
        return encoded
    return None


def store_vectors(key: str, encoded: EncodedTexts, folder: Path | None = None) -> None:
    """Cache vectors under ``key``, where that is possible."""
    file = _file_of(key, folder)
    if write_to_cache(file, _pack(encoded)):
        with contextlib.suppress(OSError):  # another process may delete the same files
            _evict(file.parent)


def _file_of(key: str, folder: Path | None) -> Path:
    """Return where the vectors under ``key`` are."""
    return (folder or cache_folder() / "vectors") / f"{key}.vectors"


def _pack(encoded: EncodedTexts) -> bytes:
    """Return a checksum, the count of texts cut off, and the array in NumPy's format."""
    stream = io.BytesIO()
    stream.write(encoded.truncated.to_bytes(8, "little"))
    np.save(stream, encoded.vectors, allow_pickle=False)
    content = stream.getvalue()
    return hashlib.sha256(content).digest() + content


def _unpack(packed: bytes) -> EncodedTexts:
    """Undo :func:`_pack`; ValueError if the checksum does not match."""
    checksum, content = packed[:32], packed[32:]
    if hashlib.sha256(content).digest() != checksum:
        raise ValueError("damaged vector file")
    vectors = np.load(io.BytesIO(content[8:]), allow_pickle=False)
    return EncodedTexts(np.asarray(vectors, dtype=np.float32), int.from_bytes(content[:8], "little"))


def _evict(folder: Path) -> None:
    """Delete the files used longest ago until the folder is within its limit."""
    files = sorted(((f.stat().st_mtime, f.stat().st_size, f) for f in folder.glob("*.vectors")), reverse=True)
    kept = 0
    for _, size, file in files:
        kept += size
        if kept > LIMIT_BYTES:
            file.unlink(missing_ok=True)
