"""``shoal-bench report``: results as pages."""

from __future__ import annotations

from pathlib import Path

import typer

from shoal.cli.console import print_json, say
from shoal_bench.results import DEFAULT_FILE

EXAMPLES = "\n\n    ".join(
    ("\nExamples:", "shoal-bench report", "shoal-bench report --results my.jsonl --suite my.toml --out my-pages")
)


def report(
    results: Path = typer.Option(DEFAULT_FILE, help="The file with the results."),
    out: Path = typer.Option(Path("bench/pages"), help="The folder that the pages and pictures go to."),
    suite: list[str] = typer.Option([], help="Only this suite, by name or .toml file; may be repeated."),
    json: bool = typer.Option(False, help="Print the files written as one JSON object."),
) -> None:
    """Write `benchmarks.md` and its pictures: published figures beside ours."""
    from shoal_bench.report.write import write_pages

    files = write_pages(results, out, suite)
    if json:
        print_json({"files": [str(file) for file in files]})
    else:
        say(f"{files[0]} is written; pictures: {len(files) - 1}.")
