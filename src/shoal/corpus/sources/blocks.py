"""Tables that are read block by block: parquet by whoever works on a block, everything else at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from shoal.corpus.addresses import located, scheme_of
from shoal.corpus.sources import read_source
from shoal.corpus.sources.data_sets import Part, open_parts
from shoal.corpus.sources.local_files import files_of, is_data_set, is_parquet, open_parquet
from shoal.errors import DataError


@dataclass(frozen=True)
class TableBlock:
    """Some rows of a table, perhaps not yet read."""

    part: Part
    begin: int
    n_rows: int

    def read(self) -> pl.DataFrame:
        """Read its rows."""
        return self.part.read()


@dataclass(frozen=True)
class BlockedTable:
    """A table in the files that it came in.

    Parameters
    ----------
    parts : list of Part
        Its files, or itself.
    unread : bool
        Whether the rows are still in the files.

    Examples
    --------
    >>> table = BlockedTable.of(pl.DataFrame({"text": ["a", "b", "c"]}))
    >>> [block.read()["text"].to_list() for block in table.blocks(2)]
    [['a', 'b'], ['c']]
    """

    parts: list[Part]
    unread: bool

    @classmethod
    def of(cls, frame: pl.DataFrame, name: str = "the table") -> BlockedTable:
        """Return a table in memory."""
        return cls([Part(name, frame.lazy())], unread=False)

    @cached_property
    def _n_rows(self) -> list[int]:
        return [int(part.frame.select(pl.len()).collect().item()) for part in self.parts]

    def __len__(self) -> int:
        return sum(self._n_rows)

    def head(self, n_rows: int) -> pl.DataFrame:
        """Return the first rows; all of them if they are in memory anyway."""
        if not self.unread:
            return self.parts[0].read()
        return next((block.read() for block in self.blocks(n_rows)), self.parts[0].read())

    def blocks(self, n_rows: int) -> Iterator[TableBlock]:
        """Yield blocks of at most so many rows, in order; a block is within one file."""
        begin = 0
        for part, length in zip(self.parts, self._n_rows, strict=True):
            read = None if self.unread else part.read()
            for first in range(0, length, n_rows):
                size = min(n_rows, length - first)
                # of a table in memory, only these rows: the block may go to another process
                rows = part.frame.slice(first, size) if read is None else read.slice(first, size).lazy()
                yield TableBlock(Part(part.name, rows), begin, size)
                begin += size


def open_source(
    source: str,
    encoding: str | None = None,
    format: str | None = None,
    sheet: str | None = None,
    query: str | None = None,
) -> BlockedTable:
    """Open a table as `read_source` reads it, block by block where it is parquet on this machine.

    Raises
    ------
    DataError
        If it cannot be read as a table with rows.
    """
    if scheme_of(source) in (None, "file") and query is None and source != "-":
        path = located(source)
        together = is_data_set(path, format)
        names = files_of(path, format) if together else [path] if Path(path).is_file() else []
        if names and all(is_parquet(name, format) for name in names):
            table = BlockedTable(open_parts(names, open_parquet) if together else [open_parquet(path)], unread=True)
            if not len(table):
                raise DataError(f"{source} has no rows; pass at least one row of data below the column names.")
            return table
    frame, _ = read_source(source, encoding=encoding, format=format, sheet=sheet, query=query)
    return BlockedTable.of(frame, str(source))
