"""Writing a table wherever it should be: a file, a data set of parquet files, an object store."""

from __future__ import annotations

import re
import shutil
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

import polars as pl

from shoal.corpus.addresses import DATABASES, located, scheme_of, shown
from shoal.corpus.writers import encoded, suffix_of, write_table_of
from shoal.errors import DataError, ParameterError

ROWS_PER_PART = 250_000
_PART = re.compile(r"part-\d{5,}\.parquet")


def require_free(target: str | Path | None, overwrite: bool) -> None:
    """Refuse a target that exists or cannot be written, before any work is done.

    A folder is only ever replaced if all it holds are parts of a data set.

    Raises
    ------
    DataError
        If it exists, and ``overwrite`` is false or it is not ours to replace.
    ParameterError
        If nothing can be written there.
    """
    if target is None:
        return
    if _held_by(str(target)) and not overwrite:
        raise DataError(f"{target} exists; pass --overwrite to replace it, or another --out.")
    if is_folder(target):
        _require_only_parts(target)


def require_target(target: str | Path | None, overwrite: bool) -> None:
    """Refuse a target that `require_free` refuses, or whose suffix no table has.

    Raises
    ------
    DataError
        If it exists.
    ParameterError
        If no table can be written there.
    """
    require_free(target, overwrite)
    if target is not None and not is_folder(target):
        suffix_of(str(target))


def write_target(frame: pl.DataFrame, target: str | Path, *, safe: bool = False) -> None:
    """Write a table to a file, a folder or an object store.

    A name that ends with ``/``, or that is a folder already, becomes a data set: parquet files of 250,000 rows, whose
    order is that of their names. Elsewhere the suffix decides the format, as for `write_table`. On this machine, and
    of one file anywhere, a reader sees the old or the new, never a part.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    target : str or Path
        A path or an address, ``s3://bucket/sorted.csv``; a file or a data set that is there is replaced.
    safe : bool, default=False
        As for `write_table`.

    Raises
    ------
    DataError
        If it is a folder that holds anything but a data set, or a store refuses.
    ParameterError
        If nothing can be written there.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_target(pl.DataFrame({"text": ["a", "b"]}), f"{folder}/sorted/")
    ...     [file.name for file in Path(folder, "sorted").iterdir()]
    ['part-00000.parquet']
    """
    write_frames([frame], target, safe=safe)


def write_frames(frames: Iterable[pl.DataFrame], target: str | Path, *, safe: bool = False) -> None:
    """Write tables with the same columns as one, as `write_target` does, while they come.

    They are never all in memory, except for ``.json`` and ``.xlsx``, which cannot be written in parts.
    """
    address = _writable(str(target))
    if is_folder(target):
        _require_only_parts(target)
    if scheme_of(address) is not None:
        _write_stored(frames, address, safe)
    elif is_folder(target):
        _write_folder(frames, Path(address))
    else:
        write_table_of(frames, Path(address), safe=safe)


def _require_only_parts(folder: str | Path) -> None:
    """Refuse a folder that holds anything but a data set: replacing it would delete that."""
    others = [name for name in _held_by(str(folder)) if not _PART.fullmatch(name)]
    if others:
        raise DataError(
            f"{folder} holds {others[0]!r}, which is no part of a data set; it is not replaced: pass another --out."
        )


def is_folder(target: str | Path) -> bool:
    """Tell whether a target is a data set: it ends with a slash, or is a folder of this machine."""
    name = str(target)
    return name.endswith("/") or (scheme_of(name) in (None, "file") and Path(located(name)).is_dir())


def _writable(target: str) -> str:
    """Return the path or the address; refuse a database, and a pattern."""
    if scheme_of(target) in DATABASES:
        raise ParameterError(
            f"{shown(target)} is a database, and Shoal only reads those; write parquet, which every database loads."
        )
    return located(target)


def _held_by(target: str) -> list[str]:
    """Return the name of the file that is there, or of all that a folder holds."""
    address = _writable(target)
    if scheme_of(address) is not None:
        from shoal.corpus.sources.stores import store_of, telling

        with telling(address):
            store, path = store_of(address)
            if not is_folder(address):
                return [path] if store.exists(path) else []
            return [name[len(path.rstrip("/")) + 1 :] for name in store.find(path)]
    place = Path(address)
    if is_folder(address) and place.is_dir():
        return sorted(each.name for each in place.iterdir())
    return [place.name] if place.exists() else []


def _parts(frames: Iterable[pl.DataFrame]) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a data set, of equally many rows; of no rows there is one, for the columns."""
    number, waiting = 0, pl.DataFrame()
    for frame in frames:
        waiting = pl.concat([waiting, frame]) if len(waiting) else frame
        while len(waiting) > ROWS_PER_PART:
            yield _part(number, waiting[:ROWS_PER_PART])
            number, waiting = number + 1, waiting[ROWS_PER_PART:]
    yield _part(number, waiting)


def _part(number: int, rows: pl.DataFrame) -> tuple[str, bytes]:
    """Return the name and the content of a file of a data set."""
    name = f"part-{number:05}.parquet"
    return name, encoded(rows, name)


def _write_stored(frames: Iterable[pl.DataFrame], address: str, safe: bool) -> None:
    """Write to an object store, whose files appear when they are complete."""
    from shoal.corpus.sources.stores import store_of, telling

    with telling(address):
        store, path = store_of(address)
        if not is_folder(address):
            with tempfile.TemporaryDirectory() as folder:
                local = Path(folder) / PurePosixPath(path).name
                write_table_of(frames, local, safe=safe)
                store.put_file(str(local), path)
            return
        written = set()
        for name, content in _parts(frames):
            store.pipe_file(f"{path.rstrip('/')}/{name}", content)
            written.add(name)
        for name in set(_held_by(address)) - written:  # of a longer data set before
            store.rm_file(f"{path.rstrip('/')}/{name}")


def _write_folder(frames: Iterable[pl.DataFrame], folder: Path) -> None:
    """Write a data set beside its place, and put it there when it is complete."""
    new, old = (folder.with_name(f".{folder.name}.{uuid.uuid4().hex}.{end}") for end in ("tmp", "old"))
    try:
        new.mkdir(parents=True)
        for name, content in _parts(frames):
            (new / name).write_bytes(content)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
    except OSError as error:
        raise ParameterError(f"{folder} cannot be written ({error}); choose another path.") from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
        if old.exists() and not folder.exists():
            old.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
