"""The pictures of the bench: small, clean, told apart by anyone's eyes, and the same bytes from the same results.

Each picture is a function that draws a summary on an empty figure; :func:`save` gives it one and writes the file.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shoal.cache import write_atomically
from shoal_bench.report.ranks import Ranking
from shoal_bench.report.summary import SuiteSummary, published_of
from shoal_bench.suite import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which people with any kind of colour vision tell apart, without the yellow
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#333333")
MARKERS = "osD^vPX*"
INK, FAINT = "#22313f", "#6b7782"  # as in bench.mplstyle
PANELS_IN_A_LINE = 4


def save(file: Path, size: tuple[float, float], draw: Callable[[Figure], None]) -> None:
    """Draw a picture and write it as PNG.

    Parameters
    ----------
    file : Path
        Where it goes.
    size : (float, float)
        Width and height in inches.
    draw : callable
        Gets the empty figure.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    content = io.BytesIO()
    with rc_context(fname=Path(__file__).with_name("bench.mplstyle")):
        figure = Figure(figsize=size, dpi=120, layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08))
        draw(figure)
        figure.savefig(content, format="png", metadata={"Software": None})
    write_atomically(file, content.getvalue())


def style_of(summary: SuiteSummary, row: Row) -> tuple[str, str]:
    """Return the colour and the marker that a row has in every picture of its suite."""
    return style([other.name for other in summary.rows].index(row.name))


def style(place: int) -> tuple[str, str]:
    """Return the colour and the marker of the curve at a place."""
    return COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]


def panels(figure: Figure, n: int, in_a_line: int = PANELS_IN_A_LINE) -> list[Axes]:
    """Return ``n`` panels in lines, filled from the left."""
    width = min(n, in_a_line)
    grid = figure.subplots(math.ceil(n / width), width, squeeze=False).ravel().tolist()
    for unused in grid[n:]:
        unused.set_visible(False)
    return grid[:n]


def panels_size(n: int, in_a_line: int = PANELS_IN_A_LINE) -> tuple[float, float]:
    """Return the size of a figure with ``n`` panels and a legend above."""
    return 2.7 * min(n, in_a_line) + 0.6, 2.2 * math.ceil(n / in_a_line) + 0.8


def legend_above(figure: Figure, axes: Sequence[Axes], columns: int = 4) -> None:
    """Put one legend for all panels above them."""
    handles = [handle for panel in axes for handle in panel.get_legend_handles_labels()[0]]
    entries = {str(handle.get_label()): handle for handle in handles}
    if entries:
        figure.legend(list(entries.values()), list(entries), loc="outside upper left", ncols=columns)


