"""``shoal cut``: a run at another number of clusters."""

from __future__ import annotations

from pathlib import Path

import typer

from shoal.cli.tables import Json, Overwrite

EXAMPLES = """
Examples:

    shoal cut runs/tickets-shoal-1 --level coarse

    shoal cut runs/tickets-shoal-1 --clusters 12 --out runs/twelve
"""


def cut(
    run: Path = typer.Argument(..., help="A run folder of `shoal fit`."),
    clusters: int | None = typer.Option(None, help="The number of clusters, up to twice that of the run."),
    level: str | None = typer.Option(None, help="coarse, medium or fine, instead of a number."),
    out: Path | None = typer.Option(None, help="The new run folder.  [default: RUN-cut-K-N]", show_default=False),
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Join the clusters of a run to fewer, or divide them into more, without training again; predict follows."""
    from shoal.cli.fit import report
    from shoal.cutting import cut_run
    from shoal.errors import ParameterError

    wanted = [each for each in (clusters, level) if each is not None]
    if len(wanted) != 1:
        raise ParameterError("pass either --clusters NUMBER or --level coarse, medium or fine.")
    report(cut_run(run, wanted[0], out, overwrite=overwrite), as_json=json)
