"""The layout of a run on disk, and the rules that keep it consistent.

::

    RUN/
      run.json               version, parameters, seed, data, timings, what was dropped; sha256 of every other file
      assignments.parquet    every input row and column + cluster, name, confidence, second choice
      assignments.csv        the same
      clusters.json          names, sizes, keywords, examples
      history.jsonl          one record per line
      model/                 what `shoal predict` needs

A run is written as ``RUN.partial`` under a lock and renamed once it is complete; ``run.json`` is written last.
Nothing is ever pickled.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from shoal.cache import sha256_of, write_atomically
from shoal.errors import RunFolderError

FORMAT, FORMAT_VERSION = "shoal-run", 1
MODEL = "model"


@dataclass(frozen=True)
class RunFolder:
    """The paths inside a run folder.

    Parameters
    ----------
    path : Path
        The folder.
    """

    path: Path

    @property
    def info(self) -> Path:
        """``run.json``."""
        return self.path / "run.json"

    @property
    def assignments(self) -> Path:
        """``assignments.parquet``; the same as csv is next to it."""
        return self.path / "assignments.parquet"

    @property
    def clusters(self) -> Path:
        """``clusters.json``."""
        return self.path / "clusters.json"

    @property
    def history(self) -> Path:
        """``history.jsonl``."""
        return self.path / "history.jsonl"

    @property
    def model(self) -> Path:
        """The model's folder."""
        return self.path / MODEL

    @property
    def request(self) -> Path:
        """The request; only in an unfinished run."""
        return self.path / "request.json"

    @property
    def checkpoints(self) -> Path:
        """Training states; only in an unfinished run."""
        return self.path / "checkpoints"

    @property
    def stages(self) -> Path:
        """Vectors and clusters before each stage of the training, if requested."""
        return self.path / "stages"

    @classmethod
    def open(cls, path: str | Path) -> RunFolder:
        """Return the run at ``path`` after checking that it is a Shoal run, complete and unchanged.

        Raises
        ------
        RunFolderError
            If it is missing, unfinished, not Shoal's, of another format version, or a file was changed or lost.
        """
        folder = cls(Path(path))
        if not folder.path.is_dir():
            hint = "; it is unfinished: run `shoal fit --resume`" if partial_path(folder.path).is_dir() else ""
            raise RunFolderError(f"{folder.path} is not a run folder{hint or '; pass one that `shoal fit` wrote'}.")
        files = folder.read_info()["files"]
        for name, checksum in files.items():
            file = folder.path / name
            if not file.resolve().is_relative_to(folder.path.resolve()):
                raise RunFolderError(
                    f"{folder.path}/run.json names a file outside the run ({name}); it is refused: fit again."
                )
            if not file.is_file():
                raise RunFolderError(f"{folder.path} is damaged: {name} is missing; fit again.")
            if sha256_of(file) != checksum:
                raise RunFolderError(f"{file} was changed after the run was written; it is refused: fit again.")
        for file in folder.model.rglob("[!.]*"):  # elsewhere in the folder users may keep files of their own
            if file.is_file() and file.relative_to(folder.path).as_posix() not in files:
                raise RunFolderError(f"{file} is not part of this run (not in run.json); remove it or fit again.")
        return folder

    def read_info(self) -> dict[str, Any]:
        """Return ``run.json``, or say why it cannot be used."""
        try:
            info = json.loads(self.info.read_text(encoding="utf-8"))
        except OSError as reason:
            raise RunFolderError(f"{self.path} has no run.json; it is not a finished Shoal run.") from reason
        except ValueError as reason:
            raise RunFolderError(f"{self.info} is damaged ({reason}); fit again.") from reason
        if not isinstance(info, dict) or info.get("format") != FORMAT or not isinstance(info.get("files"), dict):
            raise RunFolderError(f"{self.path} was not written by Shoal; pass a folder that `shoal fit` wrote.")
        if info.get("format_version") != FORMAT_VERSION:
            raise RunFolderError(
                f"{self.path} has format version {info.get('format_version')} but this Shoal reads "
                f"{FORMAT_VERSION}; install the version that wrote it."
            )
        return info

    def seal(self, info: Mapping[str, Any]) -> None:
        """Write ``run.json``: ``info`` and the sha256 of every file of the run."""
        files = sorted(file for file in self.path.rglob("*") if file.is_file() and file != self.info)
        sums = {file.relative_to(self.path).as_posix(): sha256_of(file) for file in files}
        content = {"format": FORMAT, "format_version": FORMAT_VERSION, **info, "files": sums}
        write_atomically(self.info, (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())


def partial_path(path: Path) -> Path:
    """Return the path of the run ``path`` while it is being written."""
    if path.name in ("", ".."):
        raise RunFolderError(f"{path} has no folder name; pass one, e.g. runs/first.")
    return path.with_name(path.name + ".partial")


def free_path(stem: Path) -> Path:
    """Return the first of ``stem-1``, ``stem-2``, … that no run, finished or not, uses."""
    number = 1
    while (path := stem.with_name(f"{stem.name}-{number}")).exists() or partial_path(path).exists():
        number += 1
    return path


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
    partial = RunFolder(partial_path(path))
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
        _check_target(path, overwrite)
        if not resume:
            if partial.checkpoints.is_dir() and not overwrite:
                raise RunFolderError(
                    f"{partial.path} holds an interrupted run; continue with --resume {path}, or pass --overwrite."
                )
            shutil.rmtree(partial.path, ignore_errors=True)
        partial.path.mkdir(exist_ok=True)
        try:
            yield partial
        except BaseException:
            if not partial.checkpoints.is_dir():
                shutil.rmtree(partial.path, ignore_errors=True)
            raise
        _publish(partial.path, path)
    finally:
        with contextlib.suppress(OSError):  # before the lock is released: a waiting process sees that it is gone
            Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()
        if parent_is_ours:
            with contextlib.suppress(OSError):  # not empty: the run is in it
                path.parent.rmdir()


def _check_target(path: Path, overwrite: bool) -> None:
    """Refuse a name that is taken."""
    if not path.exists():
        return
    if not overwrite:
        raise RunFolderError(f"{path} exists; pass --overwrite to replace it, or another --out.")
    if not path.is_dir():
        raise RunFolderError(f"{path} is a file, not a run; pass another --out.")
    if any(path.iterdir()):
        RunFolder(path).read_info()  # only a run may be replaced by a run


def _publish(partial: Path, path: Path) -> None:
    """Rename the finished folder; an old run of that name is deleted only afterwards."""
    if not path.exists():
        partial.rename(path)
        return
    old = path.with_name(f".{path.name}.{os.getpid()}.old")
    path.rename(old)
    try:
        partial.rename(path)
    except BaseException:
        old.rename(path)
        raise
    shutil.rmtree(old, ignore_errors=True)
