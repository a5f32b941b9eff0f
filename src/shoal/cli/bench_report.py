"""``shoal bench report``: results as pages."""

from __future__ import annotations

from pathlib import Path

import typer

EXAMPLES = """
Examples:

    shoal bench report

    shoal bench report --results my.jsonl --suite my.toml --out my-pages
"""


def report(
    results: Path = typer.Option(Path("benchmarks/results/bench.jsonl"), help="The file with the results."),
    out: Path = typer.Option(Path("docs"), help="The folder that the pages and pictures go to."),
    suite: list[str] = typer.Option([], help="Only this suite, by name or .toml file; may be repeated."),
    json: bool = typer.Option(False, help="Print the files written as one JSON object."),
) -> None:
    """Write `benchmarks.md`, `benchmarks.html` and their pictures: published figures beside ours.

    Pictures need the extra `bench`.
    """
    from shoal.bench.report import write_pages
    from shoal.cli.console import print_json, say

    files = write_pages(results, out, suite)
    if json:
        print_json({"files": [str(file) for file in files]})
    else:
        say(f"{files[0]} and {files[1]} are written; pictures: {len(files) - 2}.")
