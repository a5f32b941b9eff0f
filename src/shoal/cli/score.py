"""``shoal score``: a clustering against known classes."""

from __future__ import annotations

import typer

from shoal.cli.tables import Encoding, Json, Sheet

EXAMPLES = """
Examples:

    shoal score runs/tickets-shoal-1/assignments.csv --label topic --cluster cluster

    shoal score any.parquet --label class --cluster group --json
"""


def score(
    file: str = typer.Argument(..., help="A table with both columns; the same formats as `shoal fit`."),
    label: str = typer.Option(..., help="The column with the known classes."),
    cluster: str = typer.Option("cluster", help="The column with the clusters; an empty cell means no cluster."),
    encoding: Encoding = None,
    sheet: Sheet = None,
    json: Json = False,
) -> None:
    """Score a clustering against known classes, in percent: ACC, NMI, ARI, purity and more."""
    from shoal import metrics
    from shoal.cli.console import print_json, print_scores, say
    from shoal.corpus import read_source, require_column, strings_of
    from shoal.errors import DataError

    table, _ = read_source(file, encoding=encoding, sheet=sheet)
    classes, groups = (strings_of(table[require_column(table, name)]).to_list() for name in (label, cluster))
    rows = [i for i, known in enumerate(classes) if known]
    if not rows:
        raise DataError(f"the label column {label!r} is empty; there is nothing to score against.")
    true = [classes[i] for i in rows]
    found = [groups[i] if groups[i] not in (None, "", "-1") else None for i in rows]
    values = metrics.scores(true, found)
    parts = {name: 100 * getattr(metrics, name)(true, found) for name in ("homogeneity", "completeness", "v_measure")}
    counts = {
        "n_texts": len(rows),
        "n_classes": len(set(true)),
        "n_clusters": len({group for group in found if group is not None}),
        "without_cluster": found.count(None),
        "without_label": len(classes) - len(rows),
    }
    if json:
        print_json({**values, **parts, **counts})
        return
    print_scores({**values, **parts})
    say(", ".join(f"{count} {name.replace('_', ' ').removeprefix('n ')}" for name, count in counts.items() if count))
