"""``shoal demo``: a fit on texts that come with every Python."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer

from shoal.cli.completion import Method
from shoal.cli.tables import Json, Overwrite

EXAMPLES = """
Examples:

    shoal demo

    shoal demo --out my-first-run --json
"""


def demo(
    out: Path | None = typer.Option(None, help="The run folder.  [default: runs/demo-N]", show_default=False),
    overwrite: Overwrite = False,
    method: Method = None,
    json: Json = False,
) -> None:
    """Cluster the first sentences of the standard library's docstrings.

    The module of a sentence is its class, for the scores only. The sentences are read from the library's source
    files; nothing is imported or run.
    """
    import polars as pl

    from shoal.cli.console import say
    from shoal.cli.fit import report
    from shoal.corpus import Corpus
    from shoal.demo_texts import standard_library_texts
    from shoal.errors import DataError
    from shoal.fitting import FitJob, start_fit

    texts = standard_library_texts()
    if not texts:
        raise DataError("this Python has no standard library source files; try `shoal fit` on a file.")
    modules = sorted({text.module for text in texts})
    say(f"{len(texts)} sentences from {len(modules)} modules of Python's standard library; grouping them by meaning …")
    corpus = Corpus.of(pl.DataFrame([asdict(text) for text in texts]), text="text", label="module")
    job = FitJob(
        "Python's standard library", text="text", label="module", method=method, params={"n_clusters": len(modules)}
    )
    result = start_fit(job, out, overwrite=overwrite, read=lambda: corpus, stem="demo")
    report(result, as_json=json)
    if not json:
        largest = max(result.clusters, key=lambda cluster: cluster.size)
        say(f"Next: {_program()} show {result.run} --cluster {largest.id}")


def _program() -> str:
    """Return the command as the user can type it: by its path, if the shell does not find this one by its name."""
    import shutil
    import sys

    own, found = Path(sys.argv[0]), shutil.which("shoal")
    is_found = found is not None and own.exists() and Path(found).samefile(own)
    return "shoal" if is_found or not own.is_file() else str(own)
