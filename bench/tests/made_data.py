"""Data sets that are made up."""

from __future__ import annotations

import gzip
from pathlib import Path


def write_data_set(folder: Path, name: str, rows: list[tuple[str, str]]) -> Path:
    """Write rows of (label, text) as a data set."""
    content = "label\ttext\n" + "".join(f"{label}\t{text}\n" for label, text in rows)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.tsv.gz"
    file.write_bytes(gzip.compress(content.encode(), mtime=0))
    return file


def table_of(markdown: str) -> tuple[list[str], list[list[str]]]:
    """Return the columns and the rows of a table."""
    columns, _, *rows = [line.removeprefix("| ").removesuffix(" |").split(" | ") for line in markdown.splitlines()]
    return columns, rows
