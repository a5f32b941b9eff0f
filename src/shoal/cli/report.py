"""``shoal report``: the page of a run, made again."""

from __future__ import annotations

from pathlib import Path

import typer

from shoal.cli.tables import Json

EXAMPLES = """
Examples:

    shoal report runs/tickets-shoal-1 --open

    shoal report runs/tickets-shoal-1 --date created --group-by country --out tickets.html
"""


def report(
    run: Path = typer.Argument(..., help="A run folder of `shoal fit`."),
    out: Path | None = typer.Option(
        None, help="Where the page goes.  [default: report.html in the run]", show_default=False
    ),
    date: str | None = typer.Option(None, help="A column with dates: clusters over time.  [default: the run's]"),
    group_by: list[str] = typer.Option(
        [], "--group-by", metavar="COLUMN", help="A column with groups to compare; repeatable.  [default: the run's]"
    ),
    map_by: str | None = typer.Option(None, help="Draw the map again: tsne, or umap (an extra).", metavar="tsne|umap"),
    map_texts: int | None = typer.Option(None, min=1, help="Draw the map again, with at most so many texts."),
    open_: bool = typer.Option(False, "--open", help="Open the page in the browser."),
    json: Json = False,
) -> None:
    """Write the report of a run: map, clusters, confidence and more, in one HTML file that works offline."""
    from shoal.cli.console import print_json, say
    from shoal.errors import DataError
    from shoal.methods.reporting import place_texts
    from shoal.report import Contents, make_report
    from shoal.run_folder import RunFolder

    folder = RunFolder.open(run)
    try:
        asked = {"by": map_by, "max_placed": map_texts}
        place_texts(folder, **{name: value for name, value in asked.items() if value is not None})
    except DataError as reason:
        say(f"Without a map: {reason}")
    contents = Contents.read(folder, date=date, group_by=group_by)
    page = make_report(contents).save(out or folder.report)
    if json:
        print_json({"run": str(run), "report": str(page), "bytes": page.stat().st_size})
    else:
        say(f"Look at it: {page}")
    if open_:
        typer.launch(page.resolve().as_uri())
