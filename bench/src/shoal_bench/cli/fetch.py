"""``shoal-bench fetch``: the data sets, from where they are published."""

from __future__ import annotations

from pathlib import Path

import typer

from shoal.cli.console import print_json, say

EXAMPLES = "\n\n    ".join(
    (
        "\nExamples:",
        "shoal-bench fetch tweet agnews",
        "shoal-bench fetch all --folder ~/text-data",
        "SHOAL_DATA=~/text-data shoal-bench --suite sccl-table1 --tier quick\n\n"
        "Licences: Shoal passes no texts on. They belong to their authors; most sources state no licence, which allows "
        "evaluation on your own machine and no redistribution. The command says for each set what is known.",
    )
)


def fetch(
    names: list[str] = typer.Argument(..., help="Names of data sets, or `all`; `shoal-bench list` shows them."),
    folder: Path | None = typer.Option(None, help="Where the files go; by default the folder that SHOAL_DATA names."),
    json: bool = typer.Option(False, help="Print the result as one JSON object."),
) -> None:
    """Fetch data sets from where they are published, convert them, and compare them with their checksums.

    A set that the folder already has is not fetched again. One whose content is not the declared one is kept under
    another name (NAME.tsv.gz.bad), never used.
    """
    from shoal_bench.data_sets import DATA_SETS, data_folder
    from shoal_bench.fetch import fetch as fetch_data_sets

    place = (folder or data_folder()).expanduser()
    wanted, facts = list(DATA_SETS) if "all" in names else list(dict.fromkeys(names)), {}
    for data_set, already in fetch_data_sets(wanted, place):
        what = "already there" if already else "fetched"
        say(f"{data_set.name}: {what}, {data_set.n_texts} texts, {data_set.n_classes} classes.")
        say(f"  from {data_set.source}; licence: {data_set.licence}.")
        file = str(data_set.file(place))
        facts[data_set.name] = {"file": file, "already": already, "licence": data_set.licence}
    if json:
        print_json({"folder": str(place), "data_sets": facts})
