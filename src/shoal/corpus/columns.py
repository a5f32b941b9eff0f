"""Cells and columns: Python values to a frame, columns to strings, choosing the text column."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import DataError, did_you_mean

TEXT_NAMES = (
    *("text", "body", "title", "sentence", "document", "content", "question", "query"),
    *("message", "description", "headline", "review", "comment", "answer"),
)

_EXACT = 2**53  # beyond it a floating-point number rounds whole numbers
_PANDAS_MISSING = {"NaTType", "NAType"}
_SCALARS = (bool, int, float, date, time, Decimal)

_NOT_PROSE = "|".join(
    (
        r"^\s*\S*\d\S*\s*$",  # one token with a digit in it: numbers, codes, uuids, dates
        r"^\s*[-+]?\d[\d\s.,:/+TZ-]*$",  # times, telephone numbers
        r"^\s*\d{1,2} \w{3,9} \d{2,4}\s*$",  # 3 May 2024
        r"^\s*(https?://|www\.)\S*\s*$",
        r"^\s*\S+@\S+\.\S+\s*$",
    )
)
# In a column of fewer rows, few distinct values do not mean a category.
_CATEGORY_MIN_ROWS = 100


def is_missing(value: object) -> bool:
    """Tell whether a cell is None, NaN, NaT or pandas' NA."""
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in _PANDAS_MISSING


def without_surrogates(text: str) -> str:
    """Drop lone surrogates, which no UTF-8 text can hold."""
    return text.encode("utf-8", "ignore").decode("utf-8")


def as_text(value: Any) -> str:
    """Convert a cell that is not missing to text: a string as it is, JSON where possible, else ``str()``."""
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (np.ndarray, np.generic, pl.Series)):
        value = value.tolist() if not isinstance(value, pl.Series) else value.to_list()
    if isinstance(value, (bool, int, float, list, tuple, dict)):
        return without_surrogates(json.dumps(value, ensure_ascii=False, default=str))
    return without_surrogates(str(value))


def series_of(name: str, values: Iterable[object]) -> tuple[pl.Series, int]:
    """Make a column of Python values, of strings if the types differ; also count the cells converted to strings."""
    cells = [None if is_missing(value) else value for value in values]
    kinds = {type(cell) for cell in cells if cell is not None}
    try:
        if all(issubclass(kind, str) for kind in kinds):
            return pl.Series(name, cells, dtype=pl.String), 0
        if kinds == {int, float} and all(abs(cell) <= _EXACT for cell in cells if type(cell) is int):
            return pl.Series(name, cells, dtype=pl.Float64, strict=False), 0
        if len(kinds) == 1 and all(issubclass(kind, _SCALARS) for kind in kinds):
            return pl.Series(name, cells), 0
    except (UnicodeError, TypeError, OverflowError, pl.exceptions.PolarsError):
        pass  # lone surrogates, integers beyond 128 bits, mixed time zones: strings hold them all
    converted = sum(cell is not None and not isinstance(cell, str) for cell in cells)
    texts = [None if cell is None else as_text(cell) for cell in cells]
    return pl.Series(name, texts, dtype=pl.String), converted


@dataclass
class CellKinds:
    """What has been seen of a column's cells, each a value of JSON: enough to know its type before it is made."""

    kinds: set[type] = field(default_factory=set)
    least: int = 0
    most: int = 0

    def add(self, cell: object) -> None:
        """Take note of a cell."""
        if is_missing(cell):
            return
        self.kinds.add(type(cell))
        if type(cell) is int:
            self.least, self.most = min(self.least, cell), max(self.most, cell)

    def dtype(self) -> pl.DataType | None:
        """Return the type that `series_of` gives the column; None if it depends on the order of its cells."""
        if self.kinds == {bool}:
            return pl.Boolean()
        if self.kinds == {float} or (self.kinds == {int, float} and max(-self.least, self.most) <= _EXACT):
            return pl.Float64()
        if self.kinds != {int}:
            return pl.String()
        return pl.Int64() if self.least >= -(2**63) and self.most < 2**63 else None


def typed_series(name: str, values: Iterable[object], dtype: pl.DataType) -> pl.Series:
    """Make some cells of a column whose type is known from `CellKinds`."""
    cells = (None if is_missing(value) else value for value in values)
    if dtype == pl.String:
        return pl.Series(name, [None if cell is None else as_text(cell) for cell in cells], dtype=dtype)
    return pl.Series(name, list(cells), dtype=dtype, strict=False)


def strings_of(series: pl.Series) -> pl.Series:
    """Turn any column into strings, null where a cell is missing; nested cells become JSON."""
    if series.dtype == pl.String:
        return series
    if series.dtype.is_float():
        series = series.fill_nan(None)
    if _is_awkward(series.dtype):
        return pl.Series(
            series.name,
            [None if is_missing(cell) else as_text(cell) for cell in series.to_list()],
            dtype=pl.String,
        )
    return series.cast(pl.String)


def without_nesting(frame: pl.DataFrame) -> pl.DataFrame:
    """Turn the columns that a csv cannot hold into strings."""
    return frame.with_columns(strings_of(cells) for cells in frame if _is_awkward(cells.dtype))


def _is_awkward(dtype: pl.DataType) -> bool:
    """Tell whether a column is of a type that a csv cannot hold."""
    return dtype.is_nested() or dtype in (pl.Object, pl.Binary, pl.Duration)


def unique_names(names: Iterable[object]) -> list[str]:
    """Name columns without a name ``column_<position>`` and number repeated names; keep all others."""
    taken: dict[str, None] = {}
    for position, raw in enumerate(names, start=1):
        name = without_surrogates(str(raw)).replace("\0", "") or f"column_{position}"
        count, unique = 1, name
        while unique in taken:
            count += 1
            unique = f"{name}_{count}"
        taken[unique] = None
    return list(taken)


