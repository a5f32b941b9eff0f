"""A page as a list of blocks, written as Markdown.

A text in a block is plain, except that a pair of backticks marks code; everything else in it is escaped. A text that
is a :class:`Note` is shown in italics as a whole, one that is :class:`Strong` in bold.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


class Note(str):
    """A text in italics: what stands in the place of a figure."""

    __slots__ = ()


class Strong(str):
    """A text in bold."""

    __slots__ = ()


@dataclass(frozen=True)
class Heading:
    """A heading; the page's title has level 1."""

    level: int
    text: str


@dataclass(frozen=True)
class Paragraph:
    """Some sentences."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """A list."""

    items: Sequence[str]


@dataclass(frozen=True)
class Command:
    """A command line to copy."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table; its first ``n_names`` columns hold names, the others figures, which are set flush right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    n_names: int = 1


@dataclass(frozen=True)
class Picture:
    """A picture beside the page, by its path relative to the page, with a title and the words that explain it."""

    path: str
    title: str
    caption: str


Block = Heading | Paragraph | Bullets | Command | Table | Picture

PROSE: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("prose.toml").read_text(encoding="utf-8"))
_CODE = re.compile(r"`([^`]+)`")
# An underscore inside a word is no emphasis in Markdown, and names of data sets are full of them.
_MARKDOWN_SIGNS = re.compile(r"[\\`*<>|\[\]~$#]|(?<!\w)_|_(?!\w)")
_BLANK = re.compile(r"\s+")


def to_markdown(blocks: Sequence[Block]) -> str:
    r"""Return the page as Markdown.

    Parameters
    ----------
    blocks : sequence of Block
        The page.

    Returns
    -------
    str

    Examples
    --------
    >>> rows = [["my_set", Strong("81.0")], ["x|y", Note("not run")]]
    >>> print(to_markdown([Heading(2, "Runs <b>"), Table(["set", "acc"], rows)]), end="")
    ## Runs \<b\>
    <BLANKLINE>
    | set | acc |
    |---|---:|
    | my_set | **81.0** |
    | x\|y | *not run* |
    """
    return "\n\n".join(_block_markdown(block) for block in blocks) + "\n"


def _block_markdown(block: Block) -> str:
    """Return one block as Markdown."""
    match block:
        case Heading(level, text):
            return "#" * level + " " + _inline_markdown(text)
        case Paragraph(text):
            return _inline_markdown(text)
        case Bullets(items):
            return "\n".join("- " + _inline_markdown(item) for item in items)
        case Command(text):
            return f"```sh\n{text}\n```"
        case Table(columns, rows, n_names):
            rule = "|" + "|".join("---" if i < n_names else "---:" for i in range(len(columns))) + "|"
            lines = ["| " + " | ".join(map(_inline_markdown, row)) + " |" for row in (columns, *rows)]
            return "\n".join([lines[0], rule, *lines[1:]])
        case Picture(path, title, caption):
            return f"![{_inline_markdown(title)}]({path})\n\n{_inline_markdown(Note(caption))}"


def _inline_markdown(text: str) -> str:
    """Return a text with every sign escaped that Markdown would read as its own."""
    parts = _CODE.split(_BLANK.sub(" ", text).strip())
    # a bar divides cells even inside code, where only this escape is understood
    codes = ("`" + part.replace("|", r"\|") + "`" for part in parts[1::2])
    plain = (_MARKDOWN_SIGNS.sub(lambda sign: "\\" + sign[0], part).replace("&", "&amp;") for part in parts[::2])
    line = next(plain) + "".join(code + rest for code, rest in zip(codes, plain, strict=True))
    if not line:
        return ""
    mark = {Note: "*", Strong: "**"}.get(type(text), "")
    return mark + line + mark
