"""JSON on lines: one object or text each; and what a JSON value of any file is parsed with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from shoal.corpus.columns import CellKinds, not_all_objects, typed_series, unique_names
from shoal.errors import DataError


@dataclass(frozen=True)
class JsonLines:
    """Lines with a JSON value each: how they are rows.

    Parameters
    ----------
    lines : iterable of str
        They may be gone through more than once; blank ones are no rows.
    types : dict of str to DataType
        The columns, by the keys of the objects.
    n_rows : int
        How many rows there are.
    """

    lines: Iterable[str]
    types: dict[str, pl.DataType]
    n_rows: int

    @classmethod
    def of(cls, lines: Iterable[str]) -> JsonLines | None:
        """Find the columns and their types in all lines; None if only the whole table has a type for each."""
        columns: dict[str, CellKinds] = {}
        n_rows = n_objects = 0
        other: tuple[int, object] | None = None  # the first item that is no object
        for n_rows, item in enumerate(items_of(lines), start=1):
            if isinstance(item, Mapping):
                n_objects += 1
            elif other is None:
                other = n_rows, item
            for key, cell in _record(item).items():
                columns.setdefault(key, CellKinds()).add(cell)
        if other is not None and n_objects:
            raise not_all_objects(*other)
        types = {key: kinds.dtype() for key, kinds in columns.items()}
        known = {key: dtype for key, dtype in types.items() if dtype is not None}
        return cls(lines, known, n_rows if columns else 0) if len(known) == len(types) else None

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield the object of each row."""
        return map(_record, items_of(self.lines))

    def frame(self, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
        """Make a table of rows."""
        named = zip(unique_names(self.types), self.types.items(), strict=True)
        return pl.DataFrame([typed_series(name, (row.get(key) for row in rows), dtype) for name, (key, dtype) in named])


def items_of(lines: Iterable[str]) -> Iterator[Any]:
    """Yield the JSON value of each line that is not blank."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield parsed(line.strip(), number)


def parsed(text: str, line: int = 1) -> Any:
    """Parse JSON that starts on the given line."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        where = f"line {line + error.lineno - 1}, column {error.colno}"
        raise DataError(f"{where} is not valid JSON ({error.msg}); correct or remove it.") from error
    except (RecursionError, ValueError) as error:
        raise DataError(f"line {line} is not usable JSON ({error}); correct or remove it.") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dict of a JSON object; a repeated key is numbered, where Python would keep the last value alone."""
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    return dict(zip(unique_names(name for name, _ in pairs), (value for _, value in pairs), strict=True))


def _record(item: Any) -> Mapping[str, Any]:
    """Return an object as it is, anything else as the only cell of its row."""
    return item if isinstance(item, Mapping) else {"text": item}