def frame_of_columns(
    names: Iterable[object], columns: Iterable[Iterable[object]]
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Make a frame of Python columns; also count the cells converted to strings, by column."""
    made = [series_of(name, column) for name, column in zip(unique_names(names), columns, strict=True)]
    lengths = {len(series) for series, _ in made}
    if len(lengths) > 1:
        counts = ", ".join(f"{series.name!r} {len(series)}" for series, _ in made)
        raise DataError(
            f"the columns have different numbers of cells ({counts}); pass one cell per row in every column."
        )
    return pl.DataFrame([series for series, _ in made]), {series.name: n for series, n in made if n}


def frame_of_items(items: Sequence[object]) -> tuple[pl.DataFrame, dict[str, int]]:
    """Make a frame of records (the union of their keys) or of bare texts (one column, ``text``)."""
    records = [item for item in items if isinstance(item, Mapping)]
    if not records:
        return frame_of_columns(["text"], [items])
    if len(records) < len(items):
        raise not_all_objects(*next((i, item) for i, item in enumerate(items, 1) if not isinstance(item, Mapping)))
    names = dict.fromkeys(name for record in records for name in record)
    return frame_of_columns(names, ([record.get(name) for record in records] for name in names))


def not_all_objects(row: int, item: object) -> DataError:
    """Return the error for an item that is no object among others that are."""
    return DataError(
        f"item {row} is {type(item).__name__}, not an object, but others are objects; pass only objects, or only texts."
    )


def frame_of_named_rows(columns: Mapping[str, Any]) -> tuple[pl.DataFrame, dict[str, int]]:
    """Make a frame of columns whose cells have the names of their rows; a row has what each column has under its name.

    Names other than 0, 1, 2, … are data, and become the column ``index``.
    """
    lists = [name for name, column in columns.items() if not isinstance(column, Mapping)]
    if lists:
        raise DataError(
            f"the column {lists[0]!r} is a list but others are objects, so it is not clear which cells belong "
            "together; pass only lists, or only objects with the same keys."
        )
    rows = list(dict.fromkeys(row for column in columns.values() for row in column))
    if set(rows) == {str(number) for number in range(len(rows))}:
        rows.sort(key=int)
        index: dict[str, list[str]] = {}
    else:
        index = {"index": rows}
    cells = [[column.get(row) for row in rows] for column in columns.values()]
    return frame_of_columns([*index, *columns], [*index.values(), *cells])


def require_column(frame: pl.DataFrame, name: str) -> str:
    """Return ``name`` if the frame has that column; otherwise raise an error with the columns and the closest name."""
    if name in frame.columns:
        return name
    hint = did_you_mean(name, frame.columns) or " Name one of these."
    raise DataError(f"no column {name!r}; the columns are {_listed(frame.columns)}.{hint}")


def columns_of(frame: pl.DataFrame, names: str) -> list[str]:
    """Return the columns that are named: one, or several with commas between them.

    Examples
    --------
    >>> columns_of(pl.DataFrame({"title": ["a"], "body": ["b"]}), "title, body")
    ['title', 'body']
    """
    if names in frame.columns or "," not in names:
        return [require_column(frame, names)]
    return [require_column(frame, name.strip()) for name in names.split(",")]


def texts_of(frame: pl.DataFrame, names: str) -> pl.Series:
    r"""Return the texts of one column, or of several joined by line ends; null where all of them are missing.

    Examples
    --------
    >>> texts_of(pl.DataFrame({"title": ["late", None], "body": ["where is it?", "broken"]}), "title,body").to_list()
    ['late\nwhere is it?', 'broken']
    """
    parts = [strings_of(frame[name]) for name in columns_of(frame, names)]
    if len(parts) == 1:
        return parts[0]
    rows = (
        [part for part in row if part is not None and part.strip()]
        for row in zip(*(part.to_list() for part in parts), strict=True)
    )
    return pl.Series(names, ["\n".join(row) or None for row in rows], dtype=pl.String)


def choose_text_column(frame: pl.DataFrame, text: str | None, others: Sequence[str]) -> tuple[str, str]:
    """Return the text column and how it was chosen: given, the only candidate, or by name."""
    if text is not None:
        columns_of(frame, text)
        return text, "given"
    if frame.width == 1:
        return frame.columns[0], "only column"
    strings = [name for name in frame.select(pl.col(pl.String)).columns if name not in others]
    if len(strings) == 1:
        return strings[0], "only string column"
    prose = [name for name in strings if _may_be_prose(frame[name])] or strings
    if len(prose) == 1:
        return prose[0], "only column of prose"
    named = [name for name in prose if name.strip().lower() in TEXT_NAMES]
    if len(named) == 1:
        return named[0], "by name"
    found = f"{len(prose)} columns may hold the texts" if prose else "no column holds strings"
    raise DataError(
        f"{found}: {_listed(prose or frame.columns)}; name one with --text COLUMN (text='COLUMN'), "
        "or several to join: --text TITLE,BODY."
    )


def _may_be_prose(series: pl.Series) -> bool:
    """Tell prose from numbers, dates, codes, addresses and categories."""
    present = series.drop_nulls()
    if len(series) >= _CATEGORY_MIN_ROWS and present.n_unique() <= max(20, 0.02 * len(series)):
        return False
    return not present.str.contains(_NOT_PROSE).all()


def _listed(names: Sequence[str], limit: int = 20) -> str:
    """Quote the names, at most the first twenty."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(repr(name) for name in names[:limit]) + more
