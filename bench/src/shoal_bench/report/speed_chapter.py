"""The speed suite as a chapter of the page: ratios to a reference, and growth with the number of texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shoal_bench.report.drawing import COLOURS, INK, Album, Drawing, in_panels, log_scale, style
from shoal_bench.report.page import PROSE, Strong, bullets, command, figure, inline, section, table
from shoal_bench.results import OK, Record
from shoal_bench.speed.figures import exponents
from shoal_bench.speed.plan import GROWTHS, KIND, MEASURES, RATIOS
from shoal_bench.tiers import TIERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUANTITIES = {
    "seconds": "time",
    "encode_seconds": "of which encoding",
    "other_seconds": "the rest",
    "peak_memory_mb": "peak memory",
}
# Records that agree in these measure the same thing; the latest counts.
IDENTITY = ("measure", "n_texts", "threads", "method", "backbone", "texts")

Curves = Mapping[str, Sequence[Record]]


def speed_chapter(records: Sequence[Record], album: Album) -> list[str]:
    """Return the chapter on speed, and draw its pictures; nothing if nothing was measured.

    Parameters
    ----------
    records : sequence of dict
        All results, in the order of the file.
    album : Album
        Where the pictures go.

    Returns
    -------
    list of str
    """
    taken = [record for record in records if record.get("kind") == KIND and record["status"] == OK]
    if not taken:
        return []
    largest = max(record["n_texts"] for record in taken)
    tier = next((name for name, tier in TIERS.items() if max(tier.speed.sizes) >= largest), "paper")
    compared = _latest(record for record in taken if record["measure"] in RATIOS)
    curves: dict[str, list[Record]] = {}
    for record in _latest(record for record in taken if record["measure"] in GROWTHS):
        threads = f"{record['threads']} thread{'s' if record['threads'] > 1 else ''}"
        name = f"{GROWTHS[record['measure']]} ({record['method']}, {threads})"
        curves.setdefault(name, []).append(record)
    blocks = section(2, "Speed", command(f"shoal-bench --suite speed --tier {tier}"), inline(PROSE["page"]["speed"]))
    if compared:
        blocks += [_ratio_table(compared), *(album.add("speed", drawing) for drawing in ratios(compared))]
    exponents_of = bullets(_exponent_lines(curves))
    tables = [block for name, curve in curves.items() for block in (inline(f"{name}:"), _growth_table(curve))]
    pictures = [album.add("speed", drawing) for drawing in growth(curves)]
    return blocks + section(
        3, "Growth", inline(PROSE["page"]["growth"]) if exponents_of else "", exponents_of, *pictures, *tables
    )


def ratios(records: Sequence[Record]) -> list[Drawing]:
    """Show how many times as fast as its reference each measure is: the median, and a point for every turn."""

    def draw(panel: Axes, records: Sequence[Record]) -> None:
        for place, record in enumerate(records):
            panel.barh(place, record["ratio"], 0.6, color=COLOURS[0], alpha=0.85)
            turns = record.get("ratios") or []
            panel.plot(turns, [place] * len(turns), "o", color=INK, markersize=3)
        panel.axvline(1, color=COLOURS[1], linestyle=":", linewidth=1.4)
        panel.set_yticks(range(len(records)), [record["measure"] for record in records])
        panel.tick_params(axis="y", length=0, labelcolor=INK)
        panel.grid(axis="y", visible=False)
        panel.invert_yaxis()
        panel.set_xlabel("times as fast as the reference (dotted: as fast)")

    return in_panels("ratios", [records], draw, lambda _: "", size=(7, 0.38 * len(records) + 0.8))


def growth(curves: Curves) -> list[Drawing]:
    """Show seconds and peak memory against the number of texts, both axes by their logarithms."""

    def draw(panel: Axes, quantity: tuple[str, str]) -> None:
        drawn: list[tuple[int, float]] = []
        for place, (curve, records) in enumerate(curves.items()):
            points = [(record["n_texts"], record[quantity[0]]) for record in records if record.get(quantity[0])]
            colour, marker = style(place)
            x, y = [n for n, _ in points], [value for _, value in points]
            panel.plot(x, y, label=curve, markersize=5, color=colour, marker=marker)
            drawn += points
        log_scale(panel, "x", [n for n, _ in drawn])
        log_scale(panel, "y", [value for _, value in drawn])

    quantities = [("seconds", "seconds"), ("peak_memory_mb", "peak memory, MB")] if curves else []
    return in_panels(
        "growth", quantities, draw, lambda quantity: quantity[1], size=(8.4, 3.6), labels=("texts", ""), columns=2
    )


def _latest(records: Iterable[Record]) -> list[Record]:
    """Return the last record of every measure at its size and threads, in the order of the plan."""
    last: dict[tuple[Any, ...], Record] = {tuple(map(record.get, IDENTITY)): record for record in records}
    order = list(MEASURES)
    return sorted(last.values(), key=lambda record: (order.index(record["measure"]), record["n_texts"]))


def _ratio_table(records: Sequence[Record]) -> str:
    """Return the ratios."""
    rows = [
        [
            RATIOS[record["measure"]],
            record["reference"],
            Strong(figure(record["ratio"], 2)),
            f"{min(record['ratios']):.2f} to {max(record['ratios']):.2f}",
            figure(record["n_texts"] / record["seconds"], 0),
            figure(record["n_texts"], 0),
            record["texts"],
            str(record["threads"]),
        ]
        for record in records
    ]
    return table(
        ["what", "reference", "ratio", "turns", "texts per second", "texts", "from", "threads"], rows, n_names=2
    )


def _growth_table(records: Sequence[Record]) -> str:
    """Return the sizes of one growth."""
    rows = [
        [
            figure(record["n_texts"], 0),
            *(figure(record.get(name), 2) for name in ("seconds", "encode_seconds", "other_seconds")),
            figure(record.get("peak_memory_mb"), 0),
            record["texts"] + (", repeated with small changes" if record.get("repeated_texts") else ""),
        ]
        for record in records
    ]
    return table(["texts", "seconds", "encoding", "rest", "peak memory, MB", "texts from"], rows, n_names=0)


def _exponent_lines(curves: Curves) -> list[str]:
    """Give the fitted exponents: 1 is in proportion to the number of texts."""
    items = []
    for name, records in curves.items():
        fitted = exponents(records)
        parts = [f"{word} n^{fitted[key]:.2f}" for key, word in QUANTITIES.items() if fitted.get(key) is not None]
        if parts:
            items.append(f"{name}: {', '.join(parts)} ({records[0]['n_texts']:,} to {records[-1]['n_texts']:,} texts).")
    return items
