"""Odd files in every format, written and read by others too: what they see is what Shoal sees, cell for cell."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import json
import math
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openpyxl
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from campaign.table import Attack
from shoal.corpus import Corpus, read_table, write_table
from shoal.errors import ShoalError

Rows = list[list[Any]]
PIECES = (
    *("parcel", "late", "  ", " ", ",", ";", "\t", '"', '""', "'", "=1+1", "+49", "-5", "@x", "NULL", "nan", "007"),
    *("é", "ß", "漢字", "🎉", "\U0001f469\u200d\U0001f467", "\u202e", "\u200b", "\ufeff", "\u2028", "\x85", "\x0b"),
    *("\x1b[31m", "\x7f", "\ufb00", "İ", "\U0001d54f", "1e5", "<b>", "&amp;", "{}", "[1]", "\\n", "\\", "/", "#"),
    *("%s", "{0}", "true", "None", "2024-05-03", "x" * 3000),
)
LINES = ("\n", "\r", "\r\n")
NAMES = ("text", "id", "größe", "a b", "x.y", "2024", "=sum", "Text", "long name " * 20 + "end", "日本")


class OddFiles:
    """Tables with odd cells, in odd forms."""

    def __init__(self, folder: Path, seed: int = 0) -> None:
        self.folder, self.rng = folder, random.Random(seed)

    def attacks(self, count: int) -> Iterator[Attack]:
        """Try ``count`` files: every kind in turn."""
        for number in range(count):
            kind = KINDS[number % len(KINDS)]
            yield self._attack(number, kind)

    def _attack(self, number: int, kind: Callable[[OddFiles, Path], str]) -> Attack:
        for file in self.folder.glob("file*"):
            file.unlink()
        what = f"{number}: {kind.__name__.strip('_').replace('_', ' ')}"
        try:
            failure = kind(self, self.folder / "file")
        except ShoalError as error:
            failure = f"refused: {error}"
        except BaseException as error:
            failure = f"{type(error).__name__}: {error}"
        return Attack("odd files", what, failure[:600], tuple(self.folder.glob("file*")))

    def text(self, *, lines: bool = True) -> str:
        """Return an odd text."""
        pieces = (*PIECES, *LINES) if lines else PIECES
        return "".join(self.rng.choice(pieces) + self.rng.choice(("", " ")) for _ in range(self.rng.randint(0, 6)))

    def names(self, least: int = 2) -> list[str]:
        """Return names of columns."""
        return self.rng.sample(NAMES, self.rng.randint(least, 5))

    def table(self, make: Callable[[], Any], least: int = 2) -> tuple[list[str], Rows]:
        """Return names and rows, at least one of them with something in it."""
        names = self.names(least)
        rows = [[make() for _ in names] for _ in range(self.rng.randint(1, 30))]
        rows[0][0] = "something"
        return names, rows

    def value(self) -> Any:
        """Return a value that JSON has."""
        whole = self.rng.choice((0, -1, 7, 2**53 + 1, 2**63, 10**25))
        broken = self.rng.choice((0.1, 1e-10, 71.38147764615141, -1e300, 5e-324))
        nested = self.rng.choice(([], {}, [1, "a"], {"a": [None, {"b": "é"}]}))
        return self.rng.choice((None, True, False, whole, broken, nested, self.text(), self.text()))

    def whole_kind(self) -> type[pl.DataType]:
        """Return a kind of whole number."""
        return self.rng.choice((pl.Int8, pl.Int16, pl.Int32, pl.Int64))

    def packed(self, raw: bytes, file: Path) -> Path:
        """Write bytes, perhaps gzipped."""
        if self.rng.random() < 0.2:
            file = file.with_name(file.name + ".gz")
            raw = gzip.compress(raw)
        file.write_bytes(raw)
        return file


def _differs(expected: Rows, names: list[str], found: pl.DataFrame, same: Callable[[Any, Any], bool]) -> str:
    """Say where a table is not what it should be."""
    if [name.strip() for name in names] != found.columns:
        return f"the columns {found.columns} should be {names}"
    if len(expected) != len(found):
        return f"{len(found)} rows should be {len(expected)}"
    for number, (right, wrong) in enumerate(zip(expected, found.rows(), strict=True)):
        for name, should, cell in zip(names, right, wrong, strict=True):
            if not same(should, cell):
                return f"row {number}, column {name!r}: {cell!r} should be {should!r}"
    return ""


def _same_text(should: Any, cell: Any) -> bool:
    return cell == (should or None)


def _same_value(should: Any, cell: Any) -> bool:
    """Compare a value with a cell, which may be its JSON text."""
    if should is None or isinstance(should, str):
        return bool(cell == should)
    if isinstance(cell, str):
        return bool(json.loads(cell) == should)
    if isinstance(should, bool) or isinstance(cell, bool):
        return should is cell
    return bool(cell == should)


def _a_csv(self: OddFiles, file: Path) -> str:
    separator = self.rng.choice(",;")
    names, rows = self.table(self.text)
    names = [name.replace(",", "").replace(";", "") for name in names]
    out = io.StringIO()
    # QUOTE_ALL: the writer does not quote a line end that is not its own
    csv.writer(out, delimiter=separator, lineterminator=self.rng.choice(LINES), quoting=csv.QUOTE_ALL).writerows(
        [names, *rows]
    )
    encoding = self.rng.choice(("utf-8", "utf-8-sig", "utf-16", "utf-32"))
    path = self.packed(out.getvalue().encode(encoding), file.with_suffix(".csv"))
    return _differs(rows, names, read_table(path)[0], _same_text)


def _csv_without_quotes(self: OddFiles, file: Path) -> str:
    """Lines that end in different ways."""
    names, rows = self.table(lambda: re.sub(r'[\r\n",;]', "", self.text(lines=False)) or "x")
    text = "".join(",".join(row) + self.rng.choice(LINES) for row in [names, *rows])
    path = self.packed(text.encode(), file.with_suffix(".csv"))
    return _differs(rows, names, read_table(path)[0], _same_text)


def _a_tsv(self: OddFiles, file: Path) -> str:
    names, rows = self.table(lambda: self.text(lines=False).replace("\t", " "))
    text = "".join("\t".join(row) + self.rng.choice(LINES) for row in [names, *rows])
    path = self.packed(text.encode(), file.with_suffix(".tsv"))
    if any(cell.startswith('"') for row in rows for cell in row):
        expected = len(rows)
        return "" if len(read_table(path)[0]) == expected else f"{len(read_table(path)[0])} rows should be {expected}"
    return _differs(rows, names, read_table(path)[0], _same_text)


def _a_txt(self: OddFiles, file: Path) -> str:
    lines = ["something", *(self.text(lines=False) or "x" for _ in range(self.rng.randint(1, 30)))]
    raw = "".join(line + self.rng.choice(LINES) for line in lines).encode(
        self.rng.choice(("utf-8", "utf-16", "utf-32"))
    )
    path = self.packed(raw, file.with_suffix(".txt"))
    return _differs([[line] for line in lines], ["text"], read_table(path)[0], lambda right, cell: right == cell)


def _json_lines(self: OddFiles, file: Path) -> str:
    names, rows = self.table(self.value)
    ascii_only = self.rng.random() < 0.5
    lines = [json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=ascii_only) for row in rows]
    path = self.packed("".join(line + self.rng.choice(LINES) for line in lines).encode(), file.with_suffix(".jsonl"))
    return _differs(rows, names, read_table(path)[0], _same_value)


def _json_of_columns(self: OddFiles, file: Path) -> str:
    """Columns as lists, or as objects whose keys are in another order in each."""
    names, rows = self.table(self.value)
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    content: Any = columns
    if self.rng.random() < 0.5:
        content = {}
        for name, cells in columns.items():
            keyed = [(str(number), cell) for number, cell in enumerate(cells)]
            self.rng.shuffle(keyed)
            content[name] = dict(keyed)
    path = self.packed(json.dumps(content).encode(), file.with_suffix(".json"))
    return _differs(rows, names, read_table(path)[0], _same_value)


def _json_records(self: OddFiles, file: Path) -> str:
    names, rows = self.table(self.value)
    records = [dict(zip(names, row, strict=True)) for row in rows]
    path = self.packed(json.dumps(records, indent=self.rng.choice((None, 2))).encode(), file.with_suffix(".json"))
    return _differs(rows, names, read_table(path)[0], _same_value)


def _a_workbook(self: OddFiles, file: Path) -> str:
    """Written by openpyxl; compared with what was written."""
    names, rows = self.table(
        lambda: self.rng.choice((self.value(), dt.datetime(2024, 5, 3, 10, 30), dt.date(1999, 12, 31)))
    )
    book = openpyxl.Workbook()
    for number, row in enumerate([names, *rows], start=1):
        for place, cell in enumerate(row, start=1):
            plain = json.dumps(cell) if isinstance(cell, list | dict) else cell
            if isinstance(plain, int) and not isinstance(plain, bool) and abs(plain) > 2**53:
                plain = str(plain)
            if isinstance(plain, str):
                plain = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\r\ufffe\uffff]|_x[0-9A-Fa-f]{4}_", "", plain)
            if number > 1:
                row[place - 1] = plain
            target = book.active.cell(number, place)
            target.value = plain
            if isinstance(plain, str):
                target.data_type = "s"  # also what begins with =
    book.save(path := file.with_suffix(".xlsx"))
    while rows and not any(cell not in (None, "") for cell in rows[-1]):
        rows.pop()
    return _differs(rows, names, read_table(path)[0], _same_cell)


def _same_cell(should: Any, cell: Any) -> bool:
    """Compare a value with the string that a spreadsheet's cell becomes."""
    if should in (None, "") and not isinstance(should, bool | int | float):
        return cell is None
    if isinstance(should, bool):
        return bool(cell == str(should).lower())
    if isinstance(should, int | float):
        return math.isclose(float(cell), should, rel_tol=1e-15)  # openpyxl itself writes sixteen digits
    if isinstance(should, dt.date):
        day = should if isinstance(should, dt.datetime) else dt.datetime.combine(should, dt.time())
        return bool(cell == day.isoformat(" "))
    return bool(cell == should)


