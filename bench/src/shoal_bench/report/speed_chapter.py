"""The speed suite as a chapter of the page: ratios to a reference, and growth with the number of texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from shoal_bench.report import pictures
from shoal_bench.report.page import PROSE, Block, Bullets, Command, Heading, Paragraph, Picture, Strong, Table
from shoal_bench.results import OK, Record
from shoal_bench.speed.figures import exponents
from shoal_bench.speed.plan import GROWTHS, KIND, RATIOS, SPEED_TIERS

NOTHING = "-"
QUANTITIES = {
    "seconds": "time",
    "encode_seconds": "of which encoding",
    "other_seconds": "the rest",
    "peak_memory_mb": "peak memory",
}
# Records that agree in these measure the same thing; the latest counts.
IDENTITY = ("measure", "n_texts", "threads", "method", "backbone", "texts")


def speed_chapter(records: Sequence[Record], folder: Path, place: str) -> list[Block]:
    """Return the chapter on speed, and draw its pictures; nothing if nothing was measured.

    Parameters
    ----------
    records : sequence of dict
        All results, in the order of the file.
    folder : Path
        The folder of the page.
    place : str
        Where in it the pictures go.

    Returns
    -------
    list of Block
    """
    taken = [record for record in records if record.get("kind") == KIND and record["status"] == OK]
    if not taken:
        return []
    blocks: list[Block] = [
        Heading(2, "Speed"),
        Command(f"shoal-bench --suite speed --tier {_tier(taken)}"),
        Paragraph(PROSE["page"]["speed"]),
    ]
    compared = _latest(record for record in taken if record["measure"] in RATIOS)
    if compared:
        file = f"{place}/speed-ratios.png"
        names = [record["measure"] for record in compared]
        draw = partial(pictures.ratios, records=compared, names=names)
        pictures.save(folder / file, (7, 0.38 * len(names) + 0.8), draw)
        title = "Times as fast as the reference"
        blocks += [_ratio_table(compared), Picture(file, title, f"{title}: the median, and a point for every turn.")]
    curves = _curves(taken)
    if curves:
        file = f"{place}/speed-growth.png"
        pictures.save(folder / file, (8.4, 3.6), partial(pictures.growth, curves=curves))
        title = "Time and memory by the number of texts"
        blocks += [
            Heading(3, "Growth"),
            *_growth_words(curves),
            Picture(file, title, f"{title}, both axes by their logarithms."),
            *(block for name, curve in curves.items() for block in (Paragraph(f"{name}:"), _growth_table(curve))),
        ]
    return blocks


def _latest(records: Iterable[Record]) -> list[Record]:
    """Return the last record of every measure at its size and threads, in the order of the plan."""
    last: dict[tuple[Any, ...], Record] = {}
    for record in records:
        last[tuple(record.get(name) for name in IDENTITY)] = record
    order = [*RATIOS, *GROWTHS]
    return sorted(last.values(), key=lambda record: (order.index(record["measure"]), record["n_texts"]))


def _curves(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Return the records of each growth, by what is told apart in the picture."""
    curves: dict[str, list[Record]] = {}
    for record in _latest(record for record in records if record["measure"] in GROWTHS):
        threads = f"{record['threads']} thread{'s' if record['threads'] > 1 else ''}"
        name = f"{GROWTHS[record['measure']]} ({record['method']}, {threads})"
        curves.setdefault(name, []).append(record)
    return curves


def _tier(records: Sequence[Record]) -> str:
    """Return the smallest tier that reaches the largest size measured."""
    largest = max(record["n_texts"] for record in records)
    return next((name for name, tier in SPEED_TIERS.items() if max(tier.sizes) >= largest), "paper")


def _ratio_table(records: Sequence[Record]) -> Table:
    """Return the ratios."""
    rows = [
        [
            RATIOS[record["measure"]],
            record["reference"],
            Strong(f"{record['ratio']:.2f}"),
            f"{min(record['ratios']):.2f} to {max(record['ratios']):.2f}",
            f"{record['n_texts'] / record['seconds']:,.0f}",
            f"{record['n_texts']:,}",
            record["texts"],
            str(record["threads"]),
        ]
        for record in records
    ]
    columns = ["what", "reference", "ratio", "turns", "texts per second", "texts", "from", "threads"]
    return Table(columns, rows, n_names=2)


def _growth_table(records: Sequence[Record]) -> Table:
    """Return the sizes of one growth."""
    columns = ["texts", "seconds", "encoding", "rest", "peak memory, MB", "texts from"]
    rows = [
        [
            f"{record['n_texts']:,}",
            *(_shown(record.get(name)) for name in ("seconds", "encode_seconds", "other_seconds")),
            _shown(record.get("peak_memory_mb"), 0),
            record["texts"] + (", repeated with small changes" if record.get("repeated_texts") else ""),
        ]
        for record in records
    ]
    return Table(columns, rows, n_names=0)


def _growth_words(curves: Mapping[str, Sequence[Record]]) -> list[Block]:
    """Give the fitted exponents: 1 is in proportion to the number of texts."""
    items = []
    for name, records in curves.items():
        fitted = exponents(records)
        parts = [f"{word} n^{fitted[key]:.2f}" for key, word in QUANTITIES.items() if fitted.get(key) is not None]
        if parts:
            items.append(f"{name}: {', '.join(parts)} ({records[0]['n_texts']:,} to {records[-1]['n_texts']:,} texts).")
    return [Paragraph(PROSE["page"]["growth"]), Bullets(items)] if items else []


def _shown(value: float | None, digits: int = 2) -> str:
    """Show a number, or that there is none."""
    return NOTHING if value is None else f"{value:,.{digits}f}"
