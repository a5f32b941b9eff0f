"""The command line: one file per command, heavy imports inside the command."""

from __future__ import annotations

import typer

from shoal.cli import (
    augment,
    compare,
    cut,
    demo,
    doctor,
    fit,
    inspect,
    map,
    methods,
    predict,
    report,
    score,
    show,
    suggest_k,
)
from shoal.cli.console import run

EXIT_CODES = """
Exit codes: 0 done; 1 the system or a bug; 2 wrong usage; 3 input; 4 parameter; 5 missing optional package;
6 model; 7 run folder; 8 engine; 130 interrupted.
"""

app = typer.Typer(
    name="shoal",
    help="Group short texts by meaning, name the groups, and sort new texts the same way.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(epilog=fit.EXAMPLES)(fit.fit)
app.command(epilog=predict.EXAMPLES)(predict.predict)
app.command("suggest-k", epilog=suggest_k.EXAMPLES)(suggest_k.suggest_k)
app.command(epilog=cut.EXAMPLES)(cut.cut)
app.command(epilog=show.EXAMPLES)(show.show)
app.command(epilog=report.EXAMPLES)(report.report)
app.command("map", epilog=map.EXAMPLES)(map.map_)
app.command(epilog=compare.EXAMPLES)(compare.compare)
app.command(epilog=score.EXAMPLES)(score.score)
app.command(epilog=inspect.EXAMPLES)(inspect.inspect)
app.command(epilog=methods.EXAMPLES)(methods.methods)
app.command(epilog=augment.EXAMPLES)(augment.augment)
app.command(epilog=demo.EXAMPLES)(demo.demo)
app.command(epilog=doctor.EXAMPLES)(doctor.doctor)


@app.callback(invoke_without_command=True)
def _version(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    """Group short texts by meaning, name the groups, and sort new texts the same way."""
    if version:
        from shoal import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line."""
    run(app)
