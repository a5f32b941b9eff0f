"""The cache folder on disk, which is never needed, and atomic writes."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path


def cache_folder() -> Path:
    """Return the cache folder: ``SHOAL_CACHE``, else the user's cache folder."""
    named = os.environ.get("SHOAL_CACHE")
    if named:
        return Path(named).expanduser()
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:  # a user without a home
        base = tempfile.gettempdir()
    return Path(base) / "shoal"


def write_to_cache(path: Path, content: bytes) -> bool:
    """Write a file of the cache, atomically; on a full disk or in a folder that cannot be written do nothing.

    Returns
    -------
    bool
        Whether it was written.
    """
    try:
        write_atomically(path, content)
    except OSError:
        return False
    return True


def write_atomically(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path`` so that a reader sees the old file or the whole new one, never a part."""
    with written_atomically(path) as temporary:
        temporary.write_bytes(content)


@contextlib.contextmanager
def written_atomically(path: Path) -> Iterator[Path]:
    """Yield a name beside ``path`` to write to; afterwards a reader sees the whole new file, never a part.

    The temporary file is flushed to disk and renamed; two processes may write the same file at once.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # not tempfile, whose files are readable by their owner only, whatever the umask
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        yield temporary
        with temporary.open("rb+") as stream:
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def sha256_of(file: Path) -> str:
    """Return the sha256 of a file's content, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
