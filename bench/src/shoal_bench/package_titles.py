"""A corpus that every Debian machine has: the titles of Debian's packages, with their sections as classes."""

from __future__ import annotations

import re
from collections import defaultdict

from shoal_bench.drawn_texts import drawn_of_each

# Sections that say what a package is for, and sections that say which language it is written in or for.
KINDS = {
    "topics": (
        "admin", "database", "editors", "electronics", "fonts", "games", "gnu-r", "graphics", "hamradio", "haskell",
        "localization", "mail", "math", "net", "science", "sound", "text", "video", "web", "x11",
    ),
    "languages": (
        "gnu-r", "golang", "haskell", "java", "javascript", "lisp", "ocaml", "perl", "php", "python", "ruby", "rust",
    ),
}  # fmt: skip


def package_titles(catalogue: str, kind: str, each: int, seed: int = 0) -> tuple[list[str], list[str]]:
    r"""Return distinct titles and their sections.

    Parameters
    ----------
    catalogue : str
        What ``apt-cache dumpavail`` prints.
    kind : str
        ``topics`` or ``languages``: which sections.
    each : int
        How many titles of a section at the most, drawn at random; a title that two sections have is left out.
    seed : int, default=0
        Draws them.

    Examples
    --------
    >>> chess, reader = "Section: games\nDescription: chess", "Section: non-free/mail\nDescription: mail reader"
    >>> package_titles(f"{chess}\n\n{reader}", "topics", each=10)
    (['chess', 'mail reader'], ['games', 'mail'])
    """
    sections: dict[str, set[str]] = defaultdict(set)
    for package in catalogue.split("\n\n"):
        section = re.search(r"^Section: (?:.*/)?(.+)$", package, re.MULTILINE)
        title = re.search(r"^Description(?:-en)?: (.+)$", package, re.MULTILINE)
        if section and title and section[1] in KINDS[kind]:
            sections[title[1].strip()].add(section[1])
    return drawn_of_each(sections, each, seed)
