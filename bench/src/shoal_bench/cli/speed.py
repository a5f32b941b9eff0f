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
from shoal_bench.tiers import find_tier

if TYPE_CHECKING:
    from shoal_bench.speed.plan import SpeedRequest

EXAMPLES = "\n\n    ".join(
    (
        "\nExamples:",
        "shoal-bench speed",
        "shoal-bench speed --tier standard --threads 2",
        "shoal-bench speed --measure encode-titles --measure fit --again",
        "shoal-bench speed --measure growth-fit --method tfidf-kmeans --sizes 1000,10000,100000",
    )
)


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
    from shoal_bench.speed.plan import planned

    chosen: dict[str, Any] = {"measures": measure, "method": method, "backbone": backbone, "n_texts": texts}
    cores = threads or os.cpu_count() or 1
    requests = planned(find_tier(tier).speed, cores, **chosen, sizes=numbers_of("sizes", sizes))
    facts = measure_all(requests, results, again=again, dry_run=dry_run, shown=not json)
    if json:
        print_json(facts)
    if any(record["status"] == FAILED for record in facts.get("records", ())):
        raise typer.Exit(1)


def numbers_of(option: str, given: str, most: int = 10**9) -> tuple[int, ...]:
    """Read the whole numbers of an option."""
    try:
        numbers = tuple(dict.fromkeys(int(number) for number in given.split(",") if number.strip()))
    except ValueError:
        numbers = (-1,)
    if not all(0 <= number <= most for number in numbers):
        raise ParameterError(
            f"--{option} {given!r} are no {option}; pass whole numbers from 0 to {most} with commas, e.g. 10,20."
        )
    return numbers


def tell(line: str) -> None:
    """Print a line to standard error, above the progress bar if there is one."""
    sys.stderr.write(f"{line}\n")  # not by a console of rich's, which would write across another one's bar
    sys.stderr.flush()


def measure_all(
    requests: Sequence[SpeedRequest], file: Path, *, again: bool = False, dry_run: bool = False, shown: bool = True
) -> dict[str, Any]:
    """Take the measures that are missing, or list them, and show them; return what is said of that as JSON."""
    from shoal_bench.speed.run import missing, run_speed, told

    results = Results(file, tell)
    if dry_run:
        waiting = requests if again else missing(requests, results)
        rows = [[request.measure, f"{request.n_texts:,}", request.texts] for request in waiting]
        title, columns = f"{len(rows)} measures to take", ["measure", "texts", "of"]
        facts: dict[str, Any] = {"measures": [request.as_dict() for request in waiting]}
    else:
        try:
            records, n_taken = run_speed(requests, results, again=again)
        except KeyboardInterrupt:
            say("Interrupted; the finished measures are kept. The same command goes on from here, without --again.")
            raise typer.Exit(130) from None
        rows = [[record["measure"], f"{record['n_texts']:,}", told(record)] for record in records]
        title, columns = "Speed", ["measure", "texts", "result"]
        facts = {"wanted": len(requests), "already": len(requests) - n_taken, "records": records}
    if shown:
        print_table(title, columns, rows, right=["texts"])
        if facts.get("already") == len(requests):
            say(f"All {len(requests)} measures were in {file} already; `shoal-bench speed --again` repeats them.")
    return facts
