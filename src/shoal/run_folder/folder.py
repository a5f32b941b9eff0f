"""The paths inside a run folder, and what keeps them consistent: a seal with the checksum of every file."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from shoal.cache import sha256_of, write_atomically
from shoal.clustering import Cluster
from shoal.confined import check_size, other_entries, read_json, regular_files
from shoal.errors import RunFolderError

FORMAT, FORMAT_VERSION = "shoal-run", 1
MODEL = "model"
# What an unfinished run holds besides the run itself: the request, the input if it cannot be read again, the states of
# the training, and the run that is being replaced.
LEFTOVERS = ("request.json", "input.parquet", "checkpoints", "replaced")


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
    def map(self) -> Path:
        """``map.parquet``; not in every run."""
        return self.path / "map.parquet"

    @property
    def hierarchy(self) -> Path:
        """``hierarchy.json``; only if the run has a hierarchy of clusters."""
        return self.path / "hierarchy.json"

    @property
    def report(self) -> Path:
        """``report.html``, which `shoal report` makes again."""
        return self.path / "report.html"

    @property
    def model(self) -> Path:
        """The model's folder."""
        return self.path / MODEL

    @property
    def request(self) -> Path:
        """The request; only in an unfinished run."""
        return self.path / "request.json"

    @property
    def input(self) -> Path:
        """The input, if its source cannot be read again; only in an unfinished run."""
        return self.path / "input.parquet"

    @property
    def checkpoints(self) -> Path:
        """Training states; only in an unfinished run."""
        return self.path / "checkpoints"

    @property
    def replaced(self) -> Path:
        """The run that this one replaces; only while it takes its name."""
        return self.path / "replaced"

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
            If it is missing, unfinished, not Shoal's, of another format version, a file was changed or lost, or is not
            a regular file inside the folder.
        """
        folder = cls(Path(path))
        require_local(folder.path)
        if not folder.path.is_dir():
            hint = "; it is unfinished: run `shoal fit --resume`" if partial_path(folder.path).is_dir() else ""
            raise RunFolderError(f"{folder.path} is not a run folder{hint or '; pass one that `shoal fit` wrote'}.")
        info = folder.read_info()
        files, sizes = info["files"], info.get("sizes", {})
        found = regular_files(folder.path)
        for name, checksum in files.items():
            if name not in found:
                folder._refuse_missing(name)
            if isinstance(sizes, dict) and sizes.get(name, found[name]) != found[name]:
                raise folder._changed(name)
            check_size(folder.path / name)
            if sha256_of(folder.path / name) != checksum:
                raise folder._changed(name)
        # elsewhere in the folder users may keep files of their own
        inside = [name for name in (*found, *other_entries(folder.path)) if name.startswith(f"{MODEL}/")]
        inside += [MODEL] if folder.model.is_symlink() else []
        for name in inside:
            hidden = name in found and name.rpartition("/")[2].startswith(".")
            if name not in files and not hidden:
                raise RunFolderError(
                    f"{folder.path / name} is not part of this run (not in run.json); remove it or fit again."
                )
        return folder

    def _refuse_missing(self, name: str) -> NoReturn:
        """Say why a listed file is not among the regular files of the folder."""
        inside = not PurePosixPath(name).is_absolute() and ".." not in PurePosixPath(name).parts and "\0" not in name
        if inside and not os.path.lexists(self.path / name):
            raise RunFolderError(f"{self.path} is damaged: {name} is missing; fit again.")
        raise RunFolderError(
            f"{self.path}/run.json names a file outside the run ({name!r}), or one that is not a regular file; it is "
            "refused: fit again."
        )

    def _changed(self, name: str) -> RunFolderError:
        return RunFolderError(f"{self.path / name} was changed after the run was written; it is refused: fit again.")

    def read_info(self) -> dict[str, Any]:
        """Return ``run.json``, or say why it cannot be used."""
        try:
            info = read_json(self.info)
        except OSError as reason:
            raise RunFolderError(f"{self.path} has no run.json; it is not a finished Shoal run.") from reason
        if not isinstance(info, dict) or info.get("format") != FORMAT or not isinstance(info.get("files"), dict):
            raise RunFolderError(f"{self.path} was not written by Shoal; pass a folder that `shoal fit` wrote.")
        check_version(self.path, info.get("format_version"), FORMAT_VERSION)
        return info

    def read_clusters(self) -> tuple[Cluster, ...]:
        """Return the clusters of a finished run, by number."""
        try:
            return tuple(map(Cluster.from_json, read_json(self.clusters)))
        except (OSError, ValueError, LookupError, TypeError) as reason:
            raise RunFolderError(f"{self.clusters} cannot be read ({reason}); fit again.") from reason

    def seal(self, info: Mapping[str, Any]) -> None:
        """Write ``run.json``: ``info`` and the sha256 of every file of the run."""
        delete(*self.path.rglob(".*.tmp"))  # of atomic writes that were killed
        files = sorted(file for file in self.path.rglob("*") if file.is_file() and file != self.info)
        named = {file.relative_to(self.path): file for file in files}
        own = {name.as_posix(): file for name, file in named.items() if name.parts[0] not in LEFTOVERS}
        sums = {name: sha256_of(file) for name, file in own.items()}
        sizes = {name: file.stat().st_size for name, file in own.items()}
        content = {"format": FORMAT, "format_version": FORMAT_VERSION, **info, "sizes": sizes, "files": sums}
        write_atomically(self.info, (json.dumps(content, indent=2) + "\n").encode())

    def is_complete(self) -> bool:
        """Tell whether everything was written: killed after that, only the renaming is left to do."""
        try:
            RunFolder.open(self.path)
        except RunFolderError:
            return False
        return True

    def clear(self, keep: Collection[str] = ()) -> None:
        """Delete everything in the folder but what ``keep`` names."""
        delete(*(entry for entry in self.path.iterdir() if entry.name not in keep))

    def drop_leftovers(self) -> None:
        """Delete what only an unfinished run needs."""
        delete(*(self.path / name for name in LEFTOVERS), *self.path.rglob(".*.tmp"))


def check_version(path: Path, found: object, known: int) -> None:
    """Refuse a format of another version; a newer one needs a newer Shoal."""
    if found != known or isinstance(found, bool):
        newer = isinstance(found, int) and found > known
        remedy = "upgrade Shoal: pip install --upgrade shoal" if newer else "install the version that wrote it"
        raise RunFolderError(f"{path} has format version {found} but this Shoal reads {known}; {remedy}.")


def partial_path(path: Path) -> Path:
    """Return the path of the run ``path`` while it is being written."""
    if path.name in ("", ".."):
        raise RunFolderError(f"{path} has no folder name; pass one, e.g. runs/first.")
    return path.with_name(path.name + ".partial")


def require_local(path: Path) -> None:
    """Refuse an address such as ``s3://…``: an object store has no locks and no folder that can be renamed."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", str(path)):  # of two letters at least: C: is a drive
        raise RunFolderError(
            f"{path} is no folder of this machine, where a run has to be, to be locked, complete or absent; pass a "
            "folder here, and copy the finished run with the tools of the store."
        )


def delete(*paths: Path) -> None:
    """Delete files, links and folders, if they exist and as far as the system allows."""
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
