"""``shoal map``: the map of a run as a picture."""

from __future__ import annotations

from pathlib import Path

import typer

EXAMPLES = """
Examples:

    shoal map runs/tickets-shoal-1 --out map.svg

    shoal map runs/tickets-shoal-1 --out figures/map.pdf --no-names
"""


def map_(
    run: Path = typer.Argument(..., help="A run folder of `shoal fit`."),
    out: Path = typer.Option(..., help="The picture: a name that ends with .svg, .png or .pdf."),
    names: bool = typer.Option(True, "--names/--no-names", help="Write the names of the clusters."),
    dpi: int = typer.Option(200, min=30, max=1200, help="Dots per inch of a png."),
) -> None:
    """Draw the map of a run for a paper or a slide; needs the extra `report`."""
    from shoal.cli.console import say
    from shoal.methods.reporting import place_texts
    from shoal.report import Contents
    from shoal.report.picture import save_map
    from shoal.run_folder import RunFolder

    folder = RunFolder.open(run)
    place_texts(folder)
    say(f"Saved to {save_map(Contents.read(folder), out, names=names, dpi=dpi)}.")
