"""``shoal-bench made``: a corpus of any size, with known classes, to try large ones on."""

from __future__ import annotations

from pathlib import Path

import typer

EXAMPLES = "\n\n    ".join(
    (
        "\nExamples:",
        "shoal-bench made --texts 200000 --out made.parquet",
        "shoal-bench made --texts 1000000 --data-set stackoverflow --out titles.parquet",
        "shoal fit made.parquet --text text --label label --clusters 20 --precision int8",
    )
)


def made(
    texts: int = typer.Option(..., min=1, help="How many texts."),
    out: Path = typer.Option(..., help="A new .parquet file with the columns text and label."),
    data_set: str | None = typer.Option(None, help="A data set to take words from; default: Python's own docstrings."),
    seed: int = typer.Option(0, min=0, help="The seed."),
) -> None:
    """Make distinct texts with the word statistics of real ones and as many classes."""
    import polars as pl

    from shoal.cli.console import say
    from shoal.errors import ParameterError
    from shoal_bench.made_texts import made_texts

    if out.exists() or out.suffix != ".parquet":
        raise ParameterError(f"--out {out} exists or does not end in .parquet; pass a new .parquet file.")
    found, labels = made_texts(*real_texts(data_set), texts, seed)
    pl.DataFrame({"text": found, "label": labels}).write_parquet(out)
    say(f"{len(found)} texts of {len(set(labels))} classes: {out}")


def real_texts(data_set: str | None) -> tuple[list[str], list[str]]:
    """Return the texts and classes of a data set, or Python's docstrings and their modules."""
    from shoal.demo_texts import standard_library_texts
    from shoal_bench.data_sets import find_data_set

    if data_set is not None:
        known = find_data_set(data_set).load()
        return list(known.texts), list(known.labels)
    docstrings = standard_library_texts()
    return [each.text for each in docstrings], [each.module for each in docstrings]
