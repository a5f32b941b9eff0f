"""Tables that are read block by block: parquet by whoever works on a block, large text files here, the rest at once."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from shoal.corpus.addresses import located, scheme_of
from shoal.corpus.readers import format_of
from shoal.corpus.sources import read_source
from shoal.corpus.sources.data_sets import Part, open_parts
from shoal.corpus.sources.local_files import files_of, is_data_set, is_parquet, open_parquet
from shoal.corpus.text_files import LineTable, open_lines
from shoal.errors import DataError

# Text files up to this size, unpacked, are read whole, and once; larger ones are gone through several times.
WHOLE_BYTES = 10_000_000


@dataclass(frozen=True)
class TableBlock:
    """Some rows of a table, perhaps not yet read."""

    part: Part
    begin: int
    n_rows: int

    def read(self) -> pl.DataFrame:
        """Read its rows."""
        return self.part.read()


class BlockedTable(ABC):
    """A table, wherever its rows are."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of rows."""

    @abstractmethod
    def blocks(self, n_rows: int) -> Iterator[TableBlock]:
        """Yield blocks of at most so many rows, in order."""

    def head(self, n_rows: int) -> pl.DataFrame:
        """Return the first rows; all of them if they are in memory anyway."""
        return next(self.blocks(n_rows)).read()


@dataclass(frozen=True)
class MemoryTable(BlockedTable):
    """A table in memory.

    Examples
    --------
    >>> table = MemoryTable(pl.DataFrame({"text": ["a", "b", "c"]}))
    >>> [block.read()["text"].to_list() for block in table.blocks(2)]
    [['a', 'b'], ['c']]
    """

    frame: pl.DataFrame
    name: str = "the table"

    def __len__(self) -> int:
        return len(self.frame)

    def blocks(self, n_rows: int) -> Iterator[TableBlock]:
        """Yield blocks with only their own rows: they may go to another process."""
        for begin in range(0, len(self), n_rows):
            rows = self.frame.slice(begin, n_rows)
            yield TableBlock(Part(self.name, rows.lazy()), begin, len(rows))

    def head(self, n_rows: int) -> pl.DataFrame:
        """Return all rows."""
        return self.frame


@dataclass(frozen=True)
class ParquetTable(BlockedTable):
    """Files of parquet with the same columns; the rows stay there until a block is read."""

    parts: list[Part]

    @cached_property
    def _n_rows(self) -> list[int]:
        return [int(part.frame.select(pl.len()).collect().item()) for part in self.parts]

    def __len__(self) -> int:
        return sum(self._n_rows)

    def blocks(self, n_rows: int) -> Iterator[TableBlock]:
        """Yield blocks that whoever works on them reads; a block is within one file."""
        begin = 0
        for part, length in zip(self.parts, self._n_rows, strict=True):
            for first in range(0, length, n_rows):
                size = min(n_rows, length - first)
                yield TableBlock(Part(part.name, part.frame.slice(first, size)), begin, size)
                begin += size


@dataclass(frozen=True)
class TextTable(BlockedTable):
    """A csv, tsv, jsonl or txt file that is read here from its beginning, and of which one block is held at a time."""

    name: str
    table: LineTable
    n_rows: int

    def __len__(self) -> int:
        return self.n_rows

    def blocks(self, n_rows: int) -> Iterator[TableBlock]:
        """Yield blocks with their rows."""
        rows = self.table.rows()
        for begin in range(0, len(self), n_rows):
            with _naming(self.name):
                frame = self.table.frame(list(itertools.islice(rows, n_rows)))
            yield TableBlock(Part(self.name, frame.lazy()), begin, len(frame))


def open_source(
    source: str,
    encoding: str | None = None,
    format: str | None = None,
    sheet: str | None = None,
    query: str | None = None,
) -> BlockedTable:
    """Open a table as `read_source` reads it; in blocks where it is parquet, or a large text file, on this machine.

    Raises
    ------
    DataError
        If it cannot be read as a table with rows.
    """
    table: BlockedTable | None = None
    if scheme_of(source) in (None, "file") and query is None and sheet is None and source != "-":
        table = _open_local(located(source), encoding, format)
    if table is None:
        frame, _ = read_source(source, encoding=encoding, format=format, sheet=sheet, query=query)
        return MemoryTable(frame, source)
    if not len(table):
        raise DataError(f"{source} has no rows; pass at least one row of data below the column names.")
    return table


def _open_local(path: str, encoding: str | None, format: str | None) -> BlockedTable | None:
    """Open files of this machine that can be read in blocks; None for all that are to be read whole."""
    if is_data_set(path, format):
        names = files_of(path, format)
        return (
            ParquetTable(open_parts(names, open_parquet)) if all(is_parquet(name, format) for name in names) else None
        )
    if not Path(path).is_file():
        return None
    if is_parquet(path, format):
        return ParquetTable([open_parquet(path)])
    with _naming(path):
        lines = open_lines(Path(path), format_of(path, format), encoding, WHOLE_BYTES)
        return None if lines is None else TextTable(path, lines, lines.n_rows)


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Put the name of the file before an error."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{name}: {error}") from error
