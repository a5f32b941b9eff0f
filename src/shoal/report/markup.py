"""HTML and SVG as nested elements. Every string is escaped here, so that no text can become markup."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

# Control characters, shown by the symbols that Unicode has for them.
_CONTROL = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {127: 0x2421}
# Characters that turn the direction of everything after them, and others without a width.
_INVISIBLE = re.compile("[\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")
_VOID = {"br", "col", "hr", "input", "link", "meta"}


class Markup(str):
    """A string that is HTML already."""

    __slots__ = ()


def element(tag: str, *children: object, **attributes: object) -> Markup:
    """Return an HTML element; children that are not markup are escaped.

    Parameters
    ----------
    tag : str
        Its name.
    children : str, number, Markup, None or iterables of them
        What is in it; None is omitted.
    attributes : str, number, bool or None
        Its attributes. A trailing underscore is dropped and others become hyphens; True is an attribute without a
        value, False and None are omitted.

    Examples
    --------
    >>> element("p", "a < b", element("b", 3), class_="x")
    '<p class="x">a &lt; b<b>3</b></p>'
    """
    written = []
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        key = name.rstrip("_").replace("_", "-")
        written.append(f" {key}" if value is True else f' {key}="{html.escape(visible(str(value)), quote=True)}"')
    opening = f"<{tag}{''.join(written)}>"
    if tag in _VOID:
        return Markup(opening)
    return Markup(f"{opening}{join(*children)}</{tag}>")


def join(*children: object) -> Markup:
    """Return children one after the other, escaped unless they are markup."""
    parts = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, Markup):
            parts.append(str(child))
        elif isinstance(child, str):
            parts.append(html.escape(visible(child), quote=False))
        elif isinstance(child, Iterable):
            parts.append(str(join(*child)))
        else:
            parts.append(html.escape(str(child), quote=False))
    return Markup("".join(parts))


def visible(text: str) -> str:
    """Return a text without control characters: those are shown as symbols, invisible ones removed.

    Examples
    --------
    >>> visible("a" + chr(0) + "b" + chr(0x202E))
    'a␀b'
    """
    return _INVISIBLE.sub("", text).translate(_CONTROL)


def shortened(text: str, length: int) -> str:
    """Return a text on one line, cut to ``length`` characters.

    Examples
    --------
    >>> shortened("a  long text", 6)
    'a lon…'
    """
    line = " ".join(text[: 4 * length].split())
    return line if len(line) <= length and len(text) <= 4 * length else line[: length - 1] + "…"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> count(1, "text"), count(1200, "text")
    ('1 text', '1,200 texts')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def percent(share: float, digits: int = 0) -> str:
    """Return a share in percent.

    Examples
    --------
    >>> percent(0.123)
    '12 %'
    """
    return f"{100 * share:.{digits}f} %"
