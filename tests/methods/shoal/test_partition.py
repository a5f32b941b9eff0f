"""Each rule of the procedure, on rows whose clusters are known."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.methods.shoal.candidates import Candidates, PartitionOptions
from shoal.methods.shoal.evidence import BALANCED, EQUAL, SAFE, SIZES_FREE, START, UNEQUAL, Rules
from shoal.methods.shoal.features import Features
from shoal.methods.shoal.partition import find_partition
from shoal.metrics import accuracy
from shoal.vectors import unit_rows

VERY_UNEQUAL = [80, 60, 40, 20, 10, 6, 5, 4, 4, 3]


def find(features, n_clusters, **options):
    return find_partition(features, n_clusters, np.random.RandomState(0), PartitionOptions(**options))


def noise(n_rows, seed=0):
    return Features(unit_rows(np.random.RandomState(seed).normal(size=(n_rows, 12)).astype(np.float32)))


def weighed(found):
    return [each.branch for each in found.evidence]


def test_clear_clusters_are_found_and_the_same_seed_finds_them_again(two):
    features, labels = two([40, 30, 20])
    found = find(features, 3)
    assert accuracy(labels, found.labels) == 1
    np.testing.assert_array_equal(found.labels, find(features, 3).labels)
    np.testing.assert_array_equal(found.labels, found.assignment.argmax(axis=1))
    np.testing.assert_allclose(found.assignment.sum(axis=1), 1, rtol=1e-5)


def test_sizes_are_relaxed_where_setting_them_free_explains_no_more(two):
    features, _ = two([40, 30, 20])
    found = find(features, 3)
    assert (found.branch, found.agreement) == (BALANCED, pytest.approx(1))
    assert found.reason == "clusters of similar sizes."
    assert weighed(found) == [START, SAFE, EQUAL, SIZES_FREE, BALANCED, f"{BALANCED}, co-trained"]


def test_sizes_are_set_free_where_that_explains_more(two):
    features, labels = two([100, 60, 30])
    found = find(features, 3)
    assert found.branch == BALANCED
    assert found.reason == "clusters of sizes that the neighbours suggest."
    assert accuracy(labels, found.labels) == 1


def test_many_clusters_of_very_unequal_sizes_are_linked(two):
    features, labels = two(VERY_UNEQUAL, dimension=30, noise=0.12)
    found = find(features, len(VERY_UNEQUAL))
    assert (found.branch, found.agreement) == (UNEQUAL, None)
    assert found.reason == "clusters of very unequal sizes, because equal ones do not fit the texts."
    assert weighed(found) == [START, SAFE, EQUAL, UNEQUAL, f"{UNEQUAL}, co-trained"]
    assert accuracy(labels, found.labels) > 0.97
    assert find(features, len(VERY_UNEQUAL), unequal=False).branch != UNEQUAL


def test_linked_clusters_are_regrouped_unless_that_explains_clearly_less(two, monkeypatch):
    features, labels = two(VERY_UNEQUAL, dimension=30, noise=0.12)
    bad = np.eye(10, dtype=np.float32)[np.where(labels == 1, 0, labels)]
    good = np.eye(10, dtype=np.float32)[labels]
    joined = np.eye(10, dtype=np.float32)[np.where(labels == 3, 2, labels)]
    for linked, better, said in ((joined, good, True), (good, bad, False)):
        monkeypatch.setattr(Candidates, "unequal", lambda self, linked=linked: linked)
        monkeypatch.setattr(Candidates, "regrouped", lambda self, assignment, better=better: better)
        found = find(features, 10, co_training=False)
        assert found.reason.endswith(", regrouped.") == said
        assert accuracy(labels, found.labels) == 1
        assert f"{UNEQUAL}, regrouped" in weighed(found)
        assert f"{UNEQUAL}, regrouped" not in weighed(find(features, 10, regrouping=False))


def test_linkage_that_explains_less_than_kmeans_is_not_taken(two, monkeypatch):
    features, labels = two(VERY_UNEQUAL, dimension=30, noise=0.12)
    monkeypatch.setattr(Candidates, "unequal", lambda self: np.eye(10, dtype=np.float32)[np.arange(len(labels)) % 10])
    found = find(features, 10)
    assert (found.branch, found.agreement) == (SAFE, None)
    assert "several answers" not in found.reason


def test_without_the_sign_of_unequal_sizes_linkage_must_explain_far_more(two):
    features, labels = two([60, 60, 60], dimension=20, noise=0.15)
    found = find_partition(features, 3, np.random.RandomState(0), rules=Rules(free_gain=-np.inf))
    assert UNEQUAL in weighed(found)  # it was looked at
    assert found.branch == BALANCED
    assert accuracy(labels, found.labels) > 0.97


def test_where_the_starts_disagree_the_safe_candidate_is_taken_and_it_is_said():
    found = find(noise(200), 8)
    assert found.branch == SAFE
    assert found.agreement < 2 / 3
    assert f"the texts support several answers: starts agree on {found.agreement:.0%} of the pairs." in found.reason
    assert weighed(found) == [START, SAFE, EQUAL, SIZES_FREE, BALANCED]
    settled = Candidates(noise(200), 8, PartitionOptions()).settled(found.start)
    np.testing.assert_array_equal(found.labels, settled)
    assert set(found.assignment.ravel().tolist()) == {0.0, 1.0}


def test_where_kmeans_explains_far_more_than_equal_sizes_it_is_taken(two):
    features, labels = two([150, 80, 40, 20], noise=0.3)
    found = find(features, 4, unequal=False)
    assert found.branch == SAFE
    assert found.reason.endswith("they explain the neighbours far better than clusters that start with equal sizes.")
    assert accuracy(labels, found.labels) > 0.98


def test_without_equal_sizes_the_safe_candidate_is_the_answer(two):
    features, labels = two([40, 30, 20])
    found = find(features, 3, equal_sizes=False)
    assert weighed(found) == [START, SAFE]
    assert found.reason == "k-means by meaning, with borders that follow the neighbours."
    assert accuracy(labels, found.labels) == 1


def test_co_training_can_be_left_out(two):
    features, labels = two([40, 30, 20])
    found = find(features, 3, co_training=False)
    assert weighed(found) == [START, SAFE, EQUAL, SIZES_FREE, BALANCED]
    assert accuracy(labels, found.labels) == 1


def test_one_cluster_is_all_rows(two):
    features, _ = two([20, 20])
    found = find(features, 1)
    assert (found.branch, set(found.labels.tolist())) == (SAFE, {0})


def test_there_are_as_many_clusters_as_were_asked_for():
    for options in ({}, {"unequal": False, "smoothing": 1.0}, {"equal_sizes": False}):
        for n_clusters in (4, 20, 50, 60):
            assert len(set(find(noise(60), n_clusters, **options).labels.tolist())) == n_clusters


def test_one_view_is_enough(groups):
    meaning, labels = groups([30, 30])
    assert accuracy(labels, find(Features(meaning), 2).labels) == 1


def test_the_choice_is_reported_as_plain_values(two):
    features, _ = two([20, 20])
    facts = find(features, 2).as_dict()
    assert facts.keys() == {"reason", "branch", "agreement", "weighed"}
    assert facts["branch"] == BALANCED
    assert all(each.keys() == {"branch", "modularity", "silhouette"} for each in facts["weighed"])


def test_rules_can_force_a_branch_and_every_partition_is_heard(two):
    features, _ = two([40, 30, 20])
    heard = {}
    for rules in (Rules(unequal_gain=-np.inf), Rules(free_gain=-np.inf), Rules(least_agreement=2)):
        found = find_partition(
            features,
            3,
            np.random.RandomState(0),
            rules=rules,
            hear=lambda evidence, labels: heard.setdefault(evidence.branch, labels),
        )
        assert set(weighed(found)) <= heard.keys()
    assert found.branch == SAFE
    assert {UNEQUAL, EQUAL, SIZES_FREE, BALANCED} <= heard.keys()
    assert all(len(labels) == 90 for labels in heard.values())
