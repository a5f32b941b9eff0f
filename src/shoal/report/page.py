"""One self-contained HTML file: style, script and data inside, and a policy that lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from shoal._version import __version__
from shoal.report.colours import DARK, LIGHT
from shoal.report.markup import Markup, element, join

_FOLDER = files(__package__) / "page"
_SCRIPTS = ("map.js", "explore.js", "page.js")
_DARK_THEME = (
    "--paper: #131a21; --ground: #0c1116; --ink: #edf2f7; --muted: #a3b1bf; --line: #2b3641; --accent: #79b8ff; "
    "--accent-ink: #0c1116; --good: #6fd08c; --bad: #ff8f7d; --heat: #79b8ff; color-scheme: dark;"
)


def page(title: str, body: Markup, data: Mapping[str, Any] | None = None) -> str:
    """Return a page that needs nothing but itself.

    Parameters
    ----------
    title : str
        The title of the window.
    body : Markup
        What is on the page.
    data : mapping, optional
        What the script works on.
    """
    style = _style()
    script = "(() => {\n" + "\n".join(_read(name) for name in _SCRIPTS) + "})();\n"
    # Inside a script element only "<" can end the data; as an escape it means the same to JSON.
    written = json.dumps(data or {}, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    parts = {
        "policy": f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        "version": __version__,
        "title": join(title),
        "style": style,
        "body": body,
        "data": Markup(f'<script type="application/json" id="data">{written}</script>'),
        "script": script,
    }
    return re.sub(r"\{(\w+)\}", lambda found: parts[found[1]], _read("page.html"))


def header(title: str, subtitle: str, sections: Mapping[str, str]) -> Markup:
    """Return the head of a page, with links to its sections, by id."""
    links = [element("a", name, href=f"#{key}") for key, name in sections.items()]
    return join(
        element("a", "Skip to the clusters", class_="skip", href="#cards-section")
        if "cards-section" in sections
        else "",
        element(
            "header",
            element("div", element("h1", title, dir="auto"), element("p", subtitle, class_="muted")),
            element("nav", links, aria_label="Sections") if links else None,
            element("button", "Dark", type="button", class_="quiet", id="theme"),
            class_="top",
        ),
    )


def _style() -> str:
    """Return the style sheet, with the dark theme and the colours of both."""

    def colours(palette: tuple[str, ...], scope: str = "") -> str:
        return "\n".join(f"{scope} .c{number} {{ --c: {colour}; }}" for number, colour in enumerate(palette))

    dark = (
        f"{colours(LIGHT)}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root:not([data-theme='light']) {{ {_DARK_THEME} }}\n"
        f"{colours(DARK, ':root:not([data-theme=light])')} }}\n"
        f"@media screen {{ :root[data-theme='dark'] {{ {_DARK_THEME} }}\n{colours(DARK, ':root[data-theme=dark]')} }}"
    )
    return _read("page.css").replace("/* dark */", dark)


def _read(name: str) -> str:
    """Read a file of the page."""
    return (_FOLDER / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    """Return what the policy calls an inline script or style by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode("ascii")
