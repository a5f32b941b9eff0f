"""Corpora in many languages: sentences made from parallel phrases, and descriptions of Debian's packages."""

from __future__ import annotations

import bz2
import lzma
import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shoal.errors import DataError

# Sections of packages that are topics, and how many descriptions of each are taken.
SECTIONS = ("games", "sound", "graphics", "science", "mail", "net", "fonts", "text")
PER_SECTION = 60
MIXED = "mixed"


class Corpus(NamedTuple):
    """Texts with their topics and languages."""

    texts: list[str]
    topics: list[str]
    languages: list[str]

    def of(self, language: str) -> Corpus:
        """Return the texts in one language."""
        rows = [i for i, each in enumerate(self.languages) if each == language]
        return Corpus(*([column[i] for i in rows] for column in self))


def parallel_sentences() -> Corpus:
    """Return sentences that say the same in ten languages: every subject, predicate and time of a topic combined.

    Examples
    --------
    >>> corpus = parallel_sentences()
    >>> len(corpus.texts), len(set(corpus.topics)), len(set(corpus.languages))
    (2160, 6, 10)
    >>> corpus.of("de").texts[0]
    'heute der Stürmer gewinnt das Fußballspiel'
    """
    content: dict[str, Any] = tomllib.loads((files("shoal_bench") / "parallel.toml").read_text(encoding="utf-8"))
    topics = content.pop("topics")
    rows = [
        (own.get("joint", " ").join((time, subject, predicate)), topic, code)
        for code, own in content.items()
        for topic, subjects, predicates in zip(topics, own["subjects"], own["predicates"], strict=True)
        for subject in subjects
        for predicate in predicates
        for time in own["times"]
    ]
    return Corpus(*map(list, zip(*rows, strict=True)))


def package_descriptions(folder: Path, seed: int, *, long: bool = False) -> Corpus:
    """Return descriptions of Debian's packages in the languages that a folder has, with their sections as topics.

    Parameters
    ----------
    folder : Path
        With ``Packages.xz`` of a release and ``Translation-XX.bz2`` of some languages, from any Debian mirror.
    seed : int
        Draws the packages.
    long : bool, default=False
        Take the whole description instead of its first line.
    """
    if not (folder / "Packages.xz").is_file():
        raise DataError(f"{folder} has no Packages.xz; copy it and Translation-XX.bz2 there from a Debian mirror.")
    packages = lzma.decompress((folder / "Packages.xz").read_bytes()).decode()
    section = dict(re.findall(r"^Package: (.*)\n(?:.+\n)*?Section: (.*)$", packages, re.MULTILINE))
    rows = []
    for file in sorted(folder.glob("Translation-*.bz2")):
        code = file.name.split("-")[1].split(".")[0]
        found = dict(_descriptions(bz2.decompress(file.read_bytes()).decode(), long))
        rng = np.random.RandomState(seed)
        for topic in SECTIONS:
            own = sorted({found[name] for name in found if section.get(name) == topic})
            rows += [(own[i], topic, code) for i in rng.permutation(len(own))[:PER_SECTION]]
    return Corpus(*map(list, zip(*rows, strict=True)))


def _descriptions(content: str, long: bool) -> Iterator[tuple[str, str]]:
    """Yield the packages of a catalogue with their descriptions."""
    pattern = r"^Package: (.*)\n(?:.+\n)*?Description-(?!md5)\w+: (.*)\n((?: .*\n?)*)"
    for name, title, body in re.findall(pattern, content, re.MULTILINE):
        yield name, f"{title}. {' '.join(body.replace(' .', '').split())}" if long else title
