"""Labelled texts of a corpus that is made here: drawn per class, and written as a table."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from shoal.errors import ParameterError


def drawn_of_each(classes: Mapping[str, Collection[str]], each: int, seed: int) -> tuple[list[str], list[str]]:
    """Return texts and their classes, so many of a class at the most; a text of several classes is left out.

    Examples
    --------
    >>> drawn_of_each({"chess": {"games"}, "mail reader": {"mail"}, "data": {"games", "mail"}}, each=10, seed=0)
    (['chess', 'mail reader'], ['games', 'mail'])
    """
    texts: dict[str, list[str]] = defaultdict(list)
    for text, of in sorted(classes.items()):
        if len(of) == 1:
            texts[min(of)].append(text)
    rng = random.Random(seed)
    rows = [(text, name) for name in sorted(texts) for text in rng.sample(texts[name], min(each, len(texts[name])))]
    return [text for text, _ in rows], [name for _, name in rows]


def check_new_table(out: Path) -> None:
    """Refuse a file that is there, or whose name does not end in .tsv."""
    if out.exists() or out.suffix != ".tsv":
        raise ParameterError(f"--out {out} exists or does not end in .tsv; pass a new .tsv file.")


def write_table(out: Path, texts: Sequence[str], labels: Sequence[str]) -> None:
    """Write a table with the columns label and text."""
    lines = ["label\ttext", *(f"{label}\t{text}" for text, label in zip(texts, labels, strict=True))]
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")
