"""Reading tables: csv, tsv, jsonl, json, parquet, xlsx and txt, plain or gzipped."""

from __future__ import annotations

import codecs
import contextlib
import functools
import io
import json
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from shoal.corpus.columns import frame_of_columns, frame_of_items, frame_of_named_rows
from shoal.corpus.delimited import Table, TextLines, lines_of, looks_like_csv, read_delimited
from shoal.corpus.encodings import decode
from shoal.corpus.folders import read_folder
from shoal.corpus.json_lines import items_of, parsed
from shoal.corpus.unpacking import unzipped
from shoal.corpus.xlsx import read_xlsx
from shoal.errors import DataError, ParameterError

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
    ".txt": "txt",
}


def read_table(
    source: str | Path | BinaryIO, encoding: str | None = None, format: str | None = None, sheet: str | None = None
) -> tuple[pl.DataFrame, dict[str, Any]]:
    r"""Read any table, every row in its place.

    The suffix decides the format: ``.csv .tsv .jsonl .ndjson .json .parquet .xlsx .txt``, each also with
    ``.gz`` (gzip is also recognised by its first bytes). A stream without such a name, and ``-``, the
    standard input, are guessed unless ``format`` is given: parquet and xlsx by their first bytes; ``{"`` or
    ``[{`` or ``["`` is JSON, and jsonl if the first line is a complete object; a tab in the first line
    means tsv; csv if the first line has a field named like a text column, ``id`` or ``label``, or if it has
    several fields and the next hundred rows have as many; otherwise txt.

    - csv, tsv: the first row is the header. A csv whose header has no comma may use ``;`` or tabs. Cells stay
      strings (``007`` stays ``007``), empty cells are missing. Quoted fields may contain line ends. A row whose
      quotes break the grammar of RFC 4180 is taken literally as one line, so that it never swallows the next
      (``stray_quotes`` such rows); in a tsv one such quote, or quotes that pair across rows although every
      line has the same number of tabs, turn quoting off for the whole file. Either way ``quoting`` is
      ``"off"``. Too few fields: the rest is missing (``short_rows``). Too many: an error, unless the surplus
      is empty or the table has one column, whose fields are then rejoined (``joined_rows``). Blank lines are
      rows only in a one-column table.
    - json: a list of objects, a list of texts, or an object of columns. jsonl: one object or text per line. The
      columns are the union of the keys; nested values become their JSON text. Columns that are objects themselves, as
      pandas writes them, are joined by their keys; keys other than 0, 1, 2, … become the column ``index``. A key that
      an object has twice is numbered, not lost.
    - xlsx: the sheet that is named, or the only one with data; every cell as a string with all its digits, dates in ISO
      format; a formula that was never computed is its own text; empty rows at the end are not rows.
    - txt: one text per line, column ``text``; blank lines are rows.
    - a folder: one text per ``.txt`` or ``.md`` file in it or below, in the column ``text``; its path in the folder is
      in the column ``file``. Other files are left out.

    A line ends with a line feed, a carriage return, or both, whatever the others end with. Without ``encoding``, bytes
    are what a byte order mark says, or UTF-16 or UTF-32 without one, or UTF-8. If they have fewer valid UTF-8 sequences
    than broken ones they are Windows-1252 where most letters outside ASCII stand alone, and otherwise what their
    statistics say (GBK, Shift-JIS, Big5, EUC-KR, Cyrillic, …); if these say nothing, it is an error that asks for the
    encoding. Else they are UTF-8 with each broken sequence replaced by U+FFFD (``replaced_characters``).

    Parameters
    ----------
    source : str, Path or binary file
        A path, ``-`` or an open stream.
    encoding : str, optional
        Forces an encoding.
    format : str, optional
        Forces a format: csv, tsv, jsonl, json, parquet, xlsx or txt.
    sheet : str, optional
        The name, or the number from 1, of a workbook's sheet.

    Returns
    -------
    frame : polars.DataFrame
        At least one row.
    notes : dict
        What reading found and changed, if anything: ``encoding``, ``encoding_guessed``, ``replaced_characters``,
        ``quoting``, ``stray_quotes``, ``short_rows``, ``joined_rows``, ``blank_lines``, ``mixed`` (cells
        turned into strings, by column), ``files`` (of a folder).

    Raises
    ------
    DataError
        If the source cannot be read as a table with rows.

    Examples
    --------
    >>> import io
    >>> frame, notes = read_table(io.BytesIO(b"id,text\n007,hello\n008\n"))
    >>> frame.rows(), notes
    ([('007', 'hello'), ('008', None)], {'encoding': 'utf-8', 'short_rows': 1})
    """
    if _is_path(source) and Path(str(source)).expanduser().is_dir():
        return read_folder(Path(str(source)).expanduser(), encoding)
    name, raw = _read_bytes(source)
    kind = _format_of(name, raw, format, guess=not _is_path(source))
    if sheet is not None and kind != "xlsx":
        raise DataError(f"{name} is no workbook and has no sheet {sheet!r}; omit --sheet (sheet=).")
    notes: dict[str, Any] = {}
    try:
        if kind in ("xlsx", "parquet"):
            frame = read_xlsx(raw, sheet) if kind == "xlsx" else _read_parquet(raw)
        else:
            text, notes = decode(raw, encoding)
            if not text.strip():
                raise DataError("only white space; pass a file with at least one text.")
            frame, more = _TEXT_READERS[kind or _guess(text)](text)
            notes |= more
    except DataError as error:
        raise DataError(f"{name}: {error}") from error
    except RecursionError as error:
        raise DataError(f"{name} is nested too deeply; pass flatter objects.") from error
    if frame.is_empty():
        raise DataError(f"{name} has no rows; pass at least one row of data below the column names.")
    return frame, notes


