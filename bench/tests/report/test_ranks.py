"""Average ranks: against Demšar's tables and by hand."""

from __future__ import annotations

import math

import pytest
from scipy.stats import chi2

from shoal_bench.report.ranks import critical_difference, rank_methods

# Demšar (2006), table 5 (a), two-tailed Nemenyi test at the level 0.05
DEMSAR = {2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031, 9: 3.102, 10: 3.164}


@pytest.mark.parametrize(("n_methods", "q"), DEMSAR.items())
def test_critical_values_are_those_of_the_paper(n_methods, q):
    factor = math.sqrt(n_methods * (n_methods + 1) / (6 * 8))
    assert critical_difference(n_methods, 8) / factor == pytest.approx(q, abs=1.1e-3)


def test_ranks_by_hand():
    scores = [[90, 80, 80, 10], [70, 90, 60, 20], [80, 70, 60, 50], [99, 98, 97, 96]]
    ranking = rank_methods(["a", "b", "c", "d"], scores)
    # a: 1 2 1 1; b: 2.5 1 2 2; c: 2.5 3 3 3; d: 4 4 4 4
    assert ranking.names == ("a", "b", "c", "d")
    assert ranking.ranks == pytest.approx((1.25, 1.875, 2.875, 4.0))
    assert ranking.n_sets == 4


def test_friedman_by_hand():
    scores = [[3, 2, 1], [3, 1, 2], [3, 2, 1], [2, 3, 1]]
    ranking = rank_methods(["a", "b", "c"], scores)
    ranks, n, k = (1.25, 2.0, 2.75), 4, 3
    statistic = 12 * n / (k * (k + 1)) * (sum(r * r for r in ranks) - k * (k + 1) ** 2 / 4)
    assert ranking.ranks == pytest.approx(ranks)
    assert ranking.p_value == pytest.approx(chi2.sf(statistic, k - 1))


def test_groups_are_the_longest_runs_within_the_critical_difference():
    scores = [[4, 3, 2, 1]] * 8
    ranking = rank_methods(["a", "b", "c", "d"], scores)
    assert 1 < ranking.critical_difference < 2
    assert ranking.groups == ((0, 1), (1, 2), (2, 3))


def test_methods_that_are_alike_are_one_group():
    ranking = rank_methods(["a", "b", "c"], [[1, 1, 1]] * 5)
    assert (ranking.p_value, ranking.groups) == (1.0, ((0, 2),))


def test_clear_differences_leave_no_group():
    assert rank_methods(["a", "b", "c"], [[3, 2, 1]] * 100).groups == ()
