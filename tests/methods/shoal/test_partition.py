"""Each rule of the procedure, on rows whose clusters are known."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import pytest

from shoal.methods.shoal import partition
from shoal.methods.shoal.candidates import Candidates, PartitionOptions
from shoal.methods.shoal.evidence import BALANCED, EQUAL, SAFE, SIZES_FREE, START, UNEQUAL, Rules
from shoal.methods.shoal.features import Features
from shoal.methods.shoal.partition import FEW_SAMPLES, SAMPLES, find_partition
from shoal.metrics import accuracy
from shoal.vectors import unit_rows

VERY_UNEQUAL = [80, 60, 40, 20, 10, 6, 5, 4, 4, 3]


def find(features, n_clusters, kind=None, **options):
    return find_partition(features, n_clusters, np.random.RandomState(0), PartitionOptions(**options), kind=kind)


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
    assert found.branch == BALANCED
    assert found.stability.keys() == {SAFE, SIZES_FREE, UNEQUAL}
    assert found.stability[SIZES_FREE] == 1
    assert found.reason == "clusters of similar sizes."
    assert weighed(found) == [START, SAFE, UNEQUAL, EQUAL, SIZES_FREE, BALANCED, f"{BALANCED}, co-trained"]


def test_sizes_are_set_free_where_that_explains_more(two):
    features, labels = two([100, 60, 30])
    found = find(features, 3)
    assert found.branch == BALANCED
    assert found.reason == "clusters of sizes that the neighbours suggest."
    assert accuracy(labels, found.labels) == 1


def test_many_clusters_of_very_unequal_sizes_are_linked_at_once(two):
    features, labels = two(VERY_UNEQUAL, dimension=30, noise=0.12)
    found = find(features, len(VERY_UNEQUAL))
    assert (found.branch, found.stability) == (UNEQUAL, {})
    assert found.reason == "clusters of very unequal sizes, because equal ones do not fit the texts."
    assert weighed(found) == [START, SAFE, UNEQUAL, EQUAL, f"{UNEQUAL}, co-trained"]
    assert accuracy(labels, found.labels) > 0.97
    without = find(features, len(VERY_UNEQUAL), unequal=False)
    assert without.branch != UNEQUAL
    assert without.stability.keys() == {SAFE, SIZES_FREE}


def test_without_that_sign_they_are_linked_if_they_are_found_again_far_better(two):
    features, labels = two(VERY_UNEQUAL, dimension=30, noise=0.12)
    rules = Rules(unequal_gain=np.inf)
    found = find_partition(features, len(VERY_UNEQUAL), np.random.RandomState(0), rules=rules)
    assert found.branch == UNEQUAL
    assert found.stability[UNEQUAL] >= 0.85
    assert 1 - found.stability[UNEQUAL] <= (1 - found.stability[SIZES_FREE]) / 2
    assert accuracy(labels, found.labels) > 0.97


def test_linked_clusters_are_regrouped_unless_that_explains_clearly_less(two, monkeypatch):
    features, labels = two(VERY_UNEQUAL, dimension=30, noise=0.12)
    bad = np.eye(10, dtype=np.float32)[np.where(labels == 1, 0, labels)]
    good = np.eye(10, dtype=np.float32)[labels]
    joined = np.eye(10, dtype=np.float32)[np.where(labels == 3, 2, labels)]
    for linked, better, said in ((joined, good, True), (good, bad, False)):
        monkeypatch.setattr(Candidates, "unequal", lambda *_, linked=linked: linked)
        monkeypatch.setattr(Candidates, "regrouped", lambda self, assignment, better=better: better)
        found = find(features, 10, UNEQUAL, co_training=False)
        assert found.reason.endswith(", regrouped.") == said
        assert accuracy(labels, found.labels) == 1
        assert f"{UNEQUAL}, regrouped" in weighed(found)
        assert f"{UNEQUAL}, regrouped" not in weighed(find(features, 10, UNEQUAL, regrouping=False))


def test_linkage_that_explains_less_and_is_not_found_again_is_not_taken(two, monkeypatch):
    features, _ = two(VERY_UNEQUAL, dimension=30, noise=0.12)
    random = np.random.RandomState(0)
    monkeypatch.setattr(
        Candidates, "unequal", lambda self, *_: np.eye(10, dtype=np.float32)[random.permutation(len(self.smooth)) % 10]
    )
    found = find(features, 10)
    assert found.stability[UNEQUAL] < 0.3
    assert found.branch != UNEQUAL


def test_where_little_is_found_again_the_safe_candidate_is_taken_and_it_is_said():
    found = find(noise(200), 8)
    assert found.branch == SAFE
    stable = found.stability
    assert stable[SIZES_FREE] < 0.6
    assert (
        f"the texts support several answers: among four fifths of them {stable[SAFE]:.0%} of such a cluster is found "
        f"again, {stable[SIZES_FREE]:.0%} of one that starts with equal sizes." in found.reason
    )
    assert weighed(found) == [START, SAFE, UNEQUAL, EQUAL, SIZES_FREE]
    settled = Candidates(noise(200), 8, PartitionOptions()).settled(found.start)
    np.testing.assert_array_equal(found.labels, settled)
    assert set(found.assignment.ravel().tolist()) == {0.0, 1.0}


def test_a_few_samples_are_enough_if_they_agree(two, monkeypatch):
    drawn = []
    among = Candidates.among
    monkeypatch.setattr(Candidates, "among", lambda self, rows: drawn.append(len(rows)) or among(self, rows))
    find(two([40, 30, 20])[0], 3)
    assert drawn == [72] * FEW_SAMPLES[SIZES_FREE]
    drawn.clear()
    monkeypatch.setattr(partition, "most_trusted", lambda *_: UNEQUAL)
    find(two([40, 30, 20])[0], 3)
    assert drawn == [72] * FEW_SAMPLES[UNEQUAL]
    drawn.clear()
    both = cycle([SAFE, SIZES_FREE])
    monkeypatch.setattr(partition, "most_trusted", lambda *_: next(both))
    find(two([40, 30, 20])[0], 3)
    assert drawn == [72] * SAMPLES


def test_no_fewer_rows_than_clusters_are_drawn():
    found = find(noise(12), 12)
    assert len(set(found.labels.tolist())) == 12
    assert set(found.stability.values()) == {1}


def test_without_equal_sizes_the_safe_candidate_is_the_answer(two):
    features, labels = two([40, 30, 20])
    found = find(features, 3, equal_sizes=False)
    assert weighed(found) == [START, SAFE]
    assert found.reason == "k-means by meaning, with borders that follow the neighbours."
    assert accuracy(labels, found.labels) == 1


def test_co_training_can_be_left_out(two):
    features, labels = two([40, 30, 20])
    found = find(features, 3, co_training=False)
    assert weighed(found) == [START, SAFE, UNEQUAL, EQUAL, SIZES_FREE, BALANCED]
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
    assert facts.keys() == {"reason", "branch", "stability", "weighed"}
    assert facts["branch"] == BALANCED
    assert all(each.keys() == {"branch", "modularity", "silhouette"} for each in facts["weighed"])


@pytest.mark.parametrize(
    ("kind", "rules", "said"),
    [
        (UNEQUAL, Rules(), "very unequal sizes"),
        (SIZES_FREE, Rules(free_gain=-np.inf), "sizes that the neighbours suggest"),
        (SIZES_FREE, Rules(free_gain=np.inf), "similar sizes"),
    ],
)
def test_a_kind_can_be_forced_and_every_partition_is_heard(two, kind, rules, said):
    features, _ = two([40, 30, 20])
    heard = {}

    def hear(evidence, labels):
        heard[evidence.branch] = labels

    found = find_partition(features, 3, np.random.RandomState(0), rules=rules, kind=kind, hear=hear)
    assert said in found.reason
    assert found.stability == {}
    assert weighed(found) == list(heard)
    assert all(len(labels) == 90 for labels in heard.values())