def _is_path(source: object) -> bool:
    """Tell a path from a stream and from ``-``."""
    return isinstance(source, (str, Path)) and str(source) != "-"


def _read_bytes(source: str | Path | BinaryIO) -> tuple[str, bytes]:
    """Return a name for messages, and the content, unzipped."""
    if _is_path(source):
        name, raw = str(source), _file_bytes(Path(str(source)).expanduser())
    else:
        stream: Any = sys.stdin.buffer if str(source) == "-" else source
        if not hasattr(stream, "read"):
            raise DataError(f"cannot read {type(source).__name__}; pass a path or a file, or use Corpus.of(data).")
        raw = stream.read()
        raw = raw.encode("utf-8", "replace") if isinstance(raw, str) else raw
        name = "standard input" if str(source) == "-" else str(getattr(stream, "name", "the stream"))
    if raw.startswith(b"\x1f\x8b") or (raw and name.lower().endswith(".gz")):
        try:
            raw = unzipped(raw)
        except (EOFError, zlib.error) as error:
            raise DataError(f"{name} is damaged gzip ({error}); copy or compress it again.") from error
        except DataError as error:
            raise DataError(f"{name}: {error}") from error
    if not raw.strip(codecs.BOM_UTF8):
        raise DataError(f"{name} is empty; pass a file with at least one text.")
    return name, raw


def _file_bytes(path: Path) -> bytes:
    """Read a file."""
    try:
        if stat.S_ISCHR(mode := path.stat().st_mode) or stat.S_ISBLK(mode):  # /dev/zero has no end
            raise DataError(f"{path} is a device; pass a file, or - for the standard input.")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise DataError(f"no such file: {path}; check the path (looked in {Path.cwd()}).") from error
    except PermissionError as error:
        raise DataError(f"no permission to read {path}; change its permissions or copy it.") from error
    except (OSError, ValueError) as error:
        raise DataError(f"{str(path)!r} cannot be read ({error}); check the path.") from error


