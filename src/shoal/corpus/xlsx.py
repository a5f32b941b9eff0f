"""A sheet of an xlsx file, every cell as a string with all its digits, in memory for the filled cells only."""

from __future__ import annotations

import io
import math
import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any
from xml.parsers import expat

import polars as pl

from shoal.corpus.columns import unique_names, without_surrogates
from shoal.corpus.unpacking import read_part
from shoal.errors import DataError, did_you_mean

# A larger sheet may not be almost empty: one stray cell in the last corner would ask for half a terabyte.
_CELLS_UNCHECKED = 10_000_000
_FILLED_SHARE = 0.05
_DATE_FORMATS = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
# What remains of a number format without colours, conditions, escaped characters and quoted text.
_NOT_FORMAT = re.compile(r'"[^"]*"|\[(?!h+\]|m+\]|s+\])[^\]]*\]|\\.|_.|\*.', re.IGNORECASE)
_ELAPSED = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_REFERENCE = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})")
_LAST_ROW, _LAST_COLUMN = 1_048_576, 16_384

Cells = dict[tuple[int, int], str]


def read_xlsx(raw: bytes, sheet: str | None = None) -> pl.DataFrame:
    """Read a sheet, without the empty rows at its end.

    Numbers keep the digits that the file has; dates and times are in ISO format.

    Parameters
    ----------
    raw : bytes
        The file.
    sheet : str, optional
        The name of the sheet, or its number from 1; by default the only one with data.

    Raises
    ------
    DataError
        If it is not an xlsx file, there is no such sheet, several have data and none is named, or one cell far away
        makes the sheet much larger than its content.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as book:
            return _frame(_Book(book).cells(sheet))
    except DataError:
        raise
    except (zipfile.BadZipFile, expat.ExpatError, zlib.error, OSError, EOFError, LookupError, ValueError) as error:
        raise DataError(f"not valid xlsx ({error}); save it again as xlsx or csv.") from error
    except (NotImplementedError, RuntimeError) as error:  # a compression or an encryption that zipfile has not
        raise DataError(f"xlsx that cannot be unpacked ({error}); save it again as xlsx or csv.") from error


def _frame(cells: Cells) -> pl.DataFrame:
    """Make a table of the filled cells; the first row that has any is the header."""
    if not cells:
        return pl.DataFrame()
    first, last = min(row for row, _ in cells), max(row for row, _ in cells)
    left = min(column for _, column in cells)
    width = max(column for _, column in cells) - left + 1
    span = (last - first + 1) * width
    if span > _CELLS_UNCHECKED and len(cells) < _FILLED_SHARE * span:
        raise DataError(
            f"the sheet spans {last + 1} rows and {width} columns but only {len(cells)} cells are filled; delete the "
            "stray cells (Ctrl+End shows the last one) or save it as csv."
        )
    columns: list[list[str | None]] = [[None] * (last - first) for _ in range(width)]
    for (row, column), cell in cells.items():
        if row > first:
            columns[column - left][row - first - 1] = cell
    names = unique_names(cells.get((first, left + column), "").strip() for column in range(width))
    return pl.DataFrame([pl.Series(name, column, dtype=pl.String) for name, column in zip(names, columns, strict=True)])


def _n_rows(cells: Cells) -> int:
    """Return the number of rows below the header."""
    return len({row for row, _ in cells}) - 1


def _named(sheet: str, names: list[str]) -> str:
    """Return the name of the sheet that is meant: by its name, or else by its number from 1."""
    if sheet in names:
        return sheet
    if sheet.isdecimal() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    listed = ", ".join(map(repr, names))
    raise DataError(f"there is no sheet {sheet!r}; the sheets are {listed}.{did_you_mean(sheet, names)}")


class _Book:
    """A workbook: where its sheets are, and what their cells refer to."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._strings: list[str] = []
        self._styles: list[str | None] = []
        self._epoch = datetime(1899, 12, 30)

    def cells(self, sheet: str | None) -> Cells:
        """Return the filled cells of the sheet that is named, or of the only one with data."""
        paths = self._sheets()
        self._read_strings()
        self._read_styles()
        if sheet is not None:
            return self._read(paths[_named(sheet, list(paths))])
        filled = {name: cells for name, path in paths.items() if (cells := self._read(path))}
        if len(filled) > 1:
            listed = ", ".join(f"{name!r} ({_n_rows(cells)} rows)" for name, cells in filled.items())
            raise DataError(f"{len(filled)} sheets have data: {listed}; name one with --sheet NAME (sheet='NAME').")
        return next(iter(filled.values()), {})

    def _read(self, path: str) -> Cells:
        """Return the filled cells of a sheet."""
        return _Sheet(self._strings, self._value).read(self._chunks(path))

    def _sheets(self) -> dict[str, str]:
        """Return the path of each sheet by its name; a sheet that is only a chart has no cells and is left out."""
        sheets: dict[str, str] = {}

        def start(name: str, attributes: dict[str, str]) -> None:
            if name == "workbookPr" and attributes.get("date1904") in ("1", "true"):
                self._epoch = datetime(1904, 1, 1)
            if name == "sheet":
                named = attributes.get("name", f"sheet {len(sheets) + 1}")
                sheets[named] = next(value for key, value in attributes.items() if key.rpartition(":")[2] == "id")

        _parse(self._chunks("xl/workbook.xml"), start)
        targets: dict[str, str] = {}

        def relation(name: str, attributes: dict[str, str]) -> None:
            if name == "Relationship":
                targets[attributes["Id"]] = attributes["Target"]

        _parse(self._chunks("xl/_rels/workbook.xml.rels"), relation)
        paths = {
            name: posixpath.normpath(posixpath.join("/xl", targets[key])).lstrip("/") for name, key in sheets.items()
        }
        tables = {name: path for name, path in paths.items() if "chartsheets/" not in path}
        if not tables:
            raise DataError("a workbook without a sheet; pass one with texts.")
        return tables

    def _read_strings(self) -> None:
        """Read the strings that cells share; phonetic hints are not part of them."""
        if "xl/sharedStrings.xml" not in self._archive.namelist():
            return
        parts: list[str] = []
        where = {"t": False, "rPh": False}

        def start(name: str, attributes: dict[str, str]) -> None:
            if name in where:
                where[name] = True
            elif name == "si":
                parts.clear()

        def end(name: str) -> None:
            if name in where:
                where[name] = False
            elif name == "si":
                self._strings.append(_unescaped("".join(parts)))

        def text(content: str) -> None:
            if where["t"] and not where["rPh"]:
                parts.append(content)

        _parse(self._chunks("xl/sharedStrings.xml"), start, end, text)

    def _read_styles(self) -> None:
        """Read which styles show a number as a date, or as a time that has passed."""
        if "xl/styles.xml" not in self._archive.namelist():
            return
        formats: dict[int, str] = {}
        of_cells = False

        def start(name: str, attributes: dict[str, str]) -> None:
            nonlocal of_cells
            if name == "numFmt":
                formats[int(attributes["numFmtId"])] = attributes.get("formatCode", "")
            elif name == "cellXfs":
                of_cells = True
            elif name == "xf" and of_cells:
                number = int(attributes.get("numFmtId", 0))
                self._styles.append(_kind_of_format(number, formats.get(number)))

        def end(name: str) -> None:
            nonlocal of_cells
            of_cells = of_cells and name != "cellXfs"

        _parse(self._chunks("xl/styles.xml"), start, end)

    def _value(self, number: str, style: int) -> str:
        """Return a number as a string: as a date if its style says so, otherwise with every digit it has."""
        kind = self._styles[style] if 0 <= style < len(self._styles) else None
        if kind is not None:
            try:
                return _date(float(number), self._epoch, kind)
            except (ValueError, OverflowError):
                pass  # not a date that a calendar has
        return _digits(number)

    def _chunks(self, name: str) -> Iterator[bytes]:
        """Read one part of the workbook."""
        return read_part(self._archive, name)


