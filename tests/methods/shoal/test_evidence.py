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
    before = np.array([0, 0, 0, 0, 1, 1])
    assert found_again(before, 1 - before) == 1
    assert found_again(before, np.array([0, 0, 0, 1, 1, 1])) == pytest.approx((3 / 4 + 2 / 3) / 2)
    assert found_again(before, np.zeros(6, int)) == pytest.approx((4 / 6 + 2 / 6) / 2)
    assert found_again(before, np.arange(6)) == pytest.approx((1 / 4 + 1 / 2) / 2)


def test_a_lost_splinter_counts_as_much_as_a_lost_half():
    splinter = np.array([0] * 97 + [1] * 3)
    lost = np.array([0] * 100)
    assert found_again(splinter, lost) == pytest.approx((0.97 + 0.03) / 2)


def test_numbers_of_clusters_need_not_follow_each_other():
    assert found_again(np.array([7, 7, 2]), np.array([0, 0, 9])) == 1


@pytest.mark.parametrize(
    ("safe", "found", "linked", "taken"),
    [
        (0.6, 0.7, 0.8, SIZES_FREE),
        (0.6, 0.7, 0.85, UNEQUAL),  # 0.15 is half of 0.3
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
