"""The cache folder on disk, and writing a file so that nobody ever reads half of it."""

from __future__ import annotations

import hashlib
import os
import uuid
from pathlib import Path


def cache_folder() -> Path:
    """Return where Shoal keeps what can be computed again: ``SHOAL_CACHE``, else the user's cache folder."""
    named = os.environ.get("SHOAL_CACHE")
    if named:
        return Path(named).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "shoal"


def write_atomically(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path`` so that a reader sees the old file or the whole new one, never a part.

    The bytes go to a temporary file beside it, reach the disk, and take its name in one step; two processes
    that write the same file do no harm to each other.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # not tempfile's, whose files nobody else may read whatever the umask says
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def sha256_of(file: Path) -> str:
    """Return the hex sha256 of a file's content."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
