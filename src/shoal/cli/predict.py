"""``shoal predict``: sort new texts with a saved run."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from shoal.cli.tables import Encoding, Format, Json, Out, Overwrite, Query, SafeCsv, Sheet, write_result

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from shoal.corpus import Corpus
    from shoal.methods.base import TextClusterer

# Texts that are sorted at a time.
BLOCK_ROWS = 20_000

EXAMPLES = """
Examples:

    shoal predict runs/tickets-shoal-1 new.csv --text body --out sorted.csv

    shoal predict runs/tickets-shoal-1 new.csv --min-confidence 0.5 --out sorted.csv

    shoal predict runs/tickets-shoal-1 's3://shop/tickets/*.parquet' --out s3://shop/sorted/

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
    json: Json = False,
) -> None:
    """Sort new texts into the clusters of a run: every row is returned with its cluster and confidence."""
    import polars as pl

    from shoal.cli.console import print_json, say
    from shoal.corpus import Corpus, read_source
    from shoal.corpus.targets import require_target
    from shoal.methods.inputs import read_vectors
    from shoal.methods.persistence import load

    require_target(out, overwrite)
    started = time.perf_counter()
    model = load(run)
    table, _ = read_source(file, encoding=encoding, format=format, sheet=sheet, query=query)
    corpus = Corpus.of(table, text=text or _fitted_column(run, table.columns))
    found = _in_blocks(model, corpus, None if vectors is None else read_vectors(vectors), min_confidence)
    outliers = int((found["cluster"].is_null() & found["second_cluster"].is_not_null()).sum())
    result = pl.concat([corpus.input_columns(), found], how="horizontal")
    write_result(result, out, as_json=json, safe=safe_csv)
    if json:
        summary = {
            "run": str(run),
            "n_texts": len(corpus),
            "n_clusters": model.n_clusters_,
            "dropped": {"empty": int(corpus.empty.sum())} if corpus.empty.any() else {},
            "truncated": model.truncated_,
            "below_min_confidence": outliers,
            "seconds": round(time.perf_counter() - started, 3),
            "sizes": {cluster.name: int((found["cluster"] == cluster.id).sum()) for cluster in model.clusters_},
        }
        place = {"out": str(out)} if out is not None else {"predictions": found.to_dicts()}
        print_json({**summary, **place})
    elif out is not None:
        if outliers:
            say(
                f"{outliers} of {len(corpus)} texts are below the confidence of {min_confidence:g} and have no cluster."
            )
        say(f"{len(corpus)} texts sorted into {model.n_clusters_} clusters: {out}")


def _in_blocks(
    model: TextClusterer, corpus: Corpus, vectors: NDArray[np.float32] | None, min_confidence: float
) -> pl.DataFrame:
    """Sort the texts block by block, so that vectors and probabilities never take more room than those of a block."""
    from dataclasses import replace

    import polars as pl

    from shoal.progress import progress

    frames, truncated, texts = [], 0, corpus.texts
    with progress("Sorting", len(texts)) as bar:
        for begin in range(0, max(len(texts), 1), BLOCK_ROWS):
            block = slice(begin, begin + BLOCK_ROWS)
            found = model.predict_clustering(texts[block], vectors=None if vectors is None else vectors[block])
            frames.append(replace(found, labels=found.labels_at(min_confidence)).frame())
            truncated += model.truncated_
            bar.advance(len(found))
    model.truncated_ = truncated
    return pl.concat(frames)


def _fitted_column(run: Path, columns: list[str]) -> str | None:
    """Return the text columns used in the fit, if the new table has columns of these names."""
    import contextlib

    from shoal.errors import RunFolderError
    from shoal.run_folder import RunFolder

    with contextlib.suppress(RunFolderError, LookupError, TypeError):  # a model folder outside a run records no column
        fitted = str(RunFolder(run).read_info()["data"]["text_column"])
        return fitted if fitted in columns or {name.strip() for name in fitted.split(",")} <= set(columns) else None
    return None
