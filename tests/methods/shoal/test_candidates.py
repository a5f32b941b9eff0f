from __future__ import annotations

import numpy as np

from shoal.methods.shoal.candidates import Candidates, PartitionOptions, confident_rows, filled, without_empty
from shoal.metrics import accuracy


def test_two_dense_themes_that_linkage_joins_are_cut_by_regrouping(dense_themes):
    features, labels = dense_themes
    parts = Candidates(features, 12, PartitionOptions())
    linked = parts.unequal(1.0)
    assert accuracy(labels, linked.argmax(axis=1)) < 0.8
    assert accuracy(labels, parts.regrouped(linked, 1.0).argmax(axis=1)) > 0.98


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
