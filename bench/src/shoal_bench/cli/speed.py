"""``shoal-bench speed``: how fast, beside a reference in the same process, and how it grows."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from shoal.cli.console import print_json, print_table, say
from shoal.errors import ParameterError
from shoal_bench.results import DEFAULT_FILE, FAILED, Results

if TYPE_CHECKING:
    from shoal_bench.speed.plan import SpeedOptions
    from shoal_bench.speed.run import SpeedSummary

EXAMPLES = """
Examples:

    shoal-bench speed

    shoal-bench speed --tier standard --threads 2

    shoal-bench speed --measure encode-titles --measure fit --again

    shoal-bench speed --measure growth-fit --method tfidf-kmeans --sizes 1000,10000,100000
"""


def speed(
    tier: str = typer.Option("quick", help="quick, standard or paper: texts, repeats and sizes."),
    measure: list[str] = typer.Option([], help="Only this measure; may be repeated.  [default: all; see --dry-run]"),
    method: str = typer.Option("kmeans", help="The method to fit and to predict with; see `shoal methods`."),
    threads: int | None = typer.Option(None, min=1, help="Threads of each process.  [default: all cores]"),
    texts: int | None = typer.Option(None, help="Texts of a ratio, instead of the tier's."),
    sizes: str = typer.Option("", help="Sizes of the growth, instead of the tier's: 1000,3000,10000."),
    backbone: str = typer.Option("builtin", help="The encoder: builtin, a folder, or a name on the model hub."),
    results: Path = typer.Option(DEFAULT_FILE, help="The file that records are added to."),
    again: bool = typer.Option(False, help="Measure again what the results have already."),
    dry_run: bool = typer.Option(False, "--dry-run", help="List what would be measured, and stop."),
    json: bool = typer.Option(False, help="Print the records as one JSON object."),
) -> None:
    """Measure encoding, training, fit and predict beside a reference, and their growth with the number of texts.

    A ratio above 1 is faster than its reference; both take turns in one process, and the median counts. An exponent
    of 1 is growth in proportion to the texts. Texts are StackOverflow's titles and the BBC's sentences if they have
    been fetched, otherwise Python's docstrings; sizes beyond them repeat texts with small changes. Run nothing else
    meanwhile.
    """
    try:
        numbers = [int(size) for size in sizes.split(",") if size.strip()]
    except ValueError as reason:
        raise ParameterError(f"sizes={sizes!r} are no numbers; pass e.g. --sizes 1000,3000.") from reason
    wanted = options(tier, threads, texts, numbers, measures=measure, method=method, backbone=backbone)
    if dry_run:
        facts = plan(wanted, results, again=again, shown=not json)
    else:
        summary = measure_all(wanted, results, again=again, shown=not json)
        facts = {"wanted": summary.wanted, "already": summary.already, "records": summary.records}
    if json:
        print_json(facts)
    if not dry_run and summary.count(FAILED):
        raise typer.Exit(1)


def options(
    tier: str, threads: int | None = None, texts: int | None = None, sizes: Sequence[int] = (), **others: Any
) -> SpeedOptions:
    """Return what is asked for; all cores if nothing else is said."""
    from shoal_bench.speed.plan import SpeedOptions, find_speed_tier

    return SpeedOptions(find_speed_tier(tier).resized(texts, sizes), threads or os.cpu_count() or 1, **others)


def plan(wanted: SpeedOptions, file: Path, *, again: bool = False, shown: bool = True) -> dict[str, Any]:
    """Return what would be measured, and list it if it is to be shown."""
    from shoal_bench.speed.run import missing

    waiting = missing(wanted, Results(file), again)
    if shown:
        rows = [[request.measure, f"{request.n_texts:,}", request.texts] for request in waiting]
        print_table(f"{len(rows)} measures to take", ["measure", "texts", "of"], rows, right=["texts"])
    return {"measures": [request.as_facts() for request in waiting]}


def tell(line: str) -> None:
    """Print a line to standard error, above the progress bar if there is one."""
    sys.stderr.write(f"{line}\n")  # not by a console of rich's, which would write across another one's bar
    sys.stderr.flush()


def measure_all(wanted: SpeedOptions, file: Path, *, again: bool = False, shown: bool = True) -> SpeedSummary:
    """Take the measures that are missing, and show them."""
    from shoal_bench.speed.run import run_speed, told

    try:
        summary = run_speed(wanted, Results(file), again=again, say=tell)
    except KeyboardInterrupt:
        say("Interrupted; the finished measures are kept. The same command goes on from here, without --again.")
        raise typer.Exit(130) from None
    if shown:
        rows = [[record["measure"], f"{record['n_texts']:,}", told(record)] for record in summary.records]
        print_table("Speed", ["measure", "texts", "result"], rows, right=["texts"])
        if summary.already == summary.wanted:
            say(f"All {summary.wanted} measures were in {file} already; `shoal-bench speed --again` repeats them.")
    return summary
