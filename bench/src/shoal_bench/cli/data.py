"""``shoal-bench data``: what the data sets are like (SCCL, table 2)."""

from __future__ import annotations

import typer

from shoal.cli.console import print_json, print_table

EXAMPLES = "\n\n    ".join(("\nExamples:", "shoal-bench data", "shoal-bench data tweet agnews --json"))


def data(
    names: list[str] = typer.Argument(None, help="Names of data sets; by default all that are there."),
    json: bool = typer.Option(False, help="Print the result as one JSON object."),
) -> None:
    """Show the statistics of data sets: words, texts, words per text, classes, largest class by smallest."""
    from shoal_bench.data_sets import DATA_SETS, find_data_set, is_present, statistics_of

    wanted = names or [name for name in DATA_SETS if is_present(name)]
    found = {name: statistics_of(find_data_set(name).load()) for name in wanted}
    if json:
        print_json({"data_sets": {name: facts._asdict() for name, facts in found.items()}})
        return
    rows = [
        [name, f"{a.vocabulary:,}", f"{a.n_texts:,}", f"{a.words:.1f}", str(a.n_classes), f"{a.ratio:.1f}"]
        for name, a in found.items()
    ]
    columns = ["data set", "vocabulary", "texts", "words per text", "classes", "largest by smallest"]
    print_table("Data sets", columns, rows, right=columns[1:])
