from __future__ import annotations

import numpy as np

from shoal.methods.shoal.candidates import Candidates, PartitionOptions
from shoal.methods.shoal.evidence import START, UNEQUAL
from shoal.methods.shoal.features import Features
from shoal.methods.shoal.partition import find_partition
from shoal.metrics import accuracy
from shoal.vectors import unit_rows


def test_clear_clusters_are_found_and_the_same_seed_finds_them_again(two):
    features, labels = two([40, 30, 20])
    found = find_partition(features, 3, np.random.RandomState(0))
    assert accuracy(labels, found.labels) == 1
    again = find_partition(features, 3, np.random.RandomState(0))
    np.testing.assert_array_equal(found.labels, again.labels)
    np.testing.assert_allclose(found.assignment.sum(axis=1), 1, rtol=1e-5)


def test_many_clusters_of_very_unequal_sizes_take_the_unequal_branch(two):
    sizes = [80, 60, 40, 20, 10, 6, 5, 4, 4, 3]
    features, labels = two(sizes, dimension=30, noise=0.12)
    found = find_partition(features, len(sizes), np.random.RandomState(0))
    assert found.reason.startswith(UNEQUAL)
    assert accuracy(labels, found.labels) > 0.97


def test_regrouping_is_said(two, dense_themes):
    def reason(features, n_clusters, **options):
        found = find_partition(features, n_clusters, np.random.RandomState(0), PartitionOptions(**options))
        assert found.branch == UNEQUAL
        return found.reason

    clear, _ = two([80, 60, 40, 20, 10, 6, 5, 4, 4, 3], dimension=30, noise=0.12)
    assert "nothing to regroup" in reason(clear, 10)
    assert "regroup" not in reason(clear, 10, regrouping=False)
    assert "regrouping kept" in reason(dense_themes[0], 12)


def test_there_are_as_many_clusters_as_were_asked_for():
    rng = np.random.RandomState(0)
    features = Features(unit_rows(rng.normal(size=(60, 12)).astype(np.float32)))
    for options in (PartitionOptions(), PartitionOptions(unequal=False, smoothing=(1.0,))):
        for n_clusters in (4, 20, 50, 60):
            found = find_partition(features, n_clusters, np.random.RandomState(0), options)
            assert len(set(found.labels.tolist())) == n_clusters


def test_every_partition_that_was_weighed_is_reported(two):
    features, _ = two([20, 20])
    facts = find_partition(features, 2, np.random.RandomState(0)).as_dict()
    branches = [each["branch"] for each in facts["weighed"]]
    assert branches[:4] == ["balanced, smoothing 0", "balanced, smoothing 0.5", "balanced, smoothing 1", UNEQUAL]
    assert branches[-2].endswith(", co-trained")
    assert branches[-1] == START
    assert facts["smoothing"] in (0.0, 0.5, 1.0)


def test_parts_can_be_left_out(two):
    features, labels = two([20, 20])
    left = PartitionOptions(smoothing=(1.0,), equal_sizes=False, unequal=False, co_training=False)
    found = find_partition(features, 2, np.random.RandomState(0), left)
    assert [each.branch for each in found.evidence] == ["balanced, smoothing 1", START]
    assert accuracy(labels, found.labels) == 1
    assert set(found.assignment.ravel().tolist()) == {0.0, 1.0}


def test_one_view_is_enough(groups):
    meaning, labels = groups([30, 30])
    found = find_partition(Features(meaning), 2, np.random.RandomState(0))
    assert accuracy(labels, found.labels) == 1


def test_the_answer_is_never_weaker_than_the_kmeans_start(two, monkeypatch):
    features, _ = two([30, 30, 30])
    bad = np.eye(3, dtype=np.float32)[np.arange(90) % 3]  # as if both branches had failed
    monkeypatch.setattr(Candidates, "balanced", lambda self, smoothing, rng: bad)
    monkeypatch.setattr(Candidates, "unequal", lambda self, smoothing: bad)
    monkeypatch.setattr(Candidates, "cotrained", lambda self, assignment, exponent: assignment)
    found = find_partition(features, 3, np.random.RandomState(0))
    np.testing.assert_array_equal(found.labels, found.start)
    assert found.reason.startswith("k-means: its evidence")


def test_co_training_may_cost_a_little_evidence_but_no_more(two, monkeypatch):
    features, _ = two([40, 30, 20], noise=0.3)

    def with_swapped(n_rows):
        def cotrained(self, assignment, exponent):
            moved = assignment.copy()
            moved[:n_rows] = moved[:n_rows, ::-1]
            return moved

        monkeypatch.setattr(Candidates, "cotrained", cotrained)
        return find_partition(features, 3, np.random.RandomState(0)).reason

    assert "kept" in with_swapped(0)
    assert "dropped" in with_swapped(10)
