"""Shared by the commands that read and write tables: their options, and where a result goes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import polars as pl

TextColumn = Annotated[
    str | None,
    typer.Option("--text", help="The column with the texts, needed if several fit; title,body joins two."),
]
Sheet = Annotated[
    str | None, typer.Option("--sheet", help="A workbook's sheet, by name or number; needed if several have data.")
]
Encoding = Annotated[str | None, typer.Option("--encoding", help="The file's encoding; detected by default.")]
Format = Annotated[str | None, typer.Option("--format", help="The file's format; by default from its name or content.")]
Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        help="Where the table goes: csv, tsv, jsonl, parquet, …, also s3://…; FOLDER/ for a parquet data set; csv to "
        "stdout by default.",
    ),
]
Query = Annotated[
    str | None, typer.Option("--query", help="A select statement, for a database: duckdb:///…, postgresql://….")
]
Overwrite = Annotated[bool, typer.Option("--overwrite/--no-overwrite", help="Replace the output if it exists.")]
SafeCsv = Annotated[
    bool,
    typer.Option(
        "--safe-csv",
        help="Put ' before cells of csv and tsv that begin with = + - @, which a spreadsheet might take for formulas; "
        "by default they are written as they are.",
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        help="Where the work is done: local, this process; ray, the workers of the Ray cluster that RAY_ADDRESS names, "
        "or of one on this machine.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        help="Processes of --engine ray, of one thread each  [default: one per core]; of --engine local, those that "
        "train together, if the method fine-tunes an encoder  [default: 1].",
    ),
]
Json = Annotated[bool, typer.Option("--json/--no-json", help="Print the result as one JSON object.")]


def write_result(frames: Iterable[pl.DataFrame], out: str | None, *, as_json: bool, safe: bool = False) -> None:
    """Write tables as one to ``out``, or to standard output unless JSON goes there, while they come."""
    from shoal.corpus.targets import write_frames
    from shoal.corpus.writers import delimited, without_formulas

    if out is not None:
        write_frames(frames, out, safe=safe)
    elif not as_json:
        from shoal.cli.console import print_csv

        for number, frame in enumerate(frames):
            print_csv(delimited(without_formulas(frame) if safe else frame, header=number == 0))
