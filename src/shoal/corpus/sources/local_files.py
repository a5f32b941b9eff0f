"""Data sets on this machine."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from shoal.corpus.addresses import is_pattern
from shoal.corpus.folders import SUFFIXES as TEXT_SUFFIXES
from shoal.corpus.readers import first_line, format_of_name
from shoal.corpus.sources.data_sets import Part, choose_files, open_parts, read_parts, without_untyped
from shoal.errors import DataError


def is_data_set(source: str | Path, format: str | None) -> bool:
    """Tell a pattern, and a folder with at least as many tables as texts in files of their own."""
    if is_pattern(str(source)):
        return True
    try:
        folder = Path(source).expanduser()
        is_folder = folder.is_dir()
    except (OSError, ValueError, RuntimeError):  # too long, a NUL in it, no home
        return False
    if not is_folder or format is not None:
        return is_folder
    names = [PurePosixPath(name) for name in _files_in(folder)]
    n_texts = sum(name.suffix.lower() in TEXT_SUFFIXES for name in names)
    n_tables = sum(format_of_name(name.name) not in (None, "txt") for name in names)
    return n_tables > 0 and n_tables >= n_texts


def files_of(source: str, format: str | None) -> list[str]:
    """Return all tables of a folder, or all that match a pattern, in the order of their names.

    Raises
    ------
    DataError
        If there are none, or there are several formats.
    """
    path = str(Path(source).expanduser()) if source.startswith("~") else source
    root = fixed_part(path) if is_pattern(path) else path
    try:
        names = list(_files_in(Path(path)) if not is_pattern(path) else _matches(path))
        if not names:
            raise DataError(f"no file is there; check the pattern (looked in {Path(root).absolute()}).")
        return choose_files(names, Path(root).as_posix(), format)
    except DataError as error:
        raise DataError(f"{source}: {error}") from error
    except OSError as error:
        raise DataError(f"{source} cannot be read ({error}); check the path and its permissions.") from error


def read_local(
    source: str, read: Callable[..., tuple[pl.DataFrame, dict[str, Any]]], format: str | None
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Read all tables of a folder, or all that match a pattern, as one; ``read`` reads one of them.

    Raises
    ------
    DataError
        If there are none, or they do not fit together.
    """
    return read_parts(open_parts(files_of(source, format), functools.partial(_read_part, read=read, format=format)))


def is_parquet(name: str, format: str | None) -> bool:
    """Tell a file of parquet, which can be read in blocks."""
    return (format or format_of_name(name)) == "parquet" and not name.endswith(".gz")


def open_parquet(name: str) -> Part:
    """Open a file of parquet: its columns are read, and no row."""
    unread = pl.scan_parquet(Path(name).absolute(), glob=False, hive_partitioning=False)
    try:
        unread.collect_schema()
    except (Exception, pl.exceptions.PanicException) as error:
        raise DataError(f"{name}: not valid parquet ({first_line(error)}); write it again.") from error
    return Part(name, unread)


def fixed_part(pattern: str) -> str:
    """Return the folder above the first wildcard of a pattern.

    Examples
    --------
    >>> fixed_part("data/tickets/year=*/*.parquet")
    'data/tickets'
    """
    parts = PurePosixPath(pattern.replace(os.sep, "/")).parts
    first = next(i for i, part in enumerate(parts) if any(sign in part for sign in "*?["))
    return str(PurePosixPath(*parts[:first]))


def _matches(pattern: str) -> Iterator[str]:
    """Yield the files that match, and those in folders that match, each once."""
    root = fixed_part(pattern)
    found = Path(root).glob(str(PurePosixPath(pattern.replace(os.sep, "/")).relative_to(root)))
    yield from dict.fromkeys(
        name for path in found for name in (_files_in(path) if path.is_dir() else _with_content(path))
    )


def _files_in(folder: Path) -> Iterator[str]:
    """Yield the files below a folder that have any content."""
    for place, _, files in os.walk(folder, onerror=_refuse):
        for name in files:
            yield from _with_content(Path(place) / name)


def _with_content(path: Path) -> Iterator[str]:
    """Yield the name of a regular file that is not empty; programs leave empty ones as marks and as empty parts."""
    if path.is_file() and path.stat().st_size:
        yield path.as_posix()


def _refuse(error: OSError) -> None:
    """Raise what `os.walk` would pass over: rows would be lost silently."""
    raise DataError(f"{error.filename} cannot be read ({error.strerror}); check its permissions.") from error


def _read_part(name: str, read: Callable[..., tuple[pl.DataFrame, dict[str, Any]]], format: str | None) -> Part:
    """Read one file; of parquet only the columns, for now."""
    if is_parquet(name, format):
        return open_parquet(name)
    frame, notes = read(name)
    return Part(name, without_untyped(frame), notes)
