"""The number of clusters as people write it."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.errors import ParameterError
from shoal.n_clusters import Wanted, parse_wanted


@pytest.mark.parametrize("value", [7, np.int64(7), "7", " 7 ", (7, 7), [7, 7], "7-7"])
def test_a_number(value):
    assert parse_wanted(value) == Wanted(7, 7)
    assert parse_wanted(value).exact == 7


@pytest.mark.parametrize("value", ["5-80", " 5 - 80 ", "5..80", "5–80", (5, 80), [5, 80], (np.int64(5), 80)])
def test_a_range(value):
    assert parse_wanted(value) == Wanted(5, 80)
    assert parse_wanted(value).exact is None


@pytest.mark.parametrize("value", ["auto", "AUTO", " auto "])
def test_auto(value):
    assert parse_wanted(value) == Wanted(1, None)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("many", "n_clusters='many' is not a whole number; pass an int >= 1, a range such as '5-80', or 'auto'"),
        (2.5, "n_clusters=2.5 is not a whole number"),
        (True, "n_clusters=True is not a whole number"),
        (None, "n_clusters=None is not a whole number"),
        ((1, 2, 3), "is not a whole number"),
        ((1.5, 2), "is not a whole number"),
        ("-3", "n_clusters='-3' is not a whole number"),
        ("1" * 40, "is not a whole number"),
        (0, "n_clusters=0 but it must be at least 1"),
        (-3, "n_clusters=-3 but it must be at least 1"),
        ("0-5", "n_clusters=0 but it must be at least 1"),
        ("80-5", "n_clusters=80-5 ends before it begins; pass '5-80'"),
    ],
)
def test_anything_else_is_refused(value, message):
    with pytest.raises(ParameterError, match=message):
        parse_wanted(value)
