"""``shoal-bench unknown-k``: what was found without K, from the results."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from shoal.cli.console import print_json
from shoal.errors import DataError
from shoal_bench.cli.speed import tell
from shoal_bench.results import DEFAULT_FILE, Results

RUN = 'shoal-bench --suite shoal --tier standard --row "Shoal, K unknown" --row Shoal --row BERTopic --peer bertopic'
EXAMPLES = "\n\n    ".join(
    (
        "\nExamples:",
        "shoal-bench unknown-k",
        "shoal-bench unknown-k --results mine.jsonl --json",
    )
)


def unknown_k(
    results: Path = typer.Option(DEFAULT_FILE, help="The file of results."),
    json: bool = typer.Option(False, help="Print the table as one JSON object."),
) -> None:
    """Print a Markdown table of the fits without K: the number found, scores beside K given and BERTopic, confidence.

    It fits nothing: the results must have the rows of the suite `shoal`. Figures are means over the seeds.
    """
    from shoal_bench.unknown_k import as_markdown, compared, summary

    rows = compared(list(Results(results, tell).by_key().values()))
    if not rows:
        raise DataError(f"{results} has no fit without K; run: {RUN}")
    if json:
        print_json({"rows": rows, "summary": summary(rows)})
    else:
        sys.stdout.write(as_markdown(rows) + "\n")