def logarithmic(panel: Axes, which: Literal["x", "y"], values: Sequence[float]) -> None:
    """Give a panel's axis a logarithmic scale with plain numbers, enough of them for the values' range."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    shown = [value for value in values if value > 0]  # a time may round to zero, which has no logarithm
    if not shown:
        return
    panel.set(**{f"{which}scale": "log"})
    axis = panel.xaxis if which == "x" else panel.yaxis
    span = max(shown) / min(shown)
    if span == 1:  # by itself matplotlib shows a power of ten around one point, and all numbers in it
        panel.set(**{f"{which}lim": (shown[0] / 2, shown[0] * 2)})
    axis.set_major_locator(LogLocator(subs=(1,) if span > 30 else (1, 2, 5) if span > 4 else (1, 1.5, 2, 3, 4, 6, 8)))
    axis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axis.set_minor_formatter(NullFormatter())


def score_against_time(figure: Figure, summary: SuiteSummary, metric: str) -> None:
    """Draw a score against the time per 1,000 texts, the mean over the data sets and every data set."""
    names = summary.measured_sets
    halves: Any = figure.subfigures(1, 2, width_ratios=(1.15, 2))
    left, right = halves
    middle = left.subplots()
    middle.set_title(f"mean of {len(summary.data_sets)} data sets")
    middle.set_ylabel(metric.upper())
    rows = summary.complete_rows
    scores = [float(np.mean([summary.of(row, name).mean(metric) for name in names])) for row in rows]
    points = [(_mean_time(summary, row, names), score, row) for row, score in zip(rows, scores, strict=True)]
    for seconds, score, row in points:
        colour, marker = style_of(summary, row)
        face = "white" if any(summary.lacks_encoding(row, name) for name in names) else colour
        middle.scatter(seconds, score, s=48, facecolor=face, edgecolor=colour, marker=marker, zorder=3)
    _label(middle, [(seconds, score, row.name) for seconds, score, row in points])
    partial_rows = [row for row in summary.rows if row not in rows]
    for row in partial_rows:
        colour, marker = style_of(summary, row)
        middle.scatter([], [], s=48, color=colour, marker=marker, label=f"{row.name} (not on every set)")
    if partial_rows:
        middle.legend(fontsize=8)
    logarithmic(middle, "x", [seconds for seconds, _, _ in points])
    if not points:
        middle.set_axis_off()
        middle.set_title("")
    grid = panels(right, len(names), math.ceil(len(names) / 2))
    for panel, name in zip(grid, names, strict=True):
        panel.set_title(name)
        _draw_times(panel, summary, name, metric)
        panel.tick_params(labelsize=8)
    figure.supxlabel("seconds per 1,000 texts, encoding included", fontsize=9)


def _draw_times(panel: Axes, summary: SuiteSummary, data_set: str, metric: str) -> None:
    """Draw the rows of one data set against their times, and their published figures as dotted lines."""
    times = []
    for row in summary.rows:
        measured = summary.of(row, data_set)
        if not measured.records:
            continue
        colour, marker = style_of(summary, row)
        published = published_of(row, data_set, metric)
        if published is not None:
            panel.axhline(published, color=colour, linestyle=":", linewidth=1.3, zorder=1)
        times.append(_mean_time(summary, row, [data_set]))
        mean, spread = measured.mean(metric) or 0.0, measured.spread(metric) or 0.0
        face = "white" if summary.lacks_encoding(row, data_set) else colour
        panel.errorbar(times[-1], mean, spread, color=colour, marker=marker, markersize=5, markerfacecolor=face)
    logarithmic(panel, "x", times)


def _mean_time(summary: SuiteSummary, row: Row, names: Sequence[str]) -> float:
    """Return the mean seconds that a row takes per 1,000 texts."""
    places = [(summary.whole_seconds(row, name) or 0.0, summary.of(row, name).average("n_texts")) for name in names]
    return float(np.mean([1000 * seconds / (texts or 1.0) for seconds, texts in places]))


def _label(panel: Axes, points: Sequence[tuple[float, float, str]]) -> None:
    """Write names beside points: early ones to the right, late ones to the left, none over another."""
    if not points:
        return
    scores = [score for _, score, _ in points]
    line = max(max(scores) - min(scores), 1.0) / 16
    times = sorted(seconds for seconds, _, _ in points)
    middle = math.sqrt(times[0] * times[-1])
    for late in (False, True):
        below = math.inf
        side = sorted(((score, seconds, name) for seconds, score, name in points if (seconds > middle) == late))
        for score, seconds, name in reversed(side):
            below = min(score, below - line)
            place, align = (-7, "right") if late else (7, "left")
            panel.annotate(
                name, (seconds, below), (place, 0), textcoords="offset points", ha=align, va="center", fontsize=8
            )
    panel.margins(x=0.15, y=0.12)


def bars(figure: Figure, summary: SuiteSummary) -> None:
    """Draw the rows side by side on every data set, one panel per metric; a short line is the published figure."""
    metrics, names, rows = summary.suite.metrics, summary.data_sets, summary.rows
    grid = panels(figure, len(metrics), 1)
    width = 0.8 / max(len(rows), 1)
    for panel, metric in zip(grid, metrics, strict=True):
        for place, row in enumerate(rows):
            colour, _ = style_of(summary, row)
            at = np.arange(len(names)) + (place - (len(rows) - 1) / 2) * width
            means = [summary.of(row, name).mean(metric) for name in names]
            spreads = [summary.of(row, name).spread(metric) for name in names]
            heights, errors = ([np.nan if value is None else value for value in values] for values in (means, spreads))
            panel.bar(at, heights, 0.9 * width, color=colour, label=row.name)
            panel.errorbar(at, heights, np.nan_to_num(errors), fmt="none", ecolor=INK, elinewidth=0.8)
            published = [published_of(row, name, metric) for name in names]
            there = [(x, value) for x, value in zip(at, published, strict=True) if value is not None]
            for x, value in there:
                panel.plot([x - width / 2, x + width / 2], [value, value], color=INK, linestyle=":", linewidth=1.3)
        panel.set_ylabel(metric.upper())
        panel.set_xticks(range(len(names)), names)
        panel.tick_params(axis="x", length=0)
        panel.grid(axis="x", visible=False)
        panel.margins(x=0.01)
    legend_above(figure, grid)


def critical_difference(figure: Figure, ranking: Ranking) -> None:
    """Draw the average ranks on a line; a bar joins methods that the test does not tell apart (Demšar 2006)."""
    n, ranks = len(ranking.names), ranking.ranks
    panel = figure.subplots()
    panel.set_axis_off()
    left_half = math.ceil(n / 2)
    step, first = 0.55, 0.55 + 0.32 * len(ranking.groups)
    panel.plot([1, n], [0, 0], color=INK, linewidth=1.2)
    for place in range(1, n + 1):
        panel.plot([place, place], [0, 0.12], color=INK, linewidth=1)
        panel.annotate(str(place), (place, 0.2), ha="center", va="bottom", color=FAINT)
    for place, (name, rank) in enumerate(zip(ranking.names, ranks, strict=True)):
        best = place < left_half
        depth = -(first + step * (place if best else n - 1 - place))
        side, align = (0.85, "right") if best else (n + 0.15, "left")
        panel.plot([rank, rank, side], [0, depth, depth], color=COLOURS[0] if best else FAINT, linewidth=1.1)
        words, gap = (f"{name}  {rank:.2f}", -4) if best else (f"{rank:.2f}  {name}", 4)
        panel.annotate(words, (side, depth), (gap, 0), textcoords="offset points", ha=align, va="center")
    for level, (start, end) in enumerate(ranking.groups):
        depth = -0.3 - 0.32 * level
        panel.plot([ranks[start] - 0.04, ranks[end] + 0.04], [depth, depth], color=COLOURS[1], linewidth=4)
    above = 0.95
    panel.plot([1, 1 + ranking.critical_difference], [above, above], color=INK, linewidth=1.2, marker="|")
    words = f"critical difference {ranking.critical_difference:.2f}"
    panel.annotate(words, (1 + ranking.critical_difference, above), (6, 0), textcoords="offset points", va="center")
    reach = 0.32 * n
    panel.set_xlim(1 - reach, n + reach)
    panel.set_ylim(-(first + step * left_half), above + 0.3)


def growth(figure: Figure, curves: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Draw seconds and peak memory against the number of texts, both axes by their logarithms.

    Parameters
    ----------
    figure : Figure
        An empty one.
    curves : mapping of name to records
        The records of each curve, in the order of their ``n_texts``.
    """
    grid = panels(figure, 2)
    for panel, name, title in zip(grid, ("seconds", "peak_memory_mb"), ("seconds", "peak memory, MB"), strict=True):
        drawn: list[tuple[int, float]] = []
        for place, (curve, records) in enumerate(curves.items()):
            points = [(record["n_texts"], record[name]) for record in records if record.get(name)]
            colour, marker = style(place)
            x, y = [n for n, _ in points], [value for _, value in points]
            panel.plot(x, y, label=curve, markersize=5, color=colour, marker=marker)
            drawn += points
        panel.set_title(title)
        logarithmic(panel, "x", [n for n, _ in drawn])
        logarithmic(panel, "y", [value for _, value in drawn])
    legend_above(figure, grid, columns=2)
    figure.supxlabel("texts", fontsize=9)


def ratios(figure: Figure, records: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    """Draw how many times as fast as its reference each measure is: the median, and a point for every turn."""
    panel = figure.subplots()
    for place, record in enumerate(records):
        panel.barh(place, record["ratio"], 0.6, color=COLOURS[0], alpha=0.85)
        turns = record.get("ratios") or []
        panel.plot(turns, [place] * len(turns), "o", color=INK, markersize=3)
    panel.axvline(1, color=COLOURS[1], linestyle=":", linewidth=1.4)
    panel.set_yticks(range(len(names)), names)
    panel.tick_params(axis="y", length=0, labelcolor=INK)
    panel.grid(axis="y", visible=False)
    panel.invert_yaxis()
    panel.set_xlabel("times as fast as the reference (dotted: as fast)")