def _format_of(name: str, raw: bytes, format: str | None, guess: bool) -> str | None:
    """Return the format as given, by suffix or by the first bytes; None if the text must be inspected."""
    known = " ".join(FORMATS)
    if format is not None:
        kind = FORMATS.get("." + format.lower().removeprefix("."))
        if kind is None:
            raise ParameterError(f"format={format!r} is not known; the formats are {known.replace('.', '')}.")
        return kind
    if kind := format_of_name(name):
        return kind
    if guess:
        return {b"PAR1": "parquet", b"PK\x03\x04": "xlsx"}.get(raw[:4])
    suffix = Path(name.lower().removesuffix(".gz")).suffix
    raise DataError(
        f"{name} has an unknown suffix {suffix!r}; the suffixes are {known} (each also .gz), or pass format."
    )


def format_of_name(name: str) -> str | None:
    """Return the format that a file's suffix stands for; None if it is unknown."""
    return FORMATS.get(Path(name.lower().removesuffix(".gz")).suffix)


def format_of(name: str, format: str | None) -> str | None:
    """Return the format that is given, or else that the suffix stands for; None if it is unknown."""
    return format_of_name(name) if format is None else FORMATS.get("." + format.lower().removeprefix("."))


def _guess(text: str) -> str:
    """Guess the format of a text, by the rule of `read_table`."""
    first, *rest = re.split(r"[\r\n]+", text.strip(), maxsplit=1)
    if re.match(r'\{\s*"|\[\s*[{"]', text.strip()):
        try:
            record = json.loads(first)
        except (ValueError, RecursionError):
            return "json"
        columns = isinstance(record, dict) and all(isinstance(cell, list) for cell in record.values())
        return "jsonl" if isinstance(record, dict) and (rest or not columns) else "json"
    if "\t" in first:
        return "tsv"
    return "csv" if looks_like_csv(text) else "txt"


def _read_json(text: str) -> Table:
    """Read a list of objects, a list of texts or an object of columns."""
    data = parsed(text)
    if isinstance(data, list):
        return _noted(frame_of_items(data))
    if isinstance(data, dict) and all(isinstance(column, (list, dict)) for column in data.values()):
        if any(isinstance(column, dict) for column in data.values()):
            return _noted(frame_of_named_rows(data))
        return _noted(frame_of_columns(data, data.values()))
    raise DataError("JSON, but not a table; pass a list of objects, a list of texts or an object of columns.")


def _read_jsonl(text: str) -> Table:
    """Read one JSON value per line, without blank lines."""
    return _noted(frame_of_items(list(items_of(lines_of(text)))))


def _noted(made: tuple[pl.DataFrame, dict[str, int]]) -> Table:
    """Add the counts of converted cells, if any, as a note."""
    frame, mixed = made
    return frame, {"mixed": mixed} if mixed else {}


def _read_txt(text: str) -> Table:
    """Read one text per line; the last line end starts no new line."""
    table = TextLines(lines_of(text))
    return table.frame(list(table.rows())), {}


def _read_parquet(raw: bytes) -> pl.DataFrame:
    """Read parquet with polars."""
    try:
        with _quiet():
            return pl.read_parquet(io.BytesIO(raw))
    except (Exception, pl.exceptions.PanicException) as error:
        raise DataError(f"not valid parquet ({first_line(error)}); write it again.") from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep a library's own account of its panic off the terminal; the error that follows says enough."""
    try:
        kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    except OSError:  # no standard error
        yield
        return
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def first_line(error: BaseException) -> str:
    """Return the first line of another library's message."""
    return str(error).partition("\n")[0]


_TEXT_READERS: dict[str, Callable[[str], Table]] = {
    "csv": read_delimited,
    "tsv": functools.partial(read_delimited, separator="\t"),
    "json": _read_json,
    "jsonl": _read_jsonl,
    "txt": _read_txt,
}
