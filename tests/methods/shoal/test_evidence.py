from __future__ import annotations

import numpy as np
import pytest

from shoal.methods.shoal.evidence import SAFE, SIZES_FREE, UNEQUAL, Rules, found_again, leaves_less, most_trusted


def test_what_counts_is_the_share_of_the_rest_that_is_left():
    assert leaves_less(0.7, 0.6, 0.2)  # 0.3 is three quarters of 0.4
    assert not leaves_less(0.7, 0.6, 0.3)
    assert not leaves_less(0.6, 0.7, 0.0)
    assert leaves_less(0.6, 0.6, 0.0)


def test_a_cluster_is_found_again_as_far_as_the_one_most_like_it_overlaps():
    before = np.array([0, 0, 0, 0, 1])
    assert found_again(before, 1 - before) == 1
    assert found_again(before, np.array([0, 0, 0, 1, 1])) == pytest.approx((2 * 3 / 4 + 1 / 2) / 3)  # weights 2 and 1
    assert found_again(before, np.zeros(5, int)) == pytest.approx((2 * 4 / 5 + 1 / 5) / 3)
    assert found_again(before, np.arange(5)) == pytest.approx((2 * 1 / 4 + 1) / 3)


def test_a_lost_splinter_counts_for_more_than_its_rows_and_for_less_than_a_theme():
    splinter = np.array([0] * 96 + [1] * 4)
    halves = np.array([0] * 50 + [1] * 50)
    lost = np.zeros(100, int)
    assert found_again(halves, lost) == pytest.approx(0.5)
    assert 0.5 < found_again(splinter, lost) < 0.96 * 0.96 + 0.04 * 0.04


def test_numbers_of_clusters_need_not_follow_each_other():
    assert found_again(np.array([7, 7, 2]), np.array([0, 0, 9])) == 1


@pytest.mark.parametrize(
    ("safe", "found", "linked", "taken"),
    [
        (0.6, 0.7, 0.8, SIZES_FREE),
        (0.6, 0.7, 0.85, UNEQUAL),  # 0.15 is half of 0.3
        (0.6, 0.65, 0.84, SIZES_FREE),  # half of 0.35, but not highly stable
        (0.6, 0.8, 0.89, SIZES_FREE),
        (0.9, 0.7, 0.89, SAFE),  # linkage is highly stable, but the safe candidate still more
        (0.92, 0.8, 0.91, SIZES_FREE),
        (0.6, 0.7, None, SIZES_FREE),
        (0.75, 0.7, 0.6, SAFE),  # 0.25 is less than 85 % of 0.3
        (0.74, 0.7, 0.6, SIZES_FREE),
        (0.95, 0.75, 0.6, SIZES_FREE),  # valid clusters need not be the most stable ones
        (0.5, 0.59, None, SAFE),  # not to be trusted: the safe one, whatever its own stability
        (0.5, 0.59, 0.59, SAFE),
        (0.5, 0.59, 0.6, UNEQUAL),
        (1.0, 1.0, 1.0, SIZES_FREE),  # nothing is in doubt
    ],
)
def test_the_kind_to_take_follows_from_what_is_found_again(safe, found, linked, taken):
    stability = {SAFE: safe, SIZES_FREE: found} | ({} if linked is None else {UNEQUAL: linked})
    assert most_trusted(stability, Rules()) == taken
