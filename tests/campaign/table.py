"""What an attack found, and the table of them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Attack:
    """One attack: what was tried, what went wrong, and the files that are needed to try it again."""

    chapter: str
    what: str
    failure: str = ""
    files: tuple[Path, ...] = ()


def table_of(attacks: Iterable[Attack]) -> str:
    """Return a Markdown table, one row per chapter: how many were tried, how many failed."""
    tried, failed = Counter[str](), Counter[str]()
    for attack in attacks:
        tried[attack.chapter] += 1
        failed[attack.chapter] += bool(attack.failure)
    rows = [f"| {chapter} | {count} | {failed[chapter]} |" for chapter, count in tried.items()]
    total = f"| all | {sum(tried.values())} | {sum(failed.values())} |"
    return "\n".join(["| attack | tried | failed |", "| --- | ---: | ---: |", *rows, total])
