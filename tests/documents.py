"""Documents whose examples are run: blocks of Python and of a console, with what they print."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from shoal.cli import main

ANYTHING = "…"


@dataclass(frozen=True)
class Example:
    """One piece of code or one command, and what it prints; None if the document does not show it."""

    kind: str
    code: str
    output: str | None


def examples_of(document: str) -> list[Example]:
    """Return the examples of a document in order: python blocks, with a text block after them, and $ commands."""
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", document, flags=re.DOTALL | re.MULTILINE)
    examples: list[Example] = []
    for number, (kind, content) in enumerate(blocks):
        if kind == "python":
            following = blocks[number + 1] if number + 1 < len(blocks) else ("", "")
            examples.append(Example(kind, content, following[1] if following[0] == "text" else None))
        if kind == "console":
            for part in re.split(r"^\$ ", content, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                examples.append(Example(kind, command, output))
    return examples


def run_all(document: str) -> None:
    """Run every example of a document, in order and in this folder, and compare what each prints."""
    names: dict[str, object] = {"__name__": "__main__"}
    for example in examples_of(document):
        printed = _run_python(example.code, names) if example.kind == "python" else run_command(example.code)
        if example.output is not None:
            assert matches(example.output, printed), f"{example.code}\nshould print\n{example.output}\nbut\n{printed}"


def run_command(command: str) -> str:
    """Run ``shoal …``, or a command piped into it, and return both of its streams in the order they were written."""
    *source, command = command.split(" | ")
    given = subprocess.run(source[0], shell=True, capture_output=True, check=True).stdout if source else b""
    program, *arguments = shlex.split(command)
    assert program == "shoal", command
    stream, before = io.StringIO(), (sys.argv, sys.stdin)
    sys.argv, sys.stdin = ["shoal", *arguments], io.TextIOWrapper(io.BytesIO(given), encoding="utf-8")
    try:
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            main()
    except SystemExit as ending:
        if ending.code not in (0, None):
            raise AssertionError(f"{command}: {stream.getvalue()}") from ending
    finally:
        sys.argv, sys.stdin = before
    return stream.getvalue()


def matches(shown: str, printed: str) -> bool:
    """Tell whether something was printed as shown: … is anything, on a line of its own any lines; spaces are one.

    Examples
    --------
    >>> matches("a …\\n…\\nz", "a  1\\nb\\nc\\nz"), matches("a …", "b 1")
    (True, False)
    """
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    pattern = ""
    for line in filter(None, lines):
        if line == ANYTHING:
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(map(re.escape, line.split(ANYTHING))) + r"\n"
    content = "".join(" ".join(line.split()) + "\n" for line in printed.splitlines() if line.strip())
    return re.fullmatch(pattern, content) is not None


def _run_python(code: str, names: dict[str, object]) -> str:
    """Run a block of Python with the names of those before it."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        exec(compile(code, "example", "exec"), names)
    return stream.getvalue()


def read(path: Path) -> str:
    """Return a document."""
    return path.read_text(encoding="utf-8")
