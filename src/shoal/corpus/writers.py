"""Writing tables: csv, tsv, jsonl, json, parquet and xlsx, always atomically."""

from __future__ import annotations

import functools
import gzip
import importlib
import io
import math
import re
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

import polars as pl

from shoal.cache import written_atomically
from shoal.corpus.columns import strings_of, without_nesting
from shoal.errors import DataError, ParameterError

_FORMULA = r"^[=+\-@\t\r]"
_DELIMITED = {".csv": ",", ".tsv": "\t"}
_APPENDED = (*_DELIMITED, ".jsonl")
# Beyond this a spreadsheet, whose numbers are all doubles, rounds integers.
_EXACT_INTEGERS = 2**53


def write_table(frame: pl.DataFrame, path: Path, *, safe: bool = False) -> None:
    r"""Write a table in the format of its suffix; a reader sees the old file or the whole new one, never a part.

    The suffixes are ``.csv .tsv .jsonl .json .parquet .xlsx``, the first four also with ``.gz``. Except in
    parquet, nested cells are written as their JSON text, bytes and durations as strings. A csv holds missing
    cells as empty ones and reads back with `read_table` cell for cell, as strings.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    path : Path
        The file; missing folders are created, an existing file is replaced.
    safe : bool, default=False
        Whether csv and tsv are written :func:`without_formulas`.

    Raises
    ------
    ParameterError
        If the suffix is unknown, the file cannot be written, or the package for xlsx is missing.
    DataError
        If the table is too large for xlsx.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "fish.csv"
    ...     write_table(pl.DataFrame({"text": ["a, b", None], "cluster": [0, None]}), path)
    ...     path.read_text()
    'text,cluster\n"a, b",0\n,\n'
    """
    write_table_of([frame], path, safe=safe)


def write_table_of(frames: Iterable[pl.DataFrame], path: Path, *, safe: bool = False) -> None:
    """Write tables with the same columns as one, as `write_table` does; where the format allows it, while they come."""
    suffix, zipped = suffix_of(str(path))
    try:
        with written_atomically(path) as temporary:
            if suffix in _APPENDED:
                _append(frames, temporary, suffix, zipped=zipped, safe=safe)
            elif suffix == ".parquet":
                _join_parquet(frames, temporary)
            else:
                temporary.write_bytes(encoded(pl.concat(frames), str(path), safe=safe))
    except OSError as error:
        raise ParameterError(f"{path} cannot be written ({error}); choose another path.") from error


def _append(frames: Iterable[pl.DataFrame], path: Path, suffix: str, *, zipped: bool, safe: bool) -> None:
    """Write one table after the other, without the names of the columns from the second on."""
    with path.open("wb") as file:
        # without a timestamp, so that the same table gives the same file
        stream = gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) if zipped else file
        for number, frame in enumerate(frames):
            stream.write(_text_of(frame, suffix, safe, header=number == 0).encode())
        if zipped:
            stream.close()


