"""``shoal-bench``: the tables of the papers, cell by cell."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from shoal.cli.console import print_json, print_table, run, say
from shoal.errors import DataError, ParameterError
from shoal_bench.cli import (
    choice,
    data,
    engine,
    fetch,
    glosses,
    languages,
    made,
    packages,
    race,
    report,
    speed,
    unknown_k,
)
from shoal_bench.results import DEFAULT_FILE, Results
from shoal_bench.tiers import TIERS, find_tier

if TYPE_CHECKING:
    from shoal_bench.runner import Runner, Task
    from shoal_bench.suite import Suite

EXAMPLES = "\n\n    ".join(  # as typer shows them, one to a line
    (
        "\nExamples:",
        "shoal-bench list",
        "shoal-bench --suite sccl-table1 --tier quick",
        "shoal-bench --suite sccl-table1 --tier standard --data-set tweet --row SCCL --seeds 0,1 --jobs 2",
        "shoal-bench --suite all --tier quick --dry-run",
        "shoal-bench --suite my.toml --tier quick --texts 500 --results my.jsonl",
        "shoal-bench --suite sccl-table1 --peer bertopic",
        "shoal-bench report\n\n"
        "Killed or interrupted, the same command goes on where it stopped. Several may run at once.",
    )
)
ALL = "all"
SPEED = "speed"
LARGEST_SEED = 2**32 - 1  # numpy's

app = typer.Typer(
    name="shoal-bench",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(epilog=report.EXAMPLES)(report.report)
app.command(epilog=speed.EXAMPLES)(speed.speed)
app.command(epilog=fetch.EXAMPLES)(fetch.fetch)
app.command(epilog=data.EXAMPLES)(data.data)
app.command(epilog=choice.EXAMPLES)(choice.choice)
app.command(epilog=languages.EXAMPLES)(languages.languages)
app.command(epilog=made.EXAMPLES)(made.made)
app.command(epilog=packages.EXAMPLES)(packages.packages)
app.command(epilog=glosses.EXAMPLES)(glosses.glosses)
app.command(epilog=engine.EXAMPLES)(engine.engine)
app.command(epilog=race.EXAMPLES)(race.race)
app.command(epilog=unknown_k.EXAMPLES)(unknown_k.unknown_k)


@app.callback(invoke_without_command=True, epilog=EXAMPLES)
def bench(
    context: typer.Context,
    suite: list[str] = typer.Option([], help="A suite's name, `speed`, `all`, or a .toml file; may be repeated."),
    tier: str = typer.Option("quick", help="How much is measured: quick, standard or paper."),
    data_set: list[str] = typer.Option([], help="Only this data set; may be repeated."),
    row: list[str] = typer.Option([], help="Only the row of this name; may be repeated."),
    method: list[str] = typer.Option([], help="Only rows of this method; may be repeated."),
    peer: list[str] = typer.Option([], help="Also the rows of this foreign tool, or `all`; may be repeated."),
    seeds: str = typer.Option("", help="Other seeds than the tier's, e.g. 0,1."),
    texts: int | None = typer.Option(None, min=1, help="Another size of sample than the tier's."),
    jobs: int = typer.Option(1, min=1, help="Cells at a time."),
    threads: int | None = typer.Option(
        None, min=1, help="Threads of each cell.  [default: the cores divided by --jobs]"
    ),
    results: Path = typer.Option(DEFAULT_FILE, help="The file that results are added to."),
    dry_run: bool = typer.Option(False, "--dry-run", help="List the cells that would be run, and run none."),
    json: bool = typer.Option(False, help="Print a summary as one JSON object."),
) -> None:
    """Measure methods on the papers' data sets: run the cells of a suite that the results do not have yet.

    A cell is one fit of one method on one data set with one seed, in a process of its own; every finished one is
    kept. Data sets are looked for in the folder that SHOAL_DATA names, by default in the cache
    folder; `shoal-bench fetch` gets them.
    """
    if context.invoked_subcommand is not None:
        return
    from shoal_bench.choice import Choice
    from shoal_bench.data_sets import data_folder
    from shoal_bench.runner import Runner
    from shoal_bench.speed.plan import planned

    if not suite:
        raise ParameterError("no suite is named; pass --suite NAME or --suite all. The names: shoal-bench list")
    amount, cores = find_tier(tier), os.cpu_count() or 1
    with_speed = SPEED in suite or (ALL in suite and not (data_set or row or method))
    requests = planned(amount.speed, threads or cores, n_texts=texts) if with_speed else []
    suites = _suites([name for name in suite if name != SPEED])
    choice = Choice(amount, data_set, row, method, peer, speed.numbers_of("seeds", seeds, LARGEST_SEED), texts)
    tasks, missing = choice.tasks(suites, omit_missing=ALL in suite) if suites else ([], [])
    if missing:
        names = " ".join(missing)
        if not tasks and not with_speed:
            raise DataError(
                f"none of the data sets {names} is there; set SHOAL_DATA to the folder that holds them, or run: "
                f"shoal-bench fetch {names}"
            )
        say(f"Left out, for they are not in {data_folder()}: {names}. To get them: shoal-bench fetch {names}")
    runner = Runner(Results(results, speed.tell), jobs=jobs, threads=threads or max(1, cores // jobs))
    facts: dict[str, Any] = {"suites": [each.name for each in suites], "tier": tier, "left_out": missing}
    failed = 0
    if dry_run:
        facts |= _plan(runner.missing(tasks), shown=bool(tasks) and not json)
    else:
        counts = _run_cells(runner, tasks)
        facts |= counts
        failed = counts["failed"]
        if tasks and not json:
            say(_told(counts, results))
    if with_speed:
        taken = speed.measure_all(requests, results, dry_run=dry_run, shown=not json)
        if not dry_run:
            n_failed = sum(record["status"] == "failed" for record in taken.pop("records"))
            failed += n_failed
            taken = {"speed": {**taken, "failed": n_failed}}
        facts |= taken
    if json:
        print_json(facts)
    if failed:
        raise typer.Exit(1)


@app.command("list")
def list_suites(json: bool = typer.Option(False, help="Print the result as one JSON object.")) -> None:
    """List the suites, the tiers and the data sets."""
    from shoal_bench.data_sets import DATA_SETS, data_folder, is_present
    from shoal_bench.suite import load_suite, suite_names

    suites = [load_suite(name) for name in suite_names()]
    tiers, there = {tier.name: tier.summary for tier in TIERS.values()}, {name: is_present(name) for name in DATA_SETS}
    if json:
        described = {
            suite.name: {
                **suite.model_dump(mode="json", include={"title", "source", "data_sets"}),
                "rows": {row.name: row.peer or row.method for row in suite.rows},
            }
            for suite in suites
        }
        print_json({"suites": described, "tiers": tiers, "data_sets": there})
        return
    rows = [
        [suite.name, suite.title, suite.source, f"{sum(row.runnable for row in suite.rows)} of {len(suite.rows)}"]
        for suite in suites
    ]
    print_table("Suites", ["name", "what it shows", "from", "rows that run"], rows, right=["rows that run"])
    print_table("Tiers", ["name", "what is measured"], list(tiers.items()))
    found = [
        [each.name, f"{each.n_texts:,}", str(each.n_classes), "yes" if there[each.name] else "no", each.licence]
        for each in DATA_SETS.values()
    ]
    columns = ["name", "texts", "classes", "there", "licence"]
    print_table(f"Data sets (in {data_folder()})", columns, found, right=["texts", "classes"])


def _suites(names: Sequence[str]) -> list[Suite]:
    """Return the suites asked for; ``all`` means each that has a row to run."""
    from shoal_bench.suite import load_suite, suite_names

    wanted = dict.fromkeys(name for given in names for name in (suite_names() if given == ALL else [given]))
    suites = {name: load_suite(name) for name in wanted}
    return [suite for name, suite in suites.items() if suite.runnable or name in names]


def _run_cells(runner: Runner, tasks: Sequence[Task]) -> dict[str, int]:
    """Run, and say how to go on if somebody interrupts."""
    from shoal_bench.peers import ensure_environment, find_peer

    try:
        for name in dict.fromkeys(task.cell.peer for task in runner.missing(tasks) if task.cell.peer):
            ensure_environment(find_peer(name))  # once, and not on the clock of the first cell
        return runner.run(tasks)
    except KeyboardInterrupt:
        left = len(runner.missing(tasks))
        say(f"Interrupted with {left} cells left; the finished ones are kept. The same command goes on from here.")
        raise typer.Exit(130) from None


def _plan(tasks: Sequence[Task], shown: bool) -> dict[str, Any]:
    """Return the cells to run, and list them if they are to be shown."""
    if shown:
        rows = [[task.cell.data_set, task.row, f"{task.n_texts:,}", str(task.cell.seed), task.cost] for task in tasks]
        columns = ["data set", "row", "texts", "seed", "cost"]
        print_table(f"{len(tasks)} cells to run", columns, rows, right=["texts", "seed"])
    return {"cells": [{"key": task.key, "row": task.row, **task.cell.as_dict()} for task in tasks]}


def _told(counts: Mapping[str, int], results: Path) -> str:
    """Say what came of a run."""
    wanted = counts["wanted"]
    if counts["already"] == wanted:
        return f"All {wanted} cells are in {results} already; nothing to do."
    words = {"already": "already there", "elsewhere": "done by another run"}
    ended = [f"{n} {words.get(name, name)}" for name, n in counts.items() if n and name != "wanted"]
    again = " Failed ones are tried again by the same command." if counts["failed"] else ""
    return f"{wanted} cells: {', '.join(ended)}. Results are in {results}.{again}"


def main() -> None:
    """Run the command line."""
    run(app)
