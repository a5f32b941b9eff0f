"""``shoal-bench packages``: a corpus with known classes that every Debian machine has."""

from __future__ import annotations

import subprocess
from pathlib import Path

import typer

from shoal_bench.package_titles import KINDS

EXAMPLES = "\n\n    ".join(
    (
        "\nExamples:",
        "shoal-bench packages --kind topics --out topics.tsv",
        "shoal fit topics.tsv --text text --label label --clusters 20 --json",
    )
)


def packages(
    out: Path = typer.Option(..., help="A new .tsv file with the columns label and text."),
    kind: str = typer.Option("topics", help=f"Which sections are the classes: {' or '.join(KINDS)}."),
    each: int = typer.Option(600, min=1, help="Titles of a section at the most."),
    seed: int = typer.Option(0, min=0, help="The seed."),
) -> None:
    """Write the titles of Debian's packages, with their sections as classes.

    They are those that `apt-cache dumpavail` prints on this machine. They had a hand in how the number of
    clusters is found, and in no constant of the default method with the number given.
    """
    from shoal.cli.console import say
    from shoal.errors import DataError, ParameterError
    from shoal_bench.drawn_texts import check_new_table, write_table
    from shoal_bench.package_titles import package_titles

    if kind not in KINDS:
        raise ParameterError(f"--kind {kind!r} is unknown; pass {' or '.join(KINDS)}.")
    check_new_table(out)
    try:
        catalogue = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, check=True).stdout.decode()
    except (OSError, subprocess.CalledProcessError) as reason:
        raise DataError(f"apt-cache cannot be run ({reason}); a Debian machine is needed.") from reason
    titles, sections = package_titles(catalogue, kind, each, seed)
    if not titles:
        raise DataError("apt-cache knows no packages of these sections; run `apt-get update` first.")
    write_table(out, titles, sections)
    say(f"{len(titles)} titles of {len(set(sections))} sections: {out}")
