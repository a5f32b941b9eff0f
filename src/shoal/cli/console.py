"""Output to the terminal: messages on standard error, results on standard output."""

from __future__ import annotations

import io
import json
import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shoal.errors import ShoalError

if TYPE_CHECKING:
    from shoal.clustering import Cluster

SHOWN_EXAMPLES = 2
EXAMPLE_CHARACTERS = 70


# Characters that a terminal obeys instead of showing them: controls but for line ends and tabs, and those that change
# the direction of what follows; lone surrogates, which no terminal can show.
_OBEYED = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\\ud800-\\udfff]")
# What the libraries below say when the machine has run out of something; most have no error of their own for it.
_SYSTEM = re.compile(
    r"No space left|Disk quota|can't allocate memory|Cannot allocate memory|os error \d+", re.IGNORECASE
)
BROKEN_PIPE = 141  # what a shell reports of a program that the pipe has ended
_started = time.perf_counter()  # of the command; at first, of this program


def run(app: Callable[[], Any]) -> None:
    """Run a command line; every error becomes a message and an exit code."""
    global _started
    _started = time.perf_counter()
    _prepare_streams()
    try:
        app()
        sys.stdout.flush()
    except ShoalError as error:
        say(str(error), prefix="Error: ")
        sys.exit(error.exit_code)
    except SystemExit as ending:
        if ending.code == 130:  # Ctrl-C in typer
            say("Interrupted.")
        raise
    except BrokenPipeError:  # the reader, e.g. head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(1)
    except BaseException as error:
        if os.environ.get("SHOAL_DEBUG") or not _is_error(error):
            raise
        if isinstance(error, MemoryError):
            say("there is not enough memory; pass fewer texts, or close other programs.", prefix="Error: ")
        elif isinstance(error, OSError) or _SYSTEM.search(str(error)):  # a full disk, a folder without permission
            say(str(error).partition("\n")[0], prefix="Error: ")
        else:
            say(f"{type(error).__name__}: {error}", prefix="Unexpected error: ")
            say("This is a bug in Shoal; please report it. SHOAL_DEBUG=1 shows where it happened.")
        sys.exit(1)


def elapsed() -> float:
    """Return the seconds since the command was started, with all that it imports, reads and writes."""
    return time.perf_counter() - _started


def _is_error(error: BaseException) -> bool:
    """Tell an error from a request to end; a panic of a library in Rust is no Exception, but an error."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def _prepare_streams() -> None:
    """Make the standard streams usable: none may be closed, and none fails at a character it cannot encode."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - for as long as the program runs
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def shown(text: str) -> str:
    r"""Return a text as a terminal may show it: what it would obey is replaced.

    Examples
    --------
    >>> shown("a\x1b[2Jb")
    'a�[2Jb'
    """
    return _OBEYED.sub("�", text)


def say(message: str, prefix: str = "") -> None:
    """Print a message to standard error, without rich markup; ``prefix`` comes before it in red."""
    from rich.console import Console
    from rich.text import Text

    Console(stderr=True, soft_wrap=True, highlight=False).print(Text.assemble((prefix, "red"), shown(message)))


def print_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object to standard output, in ASCII if that is all it can encode or if a terminal shows it."""
    wide = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8" and not sys.stdout.isatty()
    sys.stdout.write(json.dumps(content, ensure_ascii=not wide, indent=2) + "\n")
    sys.stdout.flush()


def print_csv(content: str) -> None:
    """Print a table to standard output: as it is, in UTF-8, or without what a terminal would obey."""
    if sys.stdout.isatty():
        sys.stdout.write(shown(content))
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.flush()
        sys.stdout.buffer.write(content.encode("utf-8", "backslashreplace"))
        sys.stdout.buffer.flush()
    else:
        sys.stdout.write(content)


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
        table.add_row(*(escape(shown(cell)) for cell in row))
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
