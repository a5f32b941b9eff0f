"""A run while it is written: under a lock, in a folder of its own, and in its place only when it is complete."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from shoal.errors import RunFolderError
from shoal.run_folder.folder import RunFolder, delete, partial_path, require_local


def claim_path(stem: Path) -> Path:
    """Return the first of ``stem-1``, ``stem-2``, … that no run, finished or not, uses, and claim it.

    The claim is the empty folder of the unfinished run: of two processes that ask at once, one gets the next number.
    """
    stem.parent.mkdir(parents=True, exist_ok=True)
    number = 1
    while not _claimed(path := stem.with_name(f"{stem.name}-{number}")):
        number += 1
    return path


def _claimed(path: Path) -> bool:
    """Make the folder of the unfinished run, unless the name is taken."""
    if path.exists():
        return False
    try:
        partial_path(path).mkdir()
    except FileExistsError:
        return False
    return True


@contextlib.contextmanager
def writing(path: Path, *, overwrite: bool = False, resume: bool = False) -> Iterator[RunFolder]:
    """Write a run that appears at ``path`` only when it is complete.

    Parameters
    ----------
    path : Path
        Where the run will be.
    overwrite : bool, default=False
        Replace an existing run, once the new one is complete.
    resume : bool, default=False
        Continue in the unfinished folder instead of starting a new one.

    Yields
    ------
    RunFolder
        The unfinished folder. If the body raises, it is removed unless it holds checkpoints.

    Raises
    ------
    RunFolderError
        If ``path`` is taken, or another process is writing it.
    """
    require_local(path)
    partial = RunFolder(partial_path(path))
    with _locked(path):
        _give_back(partial, path)
        _check_target(path, overwrite, resume)
        partial.path.mkdir(exist_ok=True)
        if not resume:
            if not overwrite and (partial.checkpoints.is_dir() or partial.info.is_file()):
                raise RunFolderError(
                    f"{partial.path} holds an interrupted run; continue with --resume {path}, or pass --overwrite."
                )
            partial.clear()
        try:
            yield partial
        except BaseException:
            if not partial.checkpoints.is_dir():
                delete(partial.path)
            raise
        _publish(partial, path)


def tidy(path: Path) -> None:
    """Delete what a fit left behind that was killed when its run was already complete and in its place."""
    RunFolder.open(path)
    with _locked(path):
        RunFolder(path).drop_leftovers()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes from writing a run, and make the folders above it; leave no trace if it fails."""
    lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=0)
    parent_is_ours = not path.parent.exists()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as reason:
        raise RunFolderError(f"another process is writing {path}; wait for it or pass another --out.") from reason
    except OSError as reason:
        raise RunFolderError(f"{path} cannot be written ({reason}); pass another --out.") from reason
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # before the lock is released: a waiting process sees that it is gone
            Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()
        if parent_is_ours:
            with contextlib.suppress(OSError):  # not empty: the run is in it
                path.parent.rmdir()


def _check_target(path: Path, overwrite: bool, resume: bool) -> None:
    """Refuse a name that is taken."""
    if not path.exists():
        return
    if not overwrite:
        remedy = "move it away, then resume" if resume else "pass --overwrite to replace it, or another --out"
        raise RunFolderError(f"{path} exists; {remedy}.")
    if not path.is_dir():
        raise RunFolderError(f"{path} is a file, not a run; pass another --out.")
    if any(path.iterdir()):
        RunFolder(path).read_info()  # only a run may be replaced by a run


def _publish(partial: RunFolder, path: Path) -> None:
    """Rename the complete folder; what it replaces and what is left over are deleted only afterwards."""
    if path.exists():
        delete(partial.replaced)
        path.rename(partial.replaced)
    try:
        partial.path.rename(path)
    except BaseException:
        _give_back(partial, path)
        raise
    RunFolder(path).drop_leftovers()


def _give_back(partial: RunFolder, path: Path) -> None:
    """Undo half a replacement: the old run had made room, and the new one had not taken its place."""
    if partial.replaced.exists() and not path.exists():
        partial.replaced.rename(path)
