from __future__ import annotations

import math

import networkx
import numpy as np
import pytest
from scipy.sparse import csr_matrix

from shoal.errors import DataError
from shoal.metrics import modularity

# A path of four nodes, 0 - 1 - 2 - 3, the middle edge twice as heavy: degrees 1, 3, 3, 1, total 8.
PATH = csr_matrix([[0, 1, 0, 0], [1, 0, 2, 0], [0, 2, 0, 1], [0, 0, 1, 0]])


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([0, 0, 1, 1], 4 / 8 - 2 * (4 / 8) ** 2),
        (["a", "b", "b", "c"], 4 / 8 - (36 + 1 + 1) / 64),
        ([5, 5, 5, 5], 0),
        ([0, 1, 2, 3], -(1 + 9 + 9 + 1) / 64),
        ([0, 0, 1, -1], 2 / 6 - (4 / 6) ** 2 - (2 / 6) ** 2),  # without node 3: edges 1 and 2, total 6
    ],
)
def test_by_hand(labels, expected):
    assert modularity(PATH, labels) == pytest.approx(expected)


def test_of_two_directions_the_mean_counts():
    upper = csr_matrix(np.triu(PATH.toarray()))
    assert modularity(upper, [0, 0, 1, 1]) == pytest.approx(modularity(PATH, [0, 0, 1, 1]))


def test_equals_networkx():
    rng = np.random.default_rng(0)
    weights = np.triu(rng.random((40, 40)) * (rng.random((40, 40)) < 0.2), 1)
    labels = rng.integers(0, 5, size=40)
    graph = networkx.from_numpy_array(weights + weights.T)
    communities = [set(np.flatnonzero(labels == label).tolist()) for label in range(5)]
    expected = networkx.community.modularity(graph, communities)
    assert modularity(csr_matrix(weights + weights.T), labels) == pytest.approx(expected)


def test_without_edges_it_cannot_say():
    assert math.isnan(modularity(csr_matrix((3, 3)), [0, 1, 1]))
    assert math.isnan(modularity(PATH, [-1] * 4))


def test_a_graph_of_other_nodes_is_refused():
    with pytest.raises(DataError, match=r"graph has shape \(4, 4\) and labels has 3 entries"):
        modularity(PATH, [0, 0, 1])
