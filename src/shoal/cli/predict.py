"""``shoal predict``: sort new texts with a saved run."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import typer

from shoal.cli.tables import (
    Encoding,
    Engine,
    Format,
    Json,
    Out,
    Overwrite,
    Query,
    SafeCsv,
    Sheet,
    Workers,
    write_result,
)

EXAMPLES = """
Examples:

    shoal predict runs/tickets-shoal-1 new.csv --text body --out sorted.csv

    shoal predict runs/tickets-shoal-1 new.csv --min-confidence 0.5 --out sorted.csv

    shoal predict runs/tickets-shoal-1 's3://shop/tickets/*.parquet' --out s3://shop/sorted/

    shoal predict runs/tickets-shoal-1 tickets/ --out sorted/ --engine ray --workers 4

    shoal predict runs/tickets-shoal-1 'postgresql://ann@db/shop?table=tickets' --out sorted.parquet

    echo "my parcel is late" | shoal predict runs/tickets-shoal-1 - --json
"""


def predict(
    run: Path = typer.Argument(..., help="A run folder of `shoal fit`, or a saved model's folder."),
    file: str = typer.Argument(..., help="The new texts; the same formats as `shoal fit`, - for standard input."),
    text: str | None = typer.Option(None, help="The column with the texts; default: the one used in the fit."),
    vectors: Path | None = typer.Option(None, help="A .npy file, one vector per text, for a run fitted on vectors."),
    min_confidence: float = typer.Option(
        0.0, min=0, max=1, help="Texts below this confidence get no cluster; their nearest is the second choice."
    ),
    query: Query = None,
    encoding: Encoding = None,
    format: Format = None,
    sheet: Sheet = None,
    out: Out = None,
    overwrite: Overwrite = False,
    safe_csv: SafeCsv = False,
    engine: Engine = "local",
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Sort new texts into the clusters of a run: every row is returned with its cluster and confidence."""
    import polars as pl

    from shoal.cli.console import print_json, say
    from shoal.corpus import RESERVED, Corpus
    from shoal.corpus.sources.blocks import open_source
    from shoal.corpus.targets import require_target
    from shoal.engine import use_engine
    from shoal.methods.inputs import read_vectors
    from shoal.methods.persistence import load
    from shoal.sorting import BLOCK_ROWS, Sorter, Sorting

    require_target(out, overwrite)
    started = time.perf_counter()
    with use_engine(engine, workers, trains=False):
        model = load(run)
        table = open_source(file, encoding=encoding, format=format, sheet=sheet, query=query)
        head = table.head(BLOCK_ROWS)
        column = Corpus.of(head, text=text or _fitted_column(run, head.columns)).text_column
        del head
        given = None if vectors is None else read_vectors(vectors)
        sorting = Sorting(Sorter(model, column, min_confidence), table, given)
        if json and out is None:
            place: dict[str, Any] = {"predictions": pl.concat(sorting.frames()).select(RESERVED).to_dicts()}
        else:
            place = {"out": out}
            write_result(sorting.frames(), out, as_json=json, safe=safe_csv)
    if json:
        summary = {
            "run": str(run),
            "n_texts": len(table),
            "n_clusters": model.n_clusters_,
            "dropped": {"empty": sorting.empty} if sorting.empty else {},
            "truncated": sorting.truncated,
            "below_min_confidence": sorting.outliers,
            "seconds": round(time.perf_counter() - started, 3),
            "sizes": {cluster.name: int(sorting.sizes[cluster.id]) for cluster in model.clusters_},
        }
        print_json({**summary, **place})
    elif out is not None:
        if sorting.outliers:
            say(
                f"{sorting.outliers} of {len(table)} texts are below the confidence of {min_confidence:g} and have no "
                "cluster."
            )
        say(f"{len(table)} texts sorted into {model.n_clusters_} clusters: {out}")


def _fitted_column(run: Path, columns: list[str]) -> str | None:
    """Return the text columns used in the fit, if the new table has columns of these names."""
    import contextlib

    from shoal.errors import RunFolderError
    from shoal.run_folder import RunFolder

    with contextlib.suppress(RunFolderError, LookupError, TypeError):  # a model folder outside a run records no column
        fitted = str(RunFolder(run).read_info()["data"]["text_column"])
        return fitted if fitted in columns or {name.strip() for name in fitted.split(",")} <= set(columns) else None
    return None
