"""``shoal compare``: what changed from one run to another."""

from __future__ import annotations

from pathlib import Path

import typer

from shoal.cli.tables import Json, Overwrite

EXAMPLES = """
Examples:

    shoal compare runs/tickets-kmeans-1 runs/tickets-shoal-1

    shoal compare runs/may runs/june --out change.html --json
"""


def compare(
    before: Path = typer.Argument(..., metavar="RUN_A", help="A run folder of `shoal fit`."),
    after: Path = typer.Argument(..., metavar="RUN_B", help="Another, on the same texts or most of them."),
    out: Path | None = typer.Option(None, help="The page.  [default: RUN_A-RUN_B.html]", show_default=False),
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Say which clusters stayed, split, merged, are new or gone, and draw how the texts flowed.

    Texts correspond by their content. Agreement is in percent: texts in corresponding clusters, NMI and ARI.
    """
    from shoal.cli.console import print_json, print_scores, print_table, say
    from shoal.corpus.targets import require_free
    from shoal.report import Contents
    from shoal.report.comparison import compare as compared
    from shoal.report.comparison_page import compare_report
    from shoal.run_folder import RunFolder

    names = [path.resolve().name for path in (before, after)]
    page = out or Path(f"{names[0]}-{names[1]}.html")
    require_free(page, overwrite)
    found = compared(*(Contents.read(RunFolder.open(path)) for path in (before, after)))
    compare_report(found, *names).save(page)
    if json:
        print_json({"before": str(before), "after": str(after), **found.as_json(), "page": str(page)})
        return
    rows = [
        [
            change.kind,
            "\n".join(found.before[k].name for k in change.before),
            "\n".join(found.after[k].name for k in change.after),
            str(change.n_texts),
            f"{100 * change.share:.0f} %",
        ]
        for change in found.changes
    ]
    print_table(
        f"{names[0]} → {names[1]}", ["change", "before", "after", "texts", "in both"], rows, right=["texts", "in both"]
    )
    print_scores(found.agreement)
    only = [
        f"{n} only in {name}"
        for n, name in ((found.n_before - found.n_shared, names[0]), (found.n_after - found.n_shared, names[1]))
        if n
    ]
    say(f"{found.n_shared} texts are in both runs{', ' if only else ''}{', '.join(only)}. Look at it: {page}")