def _join_parquet(frames: Iterable[pl.DataFrame], path: Path) -> None:
    """Write each table to a file of its own, and join these, which polars does bit by bit."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".") as folder:
        parts = []
        for number, frame in enumerate(frames):
            parts.append(Path(folder) / f"{number}.parquet")
            frame.write_parquet(parts[-1])
        if len(parts) == 1:
            parts[0].replace(path)
        else:
            pl.scan_parquet(parts).sink_parquet(path)


def encoded(frame: pl.DataFrame, name: str, *, safe: bool = False) -> bytes:
    """Return the content of the file that `write_table` would write."""
    suffix, zipped = suffix_of(name)
    if suffix in _BINARY_WRITERS:
        return _BINARY_WRITERS[suffix](frame)
    content = _text_of(frame, suffix, safe).encode()
    # without a timestamp, so that the same table gives the same file
    return gzip.compress(content, mtime=0) if zipped else content


def _text_of(frame: pl.DataFrame, suffix: str, safe: bool, header: bool = True) -> str:
    """Return a table as text, with the names of its columns on top where the format has such a line."""
    plain = without_nesting(frame)
    if suffix not in _DELIMITED:
        return _TEXT_WRITERS[suffix](plain)
    return delimited(without_formulas(plain) if safe else plain, _DELIMITED[suffix], header=header)


def suffix_of(name: str) -> tuple[str, bool]:
    """Return the suffix that decides the format, and whether the file is gzipped; refuse an unknown one.

    Raises
    ------
    ParameterError
        If no table is written with this suffix.
    """
    zipped = name.lower().endswith(".gz")
    suffix = Path(name.lower().removesuffix(".gz")).suffix
    if suffix in _TEXT_WRITERS or (suffix in _BINARY_WRITERS and not zipped):
        return suffix, zipped
    raise ParameterError(
        f"{name} has an unknown suffix {suffix + '.gz' * zipped!r}; the suffixes are "
        f"{' '.join(_TEXT_WRITERS)} (each also .gz) {' '.join(_BINARY_WRITERS)}."
    )


def without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before the strings, names of columns included, that a spreadsheet might take for formulas.

    Examples
    --------
    >>> without_formulas(pl.DataFrame({"text": ["=1+1", "a", None], "n": [-1, 2, 3]})).rows()
    [("'=1+1", -1), ('a', 2), (None, 3)]
    """
    marked = frame.with_columns(
        pl.when(cells.str.contains(_FORMULA)).then("'" + cells).otherwise(cells).alias(cells.name)
        for cells in frame
        if cells.dtype == pl.String
    )
    names = {name: "'" + name if re.match(_FORMULA, name) else name for name in frame.columns}
    return marked.rename(names)


def delimited(frame: pl.DataFrame, separator: str = ",", *, header: bool = True) -> str:
    """Quote where needed; quote all cells of a table with one column.

    Its missing cells would be blank lines, which many readers skip, and a ``;`` in its name would be taken for the
    separator.
    """
    style: Literal["always", "necessary"] = "always" if frame.width == 1 else "necessary"
    return frame.write_csv(separator=separator, quote_style=style, include_header=header)


def _parquet(frame: pl.DataFrame) -> bytes:
    """Write parquet, which holds every type of column."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def _xlsx(frame: pl.DataFrame) -> bytes:
    """Write one plain sheet: numbers and booleans as such, everything else as strings.

    Not with polars, which silently loses long links and column names that differ only in case.
    """
    try:
        xlsxwriter = importlib.import_module("xlsxwriter")
    except ImportError as error:
        raise ParameterError(
            "xlsx needs the package xlsxwriter, which is not installed; run: pip install xlsxwriter, or write "
            f"{' '.join(_TEXT_WRITERS)} or .parquet."
        ) from error
    buffer = io.BytesIO()
    book = xlsxwriter.Workbook(buffer, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
    sheet = book.add_worksheet()
    for column, series in enumerate(frame):
        for row, cell in enumerate([series.name, *_spreadsheet_cells(series)]):
            if sheet.write(row, column, cell):
                raise DataError(
                    f"row {row} of column {series.name!r} does not fit into xlsx (1048575 rows, 16384 columns, "
                    "32767 characters per cell); write .csv or .parquet."
                )
    book.close()
    return buffer.getvalue()


class _Exact(float):
    """A number that is written with all its digits: xlsxwriter asks for sixteen, and many doubles need seventeen."""

    def __format__(self, _: str) -> str:
        return repr(float(self))


def _spreadsheet_cells(series: pl.Series) -> list[str | float | None]:
    """Return the cells that a spreadsheet holds exactly; the others as strings, NaN as a missing cell."""
    if series.dtype.is_float():
        cells = series.fill_nan(None).to_list()
        return [cell if cell is None else _Exact(cell) if math.isfinite(cell) else str(cell) for cell in cells]
    ends = [end for end in (series.min(), series.max()) if isinstance(end, int)]
    whole = series.dtype.is_integer() and all(abs(end) <= _EXACT_INTEGERS for end in ends)
    return (series if whole or series.dtype == pl.Boolean else strings_of(series)).to_list()


_TEXT_WRITERS: dict[str, Callable[[pl.DataFrame], str]] = {
    ".csv": delimited,
    ".tsv": functools.partial(delimited, separator="\t"),
    ".jsonl": pl.DataFrame.write_ndjson,
    ".json": pl.DataFrame.write_json,
}
_BINARY_WRITERS: dict[str, Callable[[pl.DataFrame], bytes]] = {".parquet": _parquet, ".xlsx": _xlsx}
