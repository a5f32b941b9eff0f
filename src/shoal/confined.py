"""Folders that someone else may have written: only regular files inside them, their sizes known before they are read.

A checksum in a folder tells damage; it does not tell who wrote the folder. So nothing in it is trusted: no link, no
pipe, no device, no path that leads outside.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

from shoal.errors import RunFolderError

# The JSON of a run holds names, words and examples: megabytes at most.
LARGEST_JSON = 256 * 1024**2


def regular_files(folder: Path) -> dict[str, int]:
    """Return the regular files below ``folder``, not through links, by name relative to it, with their sizes.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as name:
    ...     _ = (Path(name) / "a.json").write_text("{}")
    ...     (Path(name) / "link.json").symlink_to("/etc/hostname")
    ...     regular_files(Path(name))
    {'a.json': 2}
    """
    return {name: facts.st_size for name, facts in _entries(folder).items() if stat.S_ISREG(facts.st_mode)}


def check_size(file: Path) -> None:
    """Refuse a file that is larger than its kind can be, or that is mostly holes: to read either takes minutes.

    Raises
    ------
    RunFolderError
        With its size and the limit.
    """
    facts = file.lstat()
    if file.suffix == ".json" and facts.st_size > LARGEST_JSON:
        raise RunFolderError(f"{file} has {facts.st_size} bytes, more than the {LARGEST_JSON} it may have; fit again.")
    on_disk = getattr(facts, "st_blocks", facts.st_size) * 512  # Windows does not tell
    if facts.st_size > LARGEST_JSON and on_disk < facts.st_size / 10:
        raise RunFolderError(f"{file} has {facts.st_size} bytes but only {on_disk} on disk: it is empty; fit again.")


def other_entries(folder: Path) -> list[str]:
    """Return what is neither a regular file nor a folder: links, pipes, sockets, devices."""
    return [name for name, facts in _entries(folder).items() if not stat.S_ISREG(facts.st_mode)]


def _entries(folder: Path) -> dict[str, os.stat_result]:
    """Return everything below ``folder`` but the folders themselves; links are not followed."""
    found: dict[str, os.stat_result] = {}
    for place, folders, files in os.walk(folder):  # does not follow links
        for name in (*folders, *files):
            path = Path(place) / name
            facts = path.lstat()
            if not stat.S_ISDIR(facts.st_mode):
                found[path.relative_to(folder).as_posix()] = facts
    return found


def read_json(file: Path) -> Any:
    """Read a JSON file of a folder that is not trusted.

    Raises
    ------
    FileNotFoundError
        If it does not exist.
    RunFolderError
        If it is not a regular file, is too large, or is not JSON.
    """
    facts = file.lstat()
    if not stat.S_ISREG(facts.st_mode):
        raise RunFolderError(f"{file} is not a regular file; it is refused: fit again.")
    check_size(file)
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except RecursionError as reason:
        raise RunFolderError(f"{file} is damaged (nested too deeply); fit again.") from reason
    except ValueError as reason:
        raise RunFolderError(f"{file} is damaged ({reason}); fit again.") from reason
