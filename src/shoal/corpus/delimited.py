"""Delimited text: lines, csv and tsv, with broken quotes and rows of different lengths."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import polars as pl

from shoal.corpus.columns import TEXT_NAMES, unique_names
from shoal.errors import DataError

Table = tuple[pl.DataFrame, dict[str, Any]]

# Fields of RFC 4180 with tabs, each with its end; the second is a line on which a quoted field begins and goes on.
# Possessive, hence linear.
_TSV_FIELDS = r"""(?:(?:"(?:[^"]|"")*+"|[^"\t\r\n]*+)(?:[\t\r\n]|\Z))*+"""
_TIDY_LINE = re.compile(_TSV_FIELDS)
_OPEN_LINE = re.compile(_TSV_FIELDS + r"""\"(?:[^"]|"")*+""")
_LONGEST_FIELD = 2**31 - 1


def lines_of(text: str) -> list[str]:
    """Split at line feeds, at carriage returns and at both together; each line keeps its end."""
    return list(io.StringIO(text, newline=""))


def looks_like_csv(text: str) -> bool:
    """Tell a csv from lines of prose, by the rule of `read_table`."""
    first = re.split(r"[\r\n]+", text.strip(), maxsplit=1)[0]
    separator = _separator(first)
    fields = [field.strip(' "\r').lower() for field in first.split(separator)]
    if {*TEXT_NAMES, "id", "label"} & {*fields} and all(len(field.split()) <= 3 for field in fields):
        return True
    records = itertools.islice(_records(lines_of(text), separator, csv.QUOTE_MINIMAL, Counter()), 101)
    widths = {len(cells) for _, cells in records if cells}
    return len(widths) == 1 and widths != {1}


def read_delimited(text: str, separator: str | None = None) -> Table:
    """Read a tsv if the separator is a tab, otherwise a csv, whose header tells the separator."""
    table = Delimited.of(lines_of(text), separator)
    counts: Counter[str] = Counter()
    frame = table.frame(list(table.rows(counts)))
    notes = {"quoting": "off"} if table.quoting == csv.QUOTE_NONE or counts["stray_quotes"] else {}
    return frame, notes | {name: count for name, count in counts.items() if count}


@dataclass(frozen=True)
class TextLines:
    """Lines with a text each, blank ones too: the column ``text``. The last line end starts no new line."""

    lines: Iterable[str]

    @cached_property
    def n_rows(self) -> int:
        """How many rows there are."""
        return sum(1 for _ in self.lines)

    def rows(self) -> Iterator[str]:
        """Yield the text of each row."""
        return (line.removesuffix("\n").removesuffix("\r") for line in self.lines)

    def frame(self, rows: Sequence[str]) -> pl.DataFrame:
        """Make a table of rows."""
        return pl.DataFrame({"text": rows}, schema={"text": pl.String})


@dataclass(frozen=True)
class Delimited:
    """A csv or a tsv: how lines are rows.

    Parameters
    ----------
    lines : iterable of str
        With their ends; they may be gone through more than once.
    separator : str
        Between two fields.
    quoting : int
        Whether quotes mean anything, as `csv` says it.
    names : list of str
        The columns.
    """

    lines: Iterable[str]
    separator: str
    quoting: Literal[0, 3]
    names: list[str]

    @classmethod
    def of(cls, lines: Iterable[str], separator: str | None = None) -> Delimited:
        """Find out how lines are rows: by the first, and of a tsv by the quotes in all of them."""
        off = separator == "\t" and not _has_tidy_quotes(lines)
        separator = separator or _separator(next(line.lstrip() for line in lines if line.strip()))
        quoting: Literal[0, 3] = csv.QUOTE_NONE if off else csv.QUOTE_MINIMAL
        header = next(cells for _, cells in _records(lines, separator, quoting, Counter()) if cells)
        return cls(lines, separator, quoting, unique_names(name.strip() for name in header))

    @cached_property
    def n_rows(self) -> int:
        """How many rows there are."""
        return sum(1 for _ in self.rows())

    def rows(self, counts: Counter[str] | None = None) -> Iterator[list[str]]:
        """Yield the cells of each row below the header, as many as there are columns; count what was repaired."""
        counts = Counter() if counts is None else counts
        records = _records(self.lines, self.separator, self.quoting, counts)
        body = itertools.islice(itertools.dropwhile(lambda record: not record[1], records), 1, None)
        return _rectangle(body, len(self.names), self.separator, counts)

    def frame(self, rows: Sequence[list[str]]) -> pl.DataFrame:
        """Make a table of rows; empty cells are missing."""
        columns = zip(*rows, strict=True) if rows else [()] * len(self.names)
        named = zip(self.names, columns, strict=True)
        frame = pl.DataFrame([pl.Series(name, cells, dtype=pl.String) for name, cells in named])
        return frame.with_columns(pl.when(pl.all() != "").then(pl.all()))


def _separator(header: str) -> str:
    """Return the separator of a csv, judged by its header."""
    return next((separator for separator in ",;\t" if separator in header), ",")


def _records(
    lines: Iterable[str], separator: str, quoting: Literal[0, 3], counts: Counter[str]
) -> Iterator[tuple[int, list[str]]]:
    """Parse strictly; a record that breaks the grammar is replaced by its first line, split literally, and counted.

    Each record has the number of its first line. Parsing resumes at the next line, which keeps the quoted fields of
    all other records; turning quoting off for the file would not. Only the lines of the record that is being parsed
    are held: all that follow, if a quote is never closed.
    """
    rest = iter(lines)
    again: deque[str] = deque()  # lines after one that was taken literally
    taken: list[str] = []  # lines of the record that is being parsed

    def take() -> Iterator[str]:
        for line in itertools.chain(iter(lambda: again.popleft() if again else None, None), rest):
            taken.append(line)
            yield line

    number = 1
    while True:
        reader = csv.reader(take(), delimiter=separator, strict=True, quoting=quoting)
        try:
            while (cells := _next_record(reader)) is not None:
                yield number, cells
                number += len(taken)
                taken.clear()
            return
        except csv.Error:
            first, *others = taken
            counts["stray_quotes"] += '"' in first
            yield number, first.rstrip("\r\n").split(separator)
            number += 1
            again.extendleft(reversed(others))
            taken.clear()


def _next_record(reader: Iterator[list[str]]) -> list[str] | None:
    """Return the next record, however long its fields are; None at the end."""
    limit = csv.field_size_limit(_LONGEST_FIELD)
    try:
        return next(reader, None)
    finally:
        csv.field_size_limit(limit)


def _has_tidy_quotes(lines: Iterable[str]) -> bool:
    """Tell whether a tsv follows RFC 4180 throughout.

    If every line has the same number of tabs, the lines are the rows, and a quoted field across several lines is
    just two stray quotes.
    """
    tabs: set[int] = set()
    inside = across = False  # a quoted field; whether any had several lines
    for line in lines:
        if line.strip():
            tabs.add(line.count("\t"))
        if inside:
            line = '"' + line
        if '"' in line and not _TIDY_LINE.fullmatch(line):
            if not _OPEN_LINE.fullmatch(line):
                return False
            inside = across = True
        else:
            inside = False
    return not inside and not (across and len(tabs) == 1 and tabs != {0})


def _rectangle(
    records: Iterable[tuple[int, list[str]]], width: int, separator: str, counts: Counter[str]
) -> Iterator[list[str]]:
    """Give every row as many cells as the header, without losing text; count the changes."""
    for line, cells in records:
        if len(cells) > width and not any(cells[width:]):
            cells = cells[:width]
        elif len(cells) > width > 1:
            raise DataError(
                f"line {line} has {len(cells)} fields but the header has {width} columns; "
                f"put double quotes around fields that contain {separator!r}."
            )
        elif len(cells) > width:
            cells = [separator.join(cells)]
            counts["joined_rows"] += 1
        elif not cells and width > 1:
            counts["blank_lines"] += 1
            continue
        elif len(cells) < width:
            counts["short_rows"] += width > 1
            cells = cells + [""] * (width - len(cells))
        yield cells
