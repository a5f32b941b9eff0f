"""``shoal augment``: two views of every text, as a table."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

EXAMPLES = """
Examples:

    shoal augment titles.csv --text title --augmenter word_deletion:0.2 --out pairs.csv

    shoal augment titles.csv --augmenter neighbour:0.3+char_swap --seed 1 --out pairs.parquet

    shoal augment titles.csv --augmenter wordnet:0.1 | head
"""


def augment(
    file: str = typer.Argument(..., help="The texts; the same formats as `shoal fit`, - for standard input."),
    augmenter: str = typer.Option(
        "neighbour", help="NAME[:STRENGTH], several joined by + : word_deletion, char_swap, wordnet, contextual, …"
    ),
    text: str | None = typer.Option(None, help="The column with the texts; found by itself if only one fits."),
    seed: int = typer.Option(0, help="The random seed."),
    backbone: str = typer.Option("builtin", help="The encoder that judges the meaning of neighbour's substitutes."),
    encoding: str | None = typer.Option(None, help="The file's encoding; found by itself."),
    format: str | None = typer.Option(None, help="The file's format; found by its name or content."),
    out: Path | None = typer.Option(None, help="Where the table goes (csv, tsv, jsonl, parquet …); else stdout, csv."),
    overwrite: bool = typer.Option(False, help="Replace the file if it exists."),
    json: bool = typer.Option(False, help="Print the counts as one JSON object."),
) -> None:
    """Write every row with two augmented views of its text, in the columns `left` and `right`.

    A text that cannot be changed stays as it is and is counted. The pairs can be edited and given back to a method
    that trains on pairs.
    """
    import polars as pl

    from shoal.augment import AugmentCache, augmented_pair, make_augmenter
    from shoal.cli.console import print_json, say
    from shoal.corpus import Corpus, write_table
    from shoal.encoder.transformer import TransformerEncoder
    from shoal.errors import DataError

    if out is not None and out.exists() and not overwrite:
        raise DataError(f"{out} exists; pass --overwrite to replace it, or another --out.")
    corpus = Corpus.read(file, text=text, encoding=encoding, format=format).require_texts()
    taken = [name for name in ("left", "right") if name in corpus.frame.columns]
    if taken:
        raise DataError(f"the table already has the column {taken[0]!r}; rename it first.")
    encode = TransformerEncoder.load(backbone).encode if "neighbour" in augmenter else None
    maker = make_augmenter(augmenter, {"neighbour": {"texts": corpus.texts, "encode": encode}})
    pairs = augmented_pair(corpus.texts, maker, seed, AugmentCache())
    views = pl.DataFrame({"left": pairs.left, "right": pairs.right})
    table = pl.concat([corpus.carried(), views], how="horizontal")
    counts = {
        "n_texts": len(corpus),
        "unchanged_left": pairs.left_report.unchanged,
        "unchanged_right": pairs.right_report.unchanged,
    }
    if out is not None:
        write_table(table, out)
    elif not json:
        sys.stdout.write(table.write_csv())
    if json:
        print_json({**counts, "augmenter": maker.fingerprint, "out": None if out is None else str(out)})
    else:
        unchanged = f"{counts['unchanged_left']} left, {counts['unchanged_right']} right"
        say(f"{counts['n_texts']} texts; unchanged: {unchanged}.")
