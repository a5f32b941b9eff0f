"""Clusters over time and by group, with the differences that are more than chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from shoal.report.contents import Contents
from shoal.report.markup import Markup, count, element, percent
from shoal.report.sections import section, table

_MOST_PERIODS = 60
_MOST_GROUPS = 12
# The share of marked differences that may be chance: Benjamini and Hochberg (1995).
_FALSE_SHARE = 0.05
# Fewer texts are expected by chance in a cell too often for the normal approximation.
_LEAST_EXPECTED = 5


def more_than_chance(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Mark the cells of a table that differ from what its margins alone would give.

    A cell is tested by its adjusted residual (Haberman 1973); of the marks in the table, at most one in twenty is
    expected to be chance (Benjamini and Hochberg 1995). Cells where fewer than five texts are expected are not marked.

    Parameters
    ----------
    counts : ndarray of shape (n_rows, n_columns)
        Texts by cluster and group.

    Returns
    -------
    ndarray of int64 of the same shape
        1 where there are more than by chance, -1 where there are fewer, 0 elsewhere.

    Examples
    --------
    >>> more_than_chance(np.array([[90, 50, 50], [10, 50, 50]])).tolist()
    [[1, -1, -1], [-1, 1, 1]]
    >>> more_than_chance(np.array([[52, 48], [48, 52]])).tolist()
    [[0, 0], [0, 0]]
    """
    total = max(1, int(counts.sum()))
    rows, columns = counts.sum(axis=1, keepdims=True), counts.sum(axis=0, keepdims=True)
    expected = rows * columns / total
    spread = np.sqrt(np.maximum(expected * (1 - rows / total) * (1 - columns / total), 1e-12))
    residual = (counts - expected) / spread
    tested = expected >= _LEAST_EXPECTED
    chance = np.where(tested, 2 * norm.sf(np.abs(residual)), 1.0)
    ordered = np.sort(chance[tested])
    passed = ordered <= _FALSE_SHARE * np.arange(1, len(ordered) + 1) / max(1, len(ordered))
    limit = ordered[passed].max(initial=-1.0)
    return np.where(tested & (chance <= limit), np.sign(residual), 0).astype(np.int64)


def by_group(contents: Contents) -> Markup | None:
    """Return the share of each cluster in every group; None without groups."""
    if not contents.groups:
        return None
    parts = []
    for name, cells in contents.groups.items():
        frequent = [group for group, _ in Counter(cell for cell in cells if cell).most_common(_MOST_GROUPS)]
        counts = _crossed(contents, [frequent.index(cell) if cell in frequent else -1 for cell in cells], len(frequent))
        n_others = len({cell for cell in cells if cell}) - len(frequent)
        note = f"; the {count(n_others, 'rarest group')} omitted" if n_others else ""
        heads = ["cluster", *(f"{group} ({n:,})" for group, n in zip(frequent, counts.sum(axis=0), strict=True))]
        parts += [element("h3", f"By {name}{note}"), _shares(contents, counts, heads)]
    return section(
        "groups",
        "Groups",
        "The share of each cluster in a group. ▲ more, ▼ fewer than the other groups have, beyond chance; at most one "
        "mark in twenty is expected to be wrong.",
        element("div", parts, class_="box"),
    )