class _Sheet:
    """The cells of a sheet, as the parser meets them."""

    def __init__(self, strings: list[str], value: Callable[[str, int], str]) -> None:
        self._strings, self._value = strings, value
        self._cells: Cells = {}
        self._row = self._column = -1
        self._kind, self._style = "n", 0
        self._parts: list[str] = []
        self._formula: list[str] = []
        self._depth: dict[str, int] = {"c": 0, "v": 0, "t": 0, "rPh": 0, "f": 0}

    def read(self, chunks: Iterator[bytes]) -> Cells:
        """Read the sheet."""
        _parse(chunks, self._start, self._end, self._text)
        return self._cells

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name in self._depth:
            self._depth[name] += 1
        if name == "row":
            self._row = _whole(attributes.get("r"), self._row + 2) - 1
            self._column = -1
        elif name == "c":
            self._locate(attributes.get("r"))
            self._kind = attributes.get("t", "n")
            self._style = _whole(attributes.get("s"), 0)
            self._parts.clear()
            self._formula.clear()

    def _locate(self, reference: str | None) -> None:
        """Find the place of a cell; without a reference it is the next one."""
        self._column += 1
        if reference is not None:
            found = _REFERENCE.fullmatch(reference)
            if found is None:
                raise DataError(f"a cell is at {reference[:20]!r}, which is no place in a sheet; save the file again.")
            letters, row = found.groups()
            self._row = int(row) - 1
            self._column = 0
            for letter in letters:
                self._column = 26 * self._column + ord(letter) - 64
            self._column -= 1
        if not (0 <= self._row < _LAST_ROW and self._column < _LAST_COLUMN):
            raise DataError("a cell is beyond the last row or column that xlsx has; save the file again.")

    def _text(self, content: str) -> None:
        if self._depth["c"] and (self._depth["v"] or self._depth["t"]) and not self._depth["rPh"]:
            self._parts.append(content)
        elif self._depth["f"]:
            self._formula.append(content)

    def _end(self, name: str) -> None:
        if name in self._depth:
            self._depth[name] -= 1
        if name == "c":
            # a formula that was never computed is better than nothing
            cell = self._cell("".join(self._parts)) if self._parts else "=" + "".join(self._formula)
            if cell not in ("", "="):
                self._cells[self._row, self._column] = cell

    def _cell(self, text: str) -> str:
        """Return a cell as a string."""
        if self._kind == "s":
            if not text.strip().isascii() or not text.strip().isdigit():
                raise ValueError(f"{text[:20]!r} is no number of a string")
            return self._strings[int(text)]
        if self._kind == "b":
            return "true" if text.strip() == "1" else "false"
        if self._kind == "n":
            return self._value(text.strip(), self._style)
        if self._kind == "e":
            return ""  # an error, such as #N/A, is a missing value
        return text.replace("T00:00:00", "") if self._kind == "d" else _unescaped(text)


