"""The tree: its levels nest, the fit's own number gives the fit's own clusters, rows stay in their branch."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from shoal.errors import ParameterError
from shoal.n_clusters import Hierarchy, build_hierarchy


@pytest.fixture
def rows():
    """Six tight groups on a line, in three clusters of two, the first two of which are near each other."""
    rng = np.random.RandomState(0)
    places = np.array([0.0, 1.0, 4.0, 5.0, 20.0, 21.0])
    vectors = np.repeat(places, 10)[:, None] + rng.normal(scale=0.05, size=(60, 1))
    return vectors.astype(np.float32), np.repeat([0, 1, 2], 20)


@pytest.fixture
def tree(rows):
    return build_hierarchy(*rows, 3, 6)


def one_hot(labels, n_clusters=3):
    return np.eye(n_clusters, dtype=np.float32)[labels]


def labels_at(tree, rows, n_groups):
    vectors, labels = rows
    return tree.regroup(vectors, labels, one_hot(labels), n_groups)[0]


def test_groups_on_a_line(tree, rows, same_partition):
    groups = np.repeat(np.arange(6), 10)
    assert same_partition(labels_at(tree, rows, 6), groups)
    assert (labels_at(tree, rows, 3) == rows[1]).all()
    assert same_partition(labels_at(tree, rows, 2), np.repeat([0, 0, 1], 20))
    assert set(labels_at(tree, rows, 1)) == {0}


def test_every_level_nests_in_the_coarser_one(tree, rows):
    levels = [labels_at(tree, rows, n_groups) for n_groups in range(1, 7)]
    for n_groups, labels in enumerate(levels, start=1):
        assert set(labels) == set(range(n_groups))
    for coarse, fine in pairwise(levels):
        assert len(set(zip(fine, coarse, strict=True))) == len(set(fine))


def test_numbered_from_the_largest(rows):
    vectors, _ = rows
    labels = np.repeat([2, 0, 1], [40, 10, 10])
    sizes = np.bincount(labels_at(build_hierarchy(vectors, labels, 3, 6), (vectors, labels), 2))
    assert sizes[0] >= sizes[1]


def test_probabilities_stay_probabilities(tree, rows):
    vectors, labels = rows
    rng = np.random.RandomState(1)
    given = rng.dirichlet(np.ones(3), len(labels)).astype(np.float32)
    for n_groups in range(1, 7):
        _, found = tree.regroup(vectors, labels, given, n_groups)
        np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)
    _, joined = tree.regroup(vectors, labels, given, 2)
    np.testing.assert_allclose(joined[:, 0], given[:, 0] + given[:, 1], atol=1e-6)


def test_a_row_far_from_its_cluster_stays_in_its_branch(tree):
    vectors = np.array([[20.0]], np.float32)  # where cluster 2 is
    label = np.array([0])
    groups = tree.cut(6)
    found, _ = tree.regroup(vectors, label, one_hot(label), 6)
    assert found[0] in groups[tree.cluster_of == 0]


def test_joins_lose_least_by_ward():
    """One text far out is joined before two large clusters that are nearer each other."""
    vectors = np.repeat(np.array([[0.0], [2.0], [5.0]], np.float32), [50, 50, 2], axis=0)
    tree = build_hierarchy(vectors, np.repeat([0, 1, 2], [50, 50, 2]), 3, 3)
    # joining 1 and 2 costs 50·2/52·9 ≈ 17, joining 0 and 1 costs 50·50/100·4 = 100
    assert tree.cut(2).tolist() == [1, 0, 0]


@pytest.mark.parametrize("n_groups", [0, 7, -1])
def test_more_than_it_has(tree, n_groups):
    with pytest.raises(
        ParameterError, match=f"{n_groups} clusters were asked for, but this run can be cut into 1 to 6"
    ):
        tree.cut(n_groups)


def test_equal_rows_and_small_clusters_are_not_cut():
    vectors = np.repeat(np.eye(2, dtype=np.float32), 8, axis=0)
    assert len(build_hierarchy(vectors, np.repeat([0, 1], 8), 2, 4).centers) == 2
    assert len(build_hierarchy(np.eye(3, dtype=np.float32), np.arange(3), 3, 6).centers) == 3


def test_state_and_back(tree, rows):
    again = Hierarchy.from_state(tree.state())
    for n_groups in range(1, 7):
        assert (again.cut(n_groups) == tree.cut(n_groups)).all()
    assert again.bandwidth == tree.bandwidth


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("merges", lambda merges: merges[:-1]),
        ("merges", lambda merges: merges + 5),
        ("merges", lambda merges: -merges - 1),
        ("merges", lambda merges: merges.astype(np.float32)),
        ("cluster_of", lambda cluster_of: cluster_of + 1),  # a cluster without parts
        ("sizes", lambda sizes: sizes[1:]),
    ],
)
def test_what_is_no_tree_is_refused(tree, name, change):
    state = tree.state()
    with pytest.raises(ValueError, match="not a tree"):
        Hierarchy.from_state({**state, name: change(state[name])})
