"""The curve: agreement, modularity, sizes of the communities at every resolution."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from shoal.n_clusters import granularity_curve
from shoal.n_clusters.curve import RESOLUTIONS


def cliques(*sizes: int) -> csr_matrix:
    graph = np.zeros((sum(sizes), sum(sizes)))
    start = 0
    for size in sizes:
        graph[start : start + size, start : start + size] = 1 - np.eye(size)
        start += size
    return csr_matrix(graph)


def at_plain_modularity(curve):
    return next(point for point in curve if point.resolution == 1)


def test_cliques_by_hand():
    point = at_plain_modularity(granularity_curve([[cliques(6, 3, 3), cliques(6, 3, 3)]]))
    assert point.n_clusters == pytest.approx(3)
    assert point.agreement == pytest.approx(1)
    # pairs inside: all; expected by chance: (30² + 6² + 6²) / 42²
    assert point.modularity == pytest.approx(1 - 972 / 42**2)
    assert point.smallest == 0.25
    assert point.spread == pytest.approx(np.exp(-0.5 * np.log(0.5) - 2 * 0.25 * np.log(0.25)))


def test_one_point_per_resolution_coarse_to_fine():
    curve = granularity_curve([[cliques(5, 5), cliques(5, 5)]])
    assert tuple(point.resolution for point in curve) == RESOLUTIONS
    assert list(RESOLUTIONS) == sorted(RESOLUTIONS)
    assert 1.0 in RESOLUTIONS


def test_without_words_nothing_agrees():
    assert {point.agreement for point in granularity_curve([[cliques(5, 5)]])} == {0.0}


def test_views_that_see_different_groups_do_not_agree():
    other = csr_matrix(np.kron(np.ones((4, 4)), np.eye(4)) - np.eye(16))  # rows of the square instead of columns
    assert at_plain_modularity(granularity_curve([[cliques(4, 4, 4, 4), other]])).agreement == pytest.approx(
        0, abs=0.01
    )


def test_samples_are_averaged():
    two, eight = [cliques(4, 4)] * 2, [cliques(*[4] * 8)] * 2
    point = at_plain_modularity(granularity_curve([two, eight]))
    assert point.n_clusters == pytest.approx(4)  # the geometric mean
    assert point.smallest == pytest.approx((1 / 2 + 1 / 8) / 2)
