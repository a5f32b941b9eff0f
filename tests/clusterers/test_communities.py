from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from shoal.clusterers import communities, communities_at, graph_of, nearest_neighbours
from shoal.metrics import modularity
from shoal.vectors import unit_rows


def cliques(*sizes: int, bridge: float = 0.0) -> csr_matrix:
    """Groups of rows that are all neighbours of each other; each is tied to the next by one weak edge."""
    labels = np.repeat(range(len(sizes)), sizes)
    graph = (labels[:, None] == labels).astype(np.float32) - np.eye(len(labels), dtype=np.float32)
    ends = np.cumsum(sizes)[:-1]
    graph[ends, ends - 1] = graph[ends - 1, ends] = bridge
    return csr_matrix(graph)


def test_the_groups_of_a_graph_are_its_communities_largest_first():
    found = communities(cliques(3, 6, 4, bridge=0.2))
    assert found.tolist() == [2] * 3 + [0] * 6 + [1] * 4
    assert found.dtype == np.int64


def test_the_same_seed_gives_the_same_communities(cloud):
    graph = graph_of(nearest_neighbours(unit_rows(cloud), 8))
    first = communities(graph, seed=3)
    np.testing.assert_array_equal(first, communities(graph, seed=3))
    assert modularity(graph, first) > 0.3
    assert modularity(graph, first) == pytest.approx(modularity(graph, communities(graph, seed=4)), abs=0.05)


def test_a_higher_resolution_gives_more_communities(cloud):
    graph = graph_of(nearest_neighbours(unit_rows(cloud), 8))
    numbers = [communities(graph, resolution).max() + 1 for resolution in (0.1, 1.0, 10.0)]
    assert numbers[0] < numbers[1] < numbers[2]


def test_a_row_without_neighbours_is_alone():
    graph = csr_matrix(np.pad(cliques(3, 3).toarray(), (0, 2)))
    assert communities(graph).tolist() in ([0] * 3 + [1] * 3 + [2, 3], [1] * 3 + [0] * 3 + [2, 3])
    assert communities(csr_matrix((4, 4))).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("n_clusters", [2, 5, 12, 30])
def test_as_many_communities_as_wanted_or_nearly(cloud, n_clusters):
    graph = graph_of(nearest_neighbours(unit_rows(cloud), 8))
    found = communities_at(graph, n_clusters)
    assert abs(found.max() + 1 - n_clusters) <= 1
    assert sorted(set(found.tolist())) == list(range(found.max() + 1))


def test_separate_parts_are_never_joined():
    assert communities_at(cliques(3, 3, 3), 2).max() + 1 == 3
    assert communities_at(csr_matrix((4, 4)), 2).tolist() == [0, 1, 2, 3]
