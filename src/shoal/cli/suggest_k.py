"""``shoal suggest-k``: how many clusters a file of texts has, and what each number would mean."""

from __future__ import annotations

from pathlib import Path

import typer

from shoal.cli.tables import Encoding, Format, Json, Query, Sheet, TextColumn

EXAMPLES = """
Examples:

    shoal suggest-k tickets.csv --text body

    shoal suggest-k tickets.csv --clusters 5-40 --picture how-many.svg
"""
_SHOWN_NAMES = 8


def suggest_k(
    file: str = typer.Argument(..., help="The texts; the same formats as `shoal fit`, - for standard input."),
    text: TextColumn = None,
    clusters: str = typer.Option("auto", help="auto, or a range such as 5-80."),
    backbone: str = typer.Option(
        "auto", help="The encoder: auto (by language), builtin, multilingual, use, e5, static, a folder, or a hub name."
    ),
    picture: Path | None = typer.Option(None, help="Draw the evidence: a name that ends with .svg, .png or .pdf."),
    query: Query = None,
    encoding: Encoding = None,
    format: Format = None,
    sheet: Sheet = None,
    json: Json = False,
) -> None:
    """Suggest two or three numbers of clusters, with what each would join or divide; nothing is trained."""
    from shoal.cli.console import print_json, print_table, say
    from shoal.corpus import Corpus
    from shoal.corpus.addresses import shown
    from shoal.methods.suggesting import suggest_n_clusters
    from shoal.report.granularity_picture import save_curve

    corpus = Corpus.read(file, text=text, encoding=encoding, format=format, sheet=sheet, query=query).require_texts()
    found = suggest_n_clusters(corpus, clusters, backbone)
    if picture is not None:
        save_curve(found.choice.as_dict(), picture)
    if json:
        print_json({**found.choice.as_dict(), "groups": found.groups, "picture": picture and str(picture)})
        return
    say(f"{found.choice.chosen} clusters: {found.choice.reason}.")
    for level, number in found.choice.levels.items():
        groups = found.groups[level]
        rows = [[each["name"], f"{each['share']:.0%}", each["relation"]] for each in groups[:_SHOWN_NAMES]]
        print_table(
            f"{level}: {number} clusters", ["the largest", "texts", "compared with medium"], rows, right=["texts"]
        )
    say(f"{found.choice.n_sampled} texts were measured. To fit: shoal fit {shown(file)} --clusters NUMBER")
    if picture is not None:
        say(f"The evidence: {picture}")
