"""A page as a list of blocks, written as Markdown or as one self-contained HTML file.

A text in a block is plain, except that a pair of backticks marks code; everything else in it is escaped. A text that
is a :class:`Note` is shown in italics as a whole, one that is :class:`Strong` in bold.
"""

from __future__ import annotations

import base64
import html
import re
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


def to_html(blocks: Sequence[Block], folder: Path) -> str:
    """Return the page as one HTML file that needs nothing beside it.

    Parameters
    ----------
    blocks : sequence of Block
        The page; its first heading is the title.
    folder : Path
        Where the pictures' paths begin; the pictures are put into the page.

    Returns
    -------
    str

    Examples
    --------
    >>> page = to_html([Heading(1, "Runs & <b>"), Paragraph("All of `x`.")], Path("."))
    >>> "<title>Runs &amp; &lt;b&gt;</title>" in page, "<p>All of <code>x</code>.</p>" in page
    (True, True)
    """
    title = next((block.text for block in blocks if isinstance(block, Heading)), "")
    chapters = [block.text for block in blocks if isinstance(block, Heading) and block.level == 2]
    links = "".join(f'<li><a href="#{_anchor(text)}">{_inline_html(text)}</a></li>' for text in chapters)
    body = [_block_html(block, folder) for block in blocks]
    return _FRAME.format(
        title=html.escape(title), style=_STYLE, links=f"<nav><ul>{links}</ul></nav>", body="\n".join(body)
    )


def _block_html(block: Block, folder: Path) -> str:
    """Return one block as HTML."""
    match block:
        case Heading(level, text):
            place = f' id="{_anchor(text)}"' if level == 2 else ""
            return f"<h{level}{place}>{_inline_html(text)}</h{level}>"
        case Paragraph(text):
            return f"<p>{_inline_html(text)}</p>"
        case Bullets(items):
            return "<ul>" + "".join(f"<li>{_inline_html(item)}</li>" for item in items) + "</ul>"
        case Command(text):
            return f"<pre><code>{html.escape(text)}</code></pre>"
        case Table():
            return _table_html(block)
        case Picture(path, title, caption):
            content = base64.b64encode((folder / path).read_bytes()).decode("ascii")
            image = f'<img alt="{html.escape(title)}" src="data:image/png;base64,{content}">'
            return f"<figure>{image}<figcaption>{_inline_html(caption)}</figcaption></figure>"


def _table_html(table: Table) -> str:
    """Return a table; a line is drawn above every row that begins with a name."""
    head = "".join(f'<th scope="col">{_inline_html(column)}</th>' for column in table.columns)
    body = ""
    for row in table.rows:
        cells = (
            f'<td class="{"name" if i < table.n_names else "figure"}">{_inline_html(cell)}</td>'
            for i, cell in enumerate(row)
        )
        body += f"<tr{' class=first' if row[0] else ''}>{''.join(cells)}</tr>\n"
    return f'<div class="table"><table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'


def _inline_html(text: str) -> str:
    """Return a text with everything escaped, pairs of backticks as code."""
    line = _CODE.sub(r"<code>\1</code>", html.escape(_BLANK.sub(" ", text).strip()))
    tag = {Note: "em", Strong: "strong"}.get(type(text))
    return f"<{tag}>{line}</{tag}>" if tag and line else line


def _anchor(text: str) -> str:
    """Return a heading as the name of a place in the page."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


_FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{links}
<main>
{body}
</main>
</body>
</html>
"""

_STYLE = """
:root { color-scheme: light dark; --ink: #1f2933; --faint: #64707d; --line: #d8dee4; --paper: #fff; --soft: #f4f6f8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #dfe5ea; --faint: #98a4af; --line: #38424c; --paper: #14191e; --soft: #1e252c; }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
main, nav { max-width: 70rem; margin: 0 auto; padding: 0 1.25rem; }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; padding: 1rem 0 0; margin: 0; }
nav a { color: inherit; font-size: .9rem; }
h1 { line-height: 1.2; } h2 { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1.5rem; }
.table { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
th { text-align: right; font-weight: 600; border-bottom: 2px solid var(--line); }
th:first-child { text-align: left; }
th, td { padding: .22rem .7rem; white-space: nowrap; }
td.figure { text-align: right; } td.name { white-space: normal; }
tr.first td { border-top: 1px solid var(--line); }
em { color: var(--faint); }
pre, code { background: var(--soft); border-radius: 4px; font-size: .9em; }
pre { padding: .7rem 1rem; overflow-x: auto; } code { padding: .1em .3em; } pre code { padding: 0; }
figure { margin: 1.5rem 0; } img { max-width: 100%; height: auto; background: #fff; border-radius: 6px; }
figcaption { color: var(--faint); font-size: .88rem; }
"""
