"""Delimited text: lines, csv and tsv, with broken quotes and rows of different lengths."""

from __future__ import annotations

import csv
import io
import itertools
import re
from typing import Any, Literal

import polars as pl

from shoal.corpus.columns import TEXT_NAMES, unique_names
from shoal.errors import DataError

Table = tuple[pl.DataFrame, dict[str, Any]]

# RFC 4180 with tabs, from the first to the last character; {} is what a quoted field may not hold.
# Possessive, hence linear.
_TSV_GRAMMAR = r"""(?:(?:"(?:[^"{}]|"")*+"|[^"\t\r\n]*+)(?:[\t\r\n]|\Z))*+"""


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
    records, _ = _records(lines_of(text), separator, csv.QUOTE_MINIMAL)
    widths = {len(cells) for _, cells in records[:101] if cells}
    return len(widths) == 1 and widths != {1}


def read_delimited(text: str, separator: str | None = None) -> Table:
    """Read a tsv if the separator is a tab, otherwise a csv, whose header tells the separator."""
    off = separator == "\t" and '"' in text and not _has_tidy_quotes(text)
    separator = separator or _separator(re.split(r"[\r\n]", text.lstrip(), maxsplit=1)[0])
    records, stray = _records(lines_of(text), separator, csv.QUOTE_NONE if off else csv.QUOTE_MINIMAL)
    (_, header), *body = itertools.dropwhile(lambda record: not record[1], records)
    names = unique_names(name.strip() for name in header)
    rows, counts = _rectangle(body, len(names), separator)
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    frame = pl.DataFrame([pl.Series(name, cells, dtype=pl.String) for name, cells in zip(names, columns, strict=True)])
    counts |= {"stray_quotes": stray}
    notes = {"quoting": "off"} if off or stray else {}
    return frame.with_columns(pl.when(pl.all() != "").then(pl.all())), notes | {k: n for k, n in counts.items() if n}


def _separator(header: str) -> str:
    """Return the separator of a csv, judged by its header."""
    return next((separator for separator in ",;\t" if separator in header), ",")


def _records(lines: list[str], separator: str, quoting: Literal[0, 3]) -> tuple[list[tuple[int, list[str]]], int]:
    """Parse strictly; a record that breaks the grammar is replaced by its first line, split literally, and counted.

    Each record has the number of its first line. Parsing resumes at the next line, which keeps the quoted fields of
    all other records; turning quoting off for the file would not.
    """
    records: list[tuple[int, list[str]]] = []
    stray = done = 0
    limit = csv.field_size_limit(2**31 - 1)
    try:
        while done < len(lines):
            start = done
            rest = map(lines.__getitem__, range(start, len(lines)))
            reader = csv.reader(rest, delimiter=separator, strict=True, quoting=quoting)
            try:
                for cells in reader:
                    records.append((done + 1, cells))
                    done = start + reader.line_num
            except csv.Error:
                stray += '"' in lines[done]
                records.append((done + 1, lines[done].rstrip("\r\n").split(separator)))
                done += 1
    finally:
        csv.field_size_limit(limit)
    return records, stray


def _has_tidy_quotes(text: str) -> bool:
    """Tell whether a tsv follows RFC 4180 throughout.

    If every line has the same number of tabs, the lines are the rows, and a quoted field across several lines is
    just two stray quotes.
    """
    tabs = {line.count("\t") for line in lines_of(text) if line.strip()}
    return re.fullmatch(_TSV_GRAMMAR.format(r"\r\n" if len(tabs) == 1 and tabs != {0} else ""), text) is not None


def _rectangle(
    records: list[tuple[int, list[str]]], width: int, separator: str
) -> tuple[list[list[str]], dict[str, int]]:
    """Give every row as many cells as the header, without losing text; count the changes."""
    rows: list[list[str]] = []
    counts = dict.fromkeys(("short_rows", "joined_rows", "blank_lines"), 0)
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
        rows.append(cells)
    return rows, counts
