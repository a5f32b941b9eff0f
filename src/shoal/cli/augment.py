"""``shoal augment``: two augmented views of every text, as a table."""

from __future__ import annotations

import typer

from shoal.cli.tables import Encoding, Format, Json, Out, Overwrite, Query, SafeCsv, Sheet, TextColumn, write_result

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
    text: TextColumn = None,
    seed: int = typer.Option(0, help="The random seed."),
    backbone: str = typer.Option("builtin", help="The encoder with which `neighbour` compares words."),
    query: Query = None,
    encoding: Encoding = None,
    format: Format = None,
    sheet: Sheet = None,
    out: Out = None,
    overwrite: Overwrite = False,
    safe_csv: SafeCsv = False,
    json: Json = False,
) -> None:
    """Write every row with two augmented views of its text, in the columns `left` and `right`.

    A text that cannot be changed stays as it is and is counted. The table can be edited and passed to a method that
    trains on pairs: `shoal fit FILE --pairs left,right`.
    """
    import polars as pl

    from shoal.augment import AugmentCache, augmented_pair, make_augmenter
    from shoal.cli.console import print_json, say
    from shoal.corpus import Corpus
    from shoal.corpus.targets import require_target
    from shoal.encoder.transformer import TransformerEncoder
    from shoal.errors import DataError

    require_target(out, overwrite)
    corpus = Corpus.read(file, text=text, encoding=encoding, format=format, sheet=sheet, query=query).require_texts()
    taken = [name for name in ("left", "right") if name in corpus.frame.columns]
    if taken:
        raise DataError(f"the table already has the column {taken[0]!r}; rename it first.")
    encode = TransformerEncoder.load(backbone).encode if "neighbour" in augmenter else None
    maker = make_augmenter(augmenter, {"neighbour": {"texts": corpus.texts, "encode": encode}})
    pairs = augmented_pair(corpus.texts, maker, seed, AugmentCache())
    views = pl.DataFrame({"left": pairs.left, "right": pairs.right})
    table = pl.concat([corpus.input_columns(), views], how="horizontal")
    write_result([table], out, as_json=json, safe=safe_csv)
    left, right = pairs.left_report.unchanged, pairs.right_report.unchanged
    if json:
        counts = {"n_texts": len(corpus), "unchanged_left": left, "unchanged_right": right}
        print_json({**counts, "augmenter": maker.fingerprint, "out": None if out is None else str(out)})
    else:
        say(f"{len(corpus)} texts; unchanged: {left} left, {right} right.")
