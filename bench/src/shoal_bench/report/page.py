"""A page as a list of blocks of Markdown.

A text in a block is plain, except that a pair of backticks marks code; everything else in it is escaped. A text that
is a :class:`Note` is shown in italics as a whole, one that is :class:`Strong` in bold. A block of nothing is "".
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

PROSE: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("prose.toml").read_text(encoding="utf-8"))
NOTHING = "-"
_CODE = re.compile(r"`([^`]+)`")
# An underscore inside a word is no emphasis in Markdown, and names of data sets are full of them.
_MARKDOWN_SIGNS = re.compile(r"[\\`*<>|\[\]~$#]|(?<!\w)_|_(?!\w)")


class Note(str):
    """A text in italics: what stands in the place of a figure."""

    __slots__ = ()


class Strong(str):
    """A text in bold."""

    __slots__ = ()


def inline(text: str) -> str:
    """Return a text with every sign escaped that Markdown would read as its own."""
    parts = _CODE.split(" ".join(text.split()))
    # a bar divides cells even inside code, where only this escape is understood
    codes = ("`" + part.replace("|", r"\|") + "`" for part in parts[1::2])
    plain = (_MARKDOWN_SIGNS.sub(lambda sign: "\\" + sign[0], part).replace("&", "&amp;") for part in parts[::2])
    line = next(plain) + "".join(code + rest for code, rest in zip(codes, plain, strict=True))
    mark = {Note: "*", Strong: "**"}.get(type(text), "") if line else ""
    return mark + line + mark


def section(level: int, title: str, *blocks: str) -> list[str]:
    """Return a heading and what is beneath it; nothing if there is nothing beneath it."""
    return [f"{'#' * level} {inline(title)}", *filter(None, blocks)] if any(blocks) else []


def bullets(items: Sequence[str]) -> str:
    """Return a list."""
    return "\n".join("- " + inline(item) for item in items)


def command(line: str) -> str:
    """Return a command line to copy."""
    return f"```sh\n{line}\n```"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], n_names: int = 1) -> str:
    r"""Return a table; its first ``n_names`` columns hold names, the others figures, which are set flush right.

    Examples
    --------
    >>> print(table(["set", "acc"], [["my_set", Strong("81.0")], ["x|y", Note("not run")]]))
    | set | acc |
    |---|---:|
    | my_set | **81.0** |
    | x\|y | *not run* |
    """
    rule = "|" + "|".join("---" if i < n_names else "---:" for i in range(len(columns))) + "|"
    head, *lines = ["| " + " | ".join(map(inline, row)) + " |" for row in (columns, *rows)]
    return "\n".join([head, rule, *lines]) if rows else ""


def figure(value: float | None, digits: int = 1) -> str:
    """Show a number, or that there is none.

    Examples
    --------
    >>> figure(1234.56), figure(None)
    ('1,234.6', '-')
    """
    return NOTHING if value is None else f"{value:,.{digits}f}"


def signed(value: float | None) -> str:
    """Show a difference.

    Examples
    --------
    >>> signed(1.26), signed(-0.5), signed(-0.04), signed(None)
    ('+1.3', '-0.5', '0.0', '-')
    """
    return f"{value:+.1f}" if value is not None and round(value, 1) else figure(value and abs(value))