def over_time(contents: Contents) -> Markup | None:
    """Return the clusters over time; None without dates."""
    if contents.dates is None:
        return None
    days = contents.dates.to_list()
    known = [day for day in days if day is not None]
    if not known:
        return None
    length, starts = periods(min(known), max(known))
    ordinals = np.array([start.toordinal() for start in starts])
    period = [-1 if day is None else int(np.searchsorted(ordinals, day.toordinal(), side="right")) - 1 for day in days]
    counts = _crossed(contents, period, len(starts))
    halves = np.stack([counts[:, : len(starts) // 2].sum(axis=1), counts[:, len(starts) // 2 :].sum(axis=1)], axis=1)
    marks = more_than_chance(halves)[:, 1] if len(starts) > 1 else np.zeros(len(counts), dtype=np.int64)
    totals = np.maximum(halves.sum(axis=0), 1)
    rows = []
    for cluster in sorted(contents.clusters, key=lambda cluster: -cluster.size):
        own = counts[cluster.id]
        early, late = halves[cluster.id] / totals
        rows.append(
            [
                element("bdi", cluster.name),
                _spark(own, starts),
                percent(early, 1),
                _marked(percent(late, 1), marks[cluster.id]),
            ]
        )
    span = f"{min(known):%Y-%m-%d} to {max(known):%Y-%m-%d}, by {length}"
    missing = len(days) - len(known)
    note = f" {count(missing, 'text')} without a date." if missing else ""
    return section(
        "time",
        "Over time",
        f"Texts per {length}, {span}.{note} Shares are those of all texts in the first and in the second half; "
        "▲ and ▼ mark changes beyond chance.",
        element(
            "div", table(["cluster", f"texts per {length}", "first half", "second half"], rows, (2, 3)), class_="box"
        ),
    )


def periods(first: date, last: date) -> tuple[str, list[date]]:
    """Divide a span of time into at most sixty days, weeks, months, quarters or years.

    Examples
    --------
    >>> length, starts = periods(date(2024, 1, 15), date(2024, 3, 2))
    >>> length, len(starts), starts[0].isoformat()
    ('day', 48, '2024-01-15')
    """
    days = (last - first).days + 1
    if days <= _MOST_PERIODS:
        return "day", [first + timedelta(day) for day in range(days)]
    monday = first - timedelta(first.weekday())
    if days <= 7 * (_MOST_PERIODS - 1):
        return "week", [monday + timedelta(day) for day in range(0, (last - monday).days + 1, 7)]
    lengths = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
    n_months = 12 * (last.year - first.year) + last.month - first.month + 1
    name = next((name for name, months in lengths.items() if n_months <= months * (_MOST_PERIODS - 1)), "decade")
    months = lengths[name]
    start = max(12, (12 * first.year + first.month - 1) // months * months)
    return name, [date(month // 12, month % 12 + 1, 1) for month in range(start, 12 * last.year + last.month, months)]


def _crossed(contents: Contents, columns: Sequence[int], n_columns: int) -> NDArray[np.int64]:
    """Count texts by cluster and column; those without either are omitted."""
    at = np.asarray(columns, dtype=np.int64)
    there = (contents.labels >= 0) & (at >= 0)
    counts = np.zeros((len(contents.clusters), n_columns), dtype=np.int64)
    np.add.at(counts, (contents.labels[there], at[there]), 1)
    return counts


def _shares(contents: Contents, counts: NDArray[np.int64], heads: Sequence[str]) -> Markup:
    """Return a table of the share of each cluster in every column, with marks."""
    marks, shares = more_than_chance(counts), counts / np.maximum(counts.sum(axis=0), 1)
    rows = [
        [
            element("a", element("bdi", cluster.name), href=f"#cluster-{cluster.id}"),
            *(
                _marked(percent(share, 1), mark)
                for share, mark in zip(shares[cluster.id], marks[cluster.id], strict=True)
            ),
        ]
        for cluster in sorted(contents.clusters, key=lambda cluster: -cluster.size)
    ]
    return table(heads, rows, numeric=range(1, len(heads)))


def _marked(figure: str, mark: int) -> Markup:
    """Return a figure with its mark, which screen readers read as a word."""
    if not mark:
        return element("span", figure)
    sign, word, kind = ("▲", "more", "more") if mark > 0 else ("▼", "fewer", "fewer")
    spoken = element("span", f" {word}", class_="spoken")
    return element("span", figure, " ", element("span", sign, aria_hidden="true"), spoken, class_=kind)


def _spark(counts: NDArray[np.int64], starts: Sequence[date]) -> Markup:
    """Return the counts as small bars."""
    most, width = max(1, int(counts.max(initial=0))), 240
    step = width / max(1, len(counts))
    bars = [
        element(
            "rect",
            element("title", f"{start:%Y-%m-%d}: {number:,}"),
            x=round(i * step, 1),
            y=round(30 - 30 * number / most, 1),
            width=round(max(1.0, step - 1), 1),
            height=round(30 * number / most, 1),
            class_="mark",
        )
        for i, (number, start) in enumerate(zip(counts.tolist(), starts, strict=True))
    ]
    said = f"{int(counts.sum()):,} texts, most in the period from {starts[int(counts.argmax())]:%Y-%m-%d}"
    return element("svg", bars, viewBox=f"0 0 {width} 30", width=width, height=30, role="img", aria_label=said)
