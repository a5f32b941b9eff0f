"""Output to the terminal: messages on standard error, results on standard output."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shoal.errors import ShoalError

if TYPE_CHECKING:
    from shoal.clustering import Cluster

SHOWN_EXAMPLES = 2
EXAMPLE_CHARACTERS = 70


def run(app: Callable[[], Any]) -> None:
    """Run a command line; every error becomes a message and an exit code."""
    try:
        app()
    except ShoalError as error:
        say(str(error), prefix="Error: ")
        sys.exit(error.exit_code)
    except SystemExit as ending:
        if ending.code == 130:  # Ctrl-C in typer
            say("Interrupted.")
        raise
    except Exception as error:
        if os.environ.get("SHOAL_DEBUG"):
            raise
        if isinstance(error, OSError):  # a full disk, a folder without permission
            say(str(error), prefix="Error: ")
            sys.exit(1)
        say(f"{type(error).__name__}: {error}", prefix="Unexpected error: ")
        say("This is a bug in Shoal; please report it. SHOAL_DEBUG=1 shows where it happened.")
        sys.exit(1)


def say(message: str, prefix: str = "") -> None:
    """Print a message to standard error, without rich markup; ``prefix`` comes before it in red."""
    from rich.console import Console
    from rich.text import Text

    Console(stderr=True, soft_wrap=True, highlight=False).print(Text.assemble((prefix, "red"), message))


def print_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object to standard output."""
    sys.stdout.write(json.dumps(content, ensure_ascii=False, indent=2) + "\n")
    sys.stdout.flush()


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()) -> None:
    """Print a table to standard output; the columns named in ``right`` are right-aligned."""
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    console = Console(highlight=False)
    if not console.is_terminal:  # a file or a pipe has no width
        console = Console(highlight=False, width=160)
    console.print(table)


def print_clusters(clusters: Sequence[Cluster], n_texts: int, *, keywords_by: str | None = None) -> None:
    """Print the clusters, largest first, with name, size and the texts nearest the centre.

    With ``keywords_by``, the name of the method, their keywords are printed instead of the texts.
    """
    rows = []
    for cluster in sorted(clusters, key=lambda cluster: -cluster.size):
        examples = "\n".join(shortened(text) for text in cluster.examples[:SHOWN_EXAMPLES])
        last = examples if keywords_by is None else ", ".join(cluster.keywords)
        share = f"{100 * cluster.size / max(n_texts, 1):.1f} %"
        rows.append([str(cluster.id), cluster.name, str(cluster.size), share, last])
    title = f"{len(clusters)} clusters of {n_texts} texts" + (f", by {keywords_by}" if keywords_by else "")
    last_column = "nearest the centre" if keywords_by is None else "keywords"
    print_table(title, ["", "name", "texts", "share", last_column], rows, right=["", "texts", "share"])


def print_scores(scores: Mapping[str, float]) -> None:
    """Print scores in percent on one line."""
    sys.stdout.write("  ".join(f"{name.upper()} {value:.1f}" for name, value in scores.items()) + "\n")


def shortened(text: str, length: int = EXAMPLE_CHARACTERS) -> str:
    """Return the text on one line, cut to ``length`` characters.

    Examples
    --------
    >>> shortened("a very long text", 10)
    'a very lo…'
    """
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"
