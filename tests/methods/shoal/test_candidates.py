from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from shoal.methods.shoal import candidates
from shoal.methods.shoal.candidates import (
    Candidates,
    PartitionOptions,
    confident_rows,
    fair_neighbours,
    filled,
    without_empty,
)
from shoal.methods.shoal.features import Features
from shoal.metrics import accuracy
from shoal.vectors import unit_rows


def test_two_dense_themes_that_linkage_joins_are_cut_by_regrouping(dense_themes):
    features, labels = dense_themes
    parts = Candidates(features, 12, PartitionOptions(smoothing=1.0))
    linked = parts.unequal()
    assert accuracy(labels, linked.argmax(axis=1)) < 0.8
    assert accuracy(labels, parts.regrouped(linked).argmax(axis=1)) > 0.98


def test_of_several_draws_of_the_groups_the_linkage_that_explains_most_is_kept(dense_themes, monkeypatch):
    features, _ = dense_themes
    monkeypatch.setattr(candidates, "LINKED_ROWS", 40)
    parts = Candidates(features, 12, PartitionOptions())
    explained, linkage = [], candidates.average_linkage_labels

    def noted(rows, n_clusters, max_rows, seed):
        labels = linkage(rows, n_clusters, max_rows, seed)
        explained.append(parts.explained(parts._with_borders(labels).argmax(axis=1)))
        return labels

    monkeypatch.setattr(candidates, "average_linkage_labels", noted)
    best = parts.explained(parts.unequal(4).argmax(axis=1))
    assert len(set(explained)) > 1
    assert best == max(explained)
    assert len(explained) == 4
    parts.unequal()
    assert len(explained) == 5


def test_nothing_to_regroup_leaves_the_assignment_itself(two):
    features, labels = two([30, 20, 10])
    parts = Candidates(features, 3, PartitionOptions())
    assignment = parts.hard(labels)
    assert parts.regrouped(assignment) is assignment


def test_settling_moves_the_borders_to_where_the_neighbours_are(two):
    features, labels = two([30, 20, 10])
    wrong = labels.copy()
    wrong[:6] = 2
    assert accuracy(labels, Candidates(features, 3, PartitionOptions()).settled(wrong)) == 1


@pytest.mark.parametrize("start", ["equal_from_communities", "equal_from_kmeans"])
def test_both_starts_give_equal_sizes_which_relax_or_are_set_free(two, start):
    features, labels = two([40, 30, 20])
    parts = Candidates(features, 3, PartitionOptions())
    state = getattr(parts, start)(np.random.RandomState(0))
    np.testing.assert_allclose(state.sizes, 1 / 3, atol=0.01)
    for assignment in (parts.balanced(state), parts.free(state)):
        assert accuracy(labels, assignment.argmax(axis=1)) == 1
    np.testing.assert_array_equal(state.labels, getattr(parts, start)(np.random.RandomState(0)).labels)


def test_too_few_communities_are_completed_by_rows():
    meaning = unit_rows(np.random.RandomState(0).normal(size=(30, 6)).astype(np.float32))
    parts = Candidates(Features(meaning), 25, PartitionOptions())
    parts.graph = csr_matrix(np.ones((30, 30)) - np.eye(30))  # one community at any sensible resolution
    assert parts.equal_from_communities(np.random.RandomState(0)).centers.shape == (25, 6)


def test_co_training_corrects_what_either_view_sees(two):
    features, labels = two([40, 40, 40], noise=0.25)
    parts = Candidates(features, 3, PartitionOptions())
    assignment = np.full((120, 3), 0.1, np.float32)
    assignment[np.arange(120), labels] = 0.8
    assignment[:5] = [0.3, 0.4, 0.3]  # five rows in the wrong cluster, and unsure
    assert accuracy(labels, assignment.argmax(axis=1)) < 1
    assert accuracy(labels, parts.cotrained(assignment, 0.9).argmax(axis=1)) == 1


def test_half_of_a_cluster_are_neighbours_at_the_most_or_a_handful():
    assert fair_neighbours(20_000, 20) == 500
    assert fair_neighbours(400, 69) == 4  # the others of a cluster of five
    assert fair_neighbours(800, 100) == 5
    assert fair_neighbours(6, 2) == 2
    assert [fair_neighbours(n, 5) for n in (5, 6)] == [1, 1]
    features = Features(unit_rows(np.random.RandomState(0).normal(size=(12, 4)).astype(np.float32)))
    assert np.diff(Candidates(features, 2, PartitionOptions()).graph.indptr).max() < 11  # not all are neighbours


def test_words_have_less_weight_in_a_small_corpus(two):
    few, many = (two([size, size])[0] for size in (5, 500))
    assert Candidates(many, 2, PartitionOptions(smoothing=0.0)).smooth == pytest.approx(many.joint, abs=1e-6)
    weight = np.float32(0.1)  # the square root of 10 / 1000
    expected = unit_rows(np.hstack([few.meaning, weight * few.words]))
    assert Candidates(few, 2, PartitionOptions(smoothing=0.0)).smooth == pytest.approx(expected, abs=1e-6)


def test_a_graph_without_edges_explains_nothing():
    apart = Features(np.eye(3, dtype=np.float32))
    assert Candidates(apart, 2, PartitionOptions()).explained(np.array([0, 0, 1])) == 0


def test_filling_takes_the_least_sure_and_never_a_cluster_of_one():
    assignment = np.array([[0.55, 0.45, 0.0, 0.0], [0.9, 0.1, 0.0, 0.0], [0.8, 0.2, 0.0, 0.0], [0.49, 0.51, 0.0, 0.0]])
    assert filled(assignment).argmax(axis=1).tolist() == [2, 0, 3, 1]
    full = filled(np.eye(3))
    np.testing.assert_array_equal(full, np.eye(3))


def test_an_emptied_cluster_gets_its_rows_back():
    before = np.eye(3)[[0, 0, 1, 2]]
    after = np.array([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.1, 0.9, 0.0], [0.5, 0.3, 0.2]])
    kept = without_empty(after, before)
    assert kept.argmax(axis=1).tolist() == [0, 1, 1, 2]
    np.testing.assert_array_equal(kept[:3], after[:3])
    np.testing.assert_array_equal(without_empty(before, after), before)


def test_sure_rows_take_a_share_of_every_cluster():
    assignment = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4], [0.4, 0.6]])
    assert confident_rows(assignment, 0.5).tolist() == [True, True, False, False, True]
    assert confident_rows(assignment, 1.0).all()
