"""Data sets: many files that are one table, joined in the order of their names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

import polars as pl

from shoal.corpus.readers import FORMATS, first_line, format_of_name
from shoal.errors import DataError
from shoal.progress import progress

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})")  # 007 is a code


@dataclass(frozen=True)
class Part:
    """One file of a data set, perhaps not yet read, and what reading it found."""

    name: str
    frame: pl.LazyFrame
    notes: Mapping[str, Any] = field(default_factory=dict)

    def read(self) -> pl.DataFrame:
        """Read it; an error names the file."""
        try:
            return self.frame.collect()
        except (Exception, pl.exceptions.PanicException) as error:
            raise DataError(f"{self.name} cannot be read ({first_line(error)}); write it again.") from error


def choose_files(names: Iterable[str], root: str, format: str | None) -> list[str]:
    """Return the tables among the files, in the order of their names; refuse several formats.

    Files and folders whose names begin with ``_`` or ``.`` are marks and logs of the programs that wrote the data
    set. Where there are other tables, txt files are notes on them.

    Parameters
    ----------
    names : iterable of str
        All files, with ``/`` between folders.
    root : str
        Where the data set is: what is above it may have any name.
    format : str, optional
        Only this format; without a file of its suffix, every file is taken to be of it.

    Raises
    ------
    DataError
        If there is no table, or there are several formats.
    """
    above = len(PurePosixPath(root).parts)
    by_parts = sorted((PurePosixPath(name).parts, name) for name in names)
    visible = [name for parts, name in by_parts if not any(part[0] in "_." for part in parts[above:])]
    by_format: dict[str, list[str]] = {}
    for name in visible:
        if kind := format_of_name(name):
            by_format.setdefault(kind, []).append(name)
    if format is not None:
        return by_format.get(FORMATS.get("." + format.lower().removeprefix("."), ""), visible)
    if len(by_format) > 1:
        by_format.pop("txt", None)
    if len(by_format) > 1:
        counts = ", ".join(f"{len(files)} {kind}" for kind, files in by_format.items())
        raise DataError(f"it has files of several formats ({counts}); choose one with --format, or by a pattern.")
    if not by_format:
        raise DataError(f"none of the {len(visible)} files in it is a table; the suffixes are {' '.join(FORMATS)}.")
    return next(iter(by_format.values()))


def open_parts(names: Sequence[str], read: Callable[[str], Part]) -> list[Part]:
    """Open the files of a data set, with the same columns, of the same types and in the same order, in each.

    Folders named ``column=value``, as Hive and Spark write them, are columns too, of whole numbers if all are.

    Parameters
    ----------
    names : sequence of str
        The files.
    read : callable
        Reads one; parquet may be left for later, so that its columns are checked before any row is read.

    Raises
    ------
    DataError
        With the file and the column, if the columns or their types disagree.
    """
    with progress("Opening", len(names), "files") as bar:
        parts = []
        for name in names:
            parts.append(read(name))
            bar.advance(1)
    parts = _with_partitions(parts)
    types = _common_types(parts)
    return [replace(part, frame=part.frame.select(pl.col(name).cast(types[name]) for name in types)) for part in parts]


def read_parts(parts: Sequence[Part]) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Read the files of a data set as one table."""
    frames = []
    with progress("Reading", len(parts), "files") as bar:
        for part in parts:
            frames.append(part.read())
            bar.advance(1)
    return pl.concat(frames), {"parts": len(parts), **_sum_of_notes(part.notes for part in parts)}


def _with_partitions(parts: Sequence[Part]) -> list[Part]:
    """Add the columns that are in the names of folders, unless the files have them."""
    found = [_partition_of(part.name) for part in parts]
    whole = {
        key
        for key in {key for values in found for key in values}
        if all(value is None or _WHOLE.fullmatch(value) for values in found if key in values for value in [values[key]])
    }
    return [
        Part(
            part.name,
            part.frame.with_columns(
                pl.lit(value, dtype=pl.String).cast(pl.Int64 if key in whole else pl.String).alias(key)
                for key, value in values.items()
                if key not in part.frame.collect_schema()
            ),
            part.notes,
        )
        for part, values in zip(parts, found, strict=True)
    ]


def _partition_of(name: str) -> dict[str, str | None]:
    """Return the columns in the folders of a file: ``year=2024/kind=a%2Fb/part.csv`` is in year 2024, kind a/b."""
    pairs = [part.partition("=") for part in PurePosixPath(name).parts[:-1]]
    return {key: None if value == _NO_VALUE else unquote(value) for key, equals, value in pairs if key and equals}


def _common_types(parts: Sequence[Part]) -> dict[str, pl.DataType]:
    """Return the columns and a type for each that holds the cells of every file."""
    first = parts[0]
    types = dict(first.frame.collect_schema())
    for part in parts[1:]:
        schema = part.frame.collect_schema()
        _require_same_names(part, first)
        _require_same_names(first, part)
        for name, type_ in schema.items():
            common = common_type(types[name], type_)
            if common is None:
                raise DataError(
                    f"column {name!r} of {part.name} is {type_}, but in the files before it is {types[name]}; "
                    "write it with one type in all files, or choose some by a pattern."
                )
            types[name] = common
    return {name: pl.String() if type_ == pl.Null else type_ for name, type_ in types.items()}


def _require_same_names(part: Part, other: Part) -> None:
    """Refuse a file that lacks a column of another."""
    lacking = [name for name in other.frame.collect_schema() if name not in part.frame.collect_schema()]
    if lacking:
        raise DataError(
            f"{part.name} has no column {lacking[0]!r}, which {other.name} has; give all files the same columns, or "
            "choose some by a pattern."
        )


def common_type(left: pl.DataType, right: pl.DataType) -> pl.DataType | None:
    """Return a type that holds both, or None: no value goes with everything, numbers with numbers, dates with times."""
    if left == right or right == pl.Null:
        return left
    if left == pl.Null:
        return right
    strings = (pl.String, pl.Categorical, pl.Enum)
    if left in strings and right in strings:
        return pl.String()
    if not (left.is_numeric() and right.is_numeric()) and not (left.is_temporal() and right.is_temporal()):
        return None
    try:
        empty = [pl.DataFrame(schema={"": type_}) for type_ in (left, right)]
        return pl.concat(empty, how="vertical_relaxed").schema[""]
    except pl.exceptions.PolarsError:
        return None


def _sum_of_notes(notes: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Add up the counts of all files; of anything else name every value once."""
    total: dict[str, Any] = {}
    for each in notes:
        for name, value in each.items():
            before = total.get(name)
            if before is None or isinstance(value, bool):
                total[name] = value or before
            elif isinstance(value, int):
                total[name] = before + value
            elif isinstance(value, Mapping):
                total[name] = {key: before.get(key, 0) + value.get(key, 0) for key in {**before, **value}}
            elif value not in before.split(", "):
                total[name] = f"{before}, {value}"
    return total


def without_untyped(frame: pl.DataFrame) -> pl.LazyFrame:
    """Leave the type of columns without any value open, so that the other files decide it."""
    empty = [name for name in frame.columns if frame[name].null_count() == len(frame)]
    return frame.with_columns(pl.lit(None, dtype=pl.Null).alias(name) for name in empty).lazy()