def _a_parquet(self: OddFiles, file: Path) -> str:
    names, rows = self.table(self.text)
    columns: dict[str, Any] = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    columns["number"] = [self.rng.choice((None, 2**63 - 1, -1)) for _ in rows]
    columns["list"] = [self.rng.choice((None, [], ["a", None])) for _ in rows]
    table = pa.table(columns)
    pq.write_table(table, path := file.with_suffix(".parquet"), compression=self.rng.choice(("snappy", "zstd", "none")))
    expected = [list(row.values()) for row in pq.read_table(path).to_pylist()]
    return _differs(expected, list(columns), read_table(path)[0], lambda right, cell: right == cell)


def _damaged(self: OddFiles, file: Path) -> str:
    """A file with some bytes changed, cut off or repeated is read or refused, and nothing else."""
    kind = self.rng.choice((_a_csv, _a_tsv, _json_lines, _json_records, _a_workbook, _a_parquet, _a_txt))
    kind(self, file)
    (path,) = self.folder.glob("file*")
    raw = bytearray(path.read_bytes())
    for _ in range(self.rng.randint(1, 10)):
        raw[self.rng.randrange(len(raw))] = self.rng.randrange(256)
    start = self.rng.randrange(len(raw))
    raw = self.rng.choice((raw, raw[:start], raw + raw[start:], raw[start:]))
    path.write_bytes(raw)
    try:
        frame, _ = read_table(path)
        Corpus.read(path, text=frame.columns[0])
    except ShoalError as error:
        return "" if len(str(error)) < 1000 else "an endless message"
    return ""


