"""Clusters over time and by group: figures by hand, and marks only beyond chance."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

from shoal.errors import DataError
from shoal.report.breakdowns import by_group, more_than_chance, over_time, periods
from shoal.report.contents import dates_of


def test_chance_is_marked_rarely():
    rng = np.random.default_rng(0)
    marked = [np.abs(more_than_chance(rng.multinomial(2000, [0.01] * 100).reshape(20, 5))).sum() for _ in range(40)]
    assert sum(number > 0 for number in marked) <= 6


def test_a_true_difference_is_marked_and_small_cells_are_not():
    counts = np.array([[100, 100, 160], [100, 100, 40], [1, 0, 3]])
    marks = more_than_chance(counts)
    assert marks[0].tolist() == [-1, -1, 1]
    assert marks[1].tolist() == [1, 1, -1]
    assert marks[2].tolist() == [0, 0, 0]


def test_groups_are_compared(contents):
    land = ["north" if label == 0 else "south" for label in contents.labels]
    html = by_group(replace(contents, groups={"land": land}))
    assert "By land" in html
    assert html.count("▲") >= 2
    assert "100.0 %" in html
    assert by_group(contents) is None


def test_many_groups_are_cut(contents):
    names = [f"group {i % 40}" for i in range(len(contents.labels))]
    assert "28 rarest groups omitted" in by_group(replace(contents, groups={"many": names}))


def test_time(contents):
    start = date(2024, 1, 1)
    days = [None if i % 10 == 0 else start + timedelta(i) for i in range(len(contents.labels))]
    html = over_time(replace(contents, dates=pl.Series(days)))
    assert "by week" in html
    assert "12 texts without a date" in html
    assert html.count("<svg") == 3
    assert over_time(contents) is None


@pytest.mark.parametrize(
    ("last", "length", "n"),
    [
        (date(2024, 1, 1), "day", 1),
        (date(2024, 2, 29), "day", 60),
        (date(2024, 12, 31), "week", 53),
        (date(2027, 1, 1), "month", 37),
        (date(2034, 1, 1), "quarter", 41),
        (date(2074, 1, 1), "year", 51),
        (date(2399, 1, 1), "decade", 38),
    ],
)
def test_periods_are_at_most_sixty(last, length, n):
    name, starts = periods(date(2024, 1, 1), last)
    assert (name, len(starts)) == (length, n)
    assert starts[0] <= date(2024, 1, 1)
    assert starts == sorted(starts)


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (["2024-05-31", "2024-06-01T10:00:00Z", None], date(2024, 5, 31)),
        (["31.05.2024", "01.06.2024", ""], date(2024, 5, 31)),
        (["05/31/2024", "06/01/2024", "12/24/2024"], date(2024, 5, 31)),
        (["2024", "2023", "2022"], date(2024, 1, 1)),
        (["2024-05", "2024-06", "2024-07"], date(2024, 5, 1)),
        (["20240531", "20240601", "20240602"], date(2024, 5, 31)),
    ],
)
def test_dates_of_many_forms(cells, first):
    assert dates_of(pl.Series("day", cells))[0] == first
    assert dates_of(pl.Series("day", [first]))[0] == first


def test_what_is_no_date_is_refused():
    with pytest.raises(DataError, match=r"column 'day' has dates in 1 of 4 cells; pass a --date column of dates"):
        dates_of(pl.Series("day", ["yesterday", "soon", "2024-05-31", "never", None]))
