"""Text files that are too large to be read whole: gone through line by line, as often as needed."""

from __future__ import annotations

import functools
import itertools
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from shoal.corpus.delimited import Delimited, TextLines, lines_of
from shoal.corpus.encodings import Encoding, decoded, encoding_of
from shoal.corpus.json_lines import JsonLines
from shoal.corpus.unpacking import unzip
from shoal.errors import DataError

# Larger ones are not faster, and leave memory in pieces that are of no use to others.
_CHUNK = 1 << 16


class LineTable(Protocol):
    """Lines, and how they are the rows of a table."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""

    def rows(self) -> Iterator[Any]:
        """Yield all rows, from the first."""

    def frame(self, rows: Sequence[Any]) -> pl.DataFrame:
        """Make a table of some of them, with the columns and types that all have."""


_LINE_TABLES: dict[str, Callable[[Iterable[str]], LineTable | None]] = {
    "csv": Delimited.of,
    "tsv": functools.partial(Delimited.of, separator="\t"),
    "jsonl": JsonLines.of,
    "txt": TextLines,
}


@dataclass(frozen=True)
class FileChunks:
    """The bytes of a file, unpacked, in chunks: each call reads it again, and refuses a file that has changed."""

    path: Path
    state: tuple[int, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "state", self._state())

    def __call__(self) -> Iterator[bytes]:
        """Yield the chunks."""
        try:
            if self._state() != self.state:
                raise DataError("it has changed while it was read; let whoever writes it finish, then begin again.")
            with self.path.open("rb") as file:
                zipped = file.read(2) == b"\x1f\x8b" or self.path.name.lower().endswith(".gz")
                file.seek(0)
                chunks = iter(functools.partial(file.read, _CHUNK), b"")
                yield from unzip(chunks, self.state[0]) if zipped else chunks
        except (EOFError, zlib.error) as error:
            raise DataError(f"it is damaged gzip ({error}); copy or compress it again.") from error
        except OSError as error:
            raise DataError(f"it cannot be read ({error}); check the path and its permissions.") from error

    def exceed(self, n_bytes: int) -> bool:
        """Tell whether there are more bytes than this, unpacked."""
        return any(size > n_bytes for size in itertools.accumulate(map(len, self())))

    def _state(self) -> tuple[int, int]:
        """Return size and time of the last change."""
        found = self.path.stat()
        return found.st_size, found.st_mtime_ns


@dataclass(frozen=True)
class FileLines:
    """The lines of a file with their ends, each time from the first."""

    chunks: FileChunks
    encoding: Encoding

    def __iter__(self) -> Iterator[str]:
        return split_lines(decoded(self.chunks(), self.encoding))


def split_lines(texts: Iterable[str]) -> Iterator[str]:
    r"""Yield the lines of a text that comes in pieces, as `lines_of` returns those of a whole one.

    Examples
    --------
    >>> list(split_lines(["a\r", "\nb", "c\n\n"]))
    ['a\r\n', 'bc\n', '\n']
    """
    waiting: list[str] = []  # a line that may go on
    for text in texts:
        waiting.append(text)
        if "\n" in text or "\r" in text:
            *lines, last = lines_of("".join(waiting))
            yield from lines
            waiting = [last]
    yield from lines_of("".join(waiting))


def open_lines(path: Path, kind: str | None, encoding: str | None, n_bytes: int) -> LineTable | None:
    """Open a file of more than so many bytes as a table of lines; it is gone through, and checked, but not held.

    Returns
    -------
    LineTable or None
        None if the file is no larger, or must be read whole: its format has no lines, it cannot be opened, or only all
        of its cells together decide the type of a column.

    Raises
    ------
    DataError
        If it cannot be read as a table; as `read_table`, but for the name of the file.
    """
    if kind not in _LINE_TABLES:
        return None
    try:
        path.open("rb").close()
        chunks = FileChunks(path)
    except OSError:  # reading it whole will say why
        return None
    if not chunks.exceed(n_bytes):
        return None
    lines = FileLines(chunks, encoding_of(chunks, encoding))
    if not any(line.strip() for line in lines):
        raise DataError("only white space; pass a file with at least one text.")
    return _LINE_TABLES[kind](lines)