def _written(self: OddFiles, file: Path) -> str:
    """What Shoal writes, others read as it was, and so does Shoal."""
    n = self.rng.randint(1, 20)
    frame = pl.DataFrame(
        {
            "row": range(n + 1),
            "text": ["something", *(self.text() for _ in range(n))],
            "whole": pl.Series([self.rng.choice((None, 0, -5, 127)) for _ in range(n + 1)], dtype=self.whole_kind()),
            "broken": [self.rng.choice((None, 0.1 + 0.2, 1e-10, -1e300)) for _ in range(n + 1)],
            "flag": [self.rng.choice((None, True, False)) for _ in range(n + 1)],
        }
    )
    suffix = self.rng.choice((".csv", ".tsv", ".jsonl", ".json", ".parquet", ".xlsx", ".csv.gz"))
    if suffix == ".xlsx":
        frame = frame.with_columns(pl.col("text").str.replace_all(r"[\x00-\x08\x0b\x0c\x0e-\x1f\r]", ""))
    if suffix == ".tsv":
        frame = frame.with_columns(pl.col("text").str.replace_all(r"[\t\r\n\"]", " "))
    write_table(frame, path := file.with_suffix(suffix))
    expected = [list(row) for row in frame.rows()]
    found = read_table(path)[0]
    return _differs(expected, frame.columns, found, _same_written) or _differs(
        expected, frame.columns, _by_others(path), _same_written
    )


def _by_others(path: Path) -> pl.DataFrame:
    """Read a table with the readers of others."""
    if path.suffix == ".parquet":
        return pl.DataFrame(pq.read_table(path).to_pylist(), infer_schema_length=None)
    if path.suffix == ".xlsx":
        names, *rows = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
    elif path.suffix in (".json", ".jsonl"):
        content = path.read_text(encoding="utf-8")
        records = (
            json.loads(content)
            if path.suffix == ".json"
            else [json.loads(line) for line in content.split("\n") if line]
        )
        names, rows = list(records[0]), [list(record.values()) for record in records]
    else:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        separator = "\t" if path.suffix == ".tsv" else ","
        names, *rows = csv.reader(io.StringIO(raw.decode(), newline=""), delimiter=separator)
    return pl.DataFrame(rows, schema=[(name, pl.Object) for name in names], orient="row")


def _same_written(should: Any, cell: Any) -> bool:
    if should in (None, "") and not isinstance(should, bool | int | float):
        return cell in (None, "")
    if isinstance(should, bool):
        return str(cell).lower() == str(should).lower()
    if isinstance(should, float):
        return float(cell) == should
    if isinstance(should, int):
        return int(cell) == should
    return bool(cell == should)


KINDS = (
    *(_a_csv, _csv_without_quotes, _a_tsv, _a_txt, _json_lines, _json_of_columns, _json_records, _a_workbook),
    *(_a_parquet, _damaged, _damaged, _written, _written),
)
