from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from shoal.methods.shoal import regrouping
from shoal.methods.shoal.regrouping import links_between, regrouped, weakest_cut


def blocks(sizes, bridges=(), inside=1.0):
    """Complete graphs side by side, with edges of some weight between rows."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    weights = inside * (labels[:, None] == labels).astype(float)
    np.fill_diagonal(weights, 0)
    for one, other, weight in bridges:
        weights[one, other] = weights[other, one] = weight
    return csr_matrix(weights)


def conductance(weights, second):
    """By its definition."""
    crossing = weights[second][:, ~second].sum()
    return crossing / min(weights[second].sum(), weights[~second].sum())


def test_the_cut_is_the_weakest_of_all():
    rng = np.random.RandomState(0)
    labels = np.repeat([0, 1], 5)
    weights = np.triu(rng.rand(10, 10) * np.where(labels[:, None] == labels, 1.0, 0.15), 1)
    weights += weights.T
    cut = weakest_cut(csr_matrix(weights))
    best = np.inf
    for size in range(3, 8):
        for rows in combinations(range(10), size):
            second = np.zeros(10, dtype=bool)
            second[list(rows)] = True
            best = min(best, conductance(weights, second))
    assert cut.conductance == pytest.approx(best)
    assert cut.conductance == pytest.approx(conductance(weights, cut.second))
    assert cut.smaller == 5


def test_parts_that_do_not_touch_are_cut_for_nothing():
    cut = weakest_cut(blocks([8, 4]))
    assert cut.conductance == 0
    assert cut.smaller == 4


def test_rows_without_an_edge_are_not_a_part():
    assert weakest_cut(blocks([1] * 8)) is None  # no edges at all
    apart = weakest_cut(blocks([6, 1, 1, 1]))
    assert apart is None or apart.conductance > 0


def test_too_few_rows_are_not_cut():
    assert weakest_cut(blocks([5])) is None
    assert weakest_cut(csr_matrix((0, 0))) is None


def test_a_graph_without_a_clear_cut_is_left_alone(monkeypatch):
    ring = csr_matrix(np.eye(400, k=1) + np.eye(400, k=-1) + np.eye(400, k=399) + np.eye(400, k=-399))
    assert weakest_cut(ring).conductance == pytest.approx(2 / 400, rel=0.1)  # two edges, half of the edge ends
    monkeypatch.setattr(regrouping, "EIGENVECTOR_RESTARTS", 1)
    assert weakest_cut(ring) is None


def two_themes_and_an_oddity():
    """Rows of two themes in cluster 0, of one in 1 and 3 each, and one lost row of the last in cluster 2."""
    graph = blocks([20, 15, 12, 13], bridges=[(0, 20, 0.5), (21, 35, 1), (36, 47, 1), (1, 48, 1)])
    labels = np.array([0] * 35 + [1] * 12 + [3] * 12 + [2])
    return graph, labels


def test_what_falls_apart_is_cut_and_the_lost_row_comes_home(same_partition):
    graph, labels = two_themes_and_an_oddity()
    found = regrouped(graph, labels, 4)
    assert same_partition(found, np.repeat([0, 1, 2, 3], [20, 15, 12, 13]))
    assert labels[34] == 0  # what was passed is as it was
    np.testing.assert_array_equal(found, regrouped(graph, labels, 4))


def test_a_number_without_rows_is_used_first():
    graph, labels = two_themes_and_an_oddity()
    found = regrouped(graph, np.where(labels == 2, 3, labels), 5)  # 2 and 4 have no rows
    assert sorted(np.bincount(found, minlength=5).tolist()) == [0, 12, 13, 15, 20]
    assert (found == 2).sum() in (15, 20)


def test_what_hangs_together_is_left_alone():
    graph = blocks([30, 12, 12], bridges=[(0, 30, 1), (1, 42, 1), (31, 43, 1)])
    labels = np.repeat([0, 1, 2], [30, 12, 12])
    np.testing.assert_array_equal(regrouped(graph, labels, 3), labels)


def test_a_large_cluster_never_gives_its_number_for_a_small_part():
    graph = blocks([20, 5, 12, 12], bridges=[(0, 20, 0.3), (1, 25, 3), (26, 37, 9), (27, 38, 9)])
    labels = np.repeat([0, 0, 1, 2], [20, 5, 12, 12])
    links = links_between(graph, labels, 3)
    cut = regrouping._cut_of(graph, labels, 0)
    assert cut.conductance < min(links.leaving, 0.75 * np.median(links.strength))  # it is weak enough
    np.testing.assert_array_equal(regrouped(graph, labels, 3), labels)


def test_links_are_shares_of_the_smaller_cluster():
    graph = blocks([4, 3], bridges=[(0, 4, 2.0)])
    links = links_between(graph, np.repeat([0, 1], [4, 3]), 3)
    assert links.leaving == pytest.approx(4 / (12 + 6 + 4))
    assert links.nearest.tolist() == [1, 0, -1]
    np.testing.assert_allclose(links.strength, [2 / 8, 2 / 8, 0])


def test_without_edges_nothing_hangs_together():
    links = links_between(csr_matrix((4, 4)), np.array([0, 0, 1, 1]), 2)
    assert links.leaving == 0
    assert links.nearest.tolist() == [-1, -1]
    assert links.strength.tolist() == [0, 0]