def _parse(
    chunks: Iterator[bytes],
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None] | None = None,
    text: Callable[[str], None] | None = None,
) -> None:
    """Parse XML; names come without their prefix, and declarations of entities are refused."""
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def refuse(*_: Any) -> None:
        raise DataError("xlsx with declarations that a spreadsheet does not need; it is refused: save it again.")

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = lambda name, attributes: start(name.rpartition(":")[2], attributes)
    if end is not None:
        close = end
        parser.EndElementHandler = lambda name: close(name.rpartition(":")[2])
    parser.CharacterDataHandler = text
    for chunk in chunks:
        parser.Parse(chunk)
    parser.Parse(b"", True)


def _kind_of_format(number: int, code: str | None) -> str | None:
    """Tell whether a number format shows a date or an elapsed time; None for all others."""
    if code is None:
        return "date" if number in _DATE_FORMATS else None
    shown = _NOT_FORMAT.sub("", code.partition(";")[0])
    if _ELAPSED.search(shown):
        return "elapsed"
    return "date" if re.search("[dmyhs]", shown, re.IGNORECASE) and "general" not in shown.lower() else None


def _date(days: float, epoch: datetime, kind: str) -> str:
    """Return the date, the time of day or the elapsed time that a number of days stands for."""
    milliseconds = round(days * 86_400_000)
    precision = "milliseconds" if milliseconds % 1000 else "seconds"
    if kind == "elapsed":
        seconds, rest = divmod(abs(milliseconds), 1000)
        sign = "-" if milliseconds < 0 else ""
        return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}" + (f".{rest:03}" if rest else "")
    if 0 <= days < 1 and epoch.year < 1904:
        return (epoch + timedelta(milliseconds=milliseconds)).time().isoformat(precision)
    if epoch.year < 1904 and days < 60:
        milliseconds += 86_400_000  # the calendar of Excel has a 29 February 1900
    return (epoch + timedelta(milliseconds=milliseconds)).isoformat(" ", precision)


def _digits(number: str) -> str:
    """Return a number as Python writes it, but a whole number with all the digits that the file has."""
    if re.fullmatch(r"-?[0-9]+", number):
        return number
    try:
        value = float(number)
    except ValueError:
        return number
    if not math.isfinite(value):
        return number
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _unescaped(text: str) -> str:
    """Replace ``_x000D_`` and the like, which stand for characters that XML cannot hold."""
    return without_surrogates(_ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)) if "_x" in text else text


def _whole(text: str | None, default: int) -> int:
    """Read a whole number."""
    return default if text is None else int(text)
