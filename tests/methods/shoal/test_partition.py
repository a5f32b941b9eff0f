from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from shoal.clusterers import SoftmaxHead, mean_log_probabilities
from shoal.methods.shoal.candidates import Candidates, PartitionOptions, filled, sure_rows, without_empty
from shoal.methods.shoal.evidence import BALANCED, START, UNEQUAL, Evidence, choose
from shoal.methods.shoal.features import Features
from shoal.methods.shoal.partition import find_partition
from shoal.metrics import accuracy
from shoal.vectors import unit_rows


def groups(sizes, dimension=20, noise=0.15, seed=0):
    """Unit rows around axes, and the number of each row's axis."""
    rng = np.random.RandomState(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    points = np.eye(len(sizes), dimension)[labels] + rng.normal(scale=noise, size=(len(labels), dimension))
    return unit_rows(points.astype(np.float32)), labels


def two(sizes, **kwargs):
    meaning, labels = groups(sizes, seed=0, **kwargs)
    words, _ = groups(sizes, seed=1, **kwargs)
    return Features(meaning, words, csr_matrix(words.clip(0))), labels


def test_features_side_by_side_are_unit_rows():
    features, _ = two([5, 5])
    assert features.joint.shape == (10, 40)
    np.testing.assert_allclose(np.linalg.norm(features.joint, axis=1), 1, rtol=1e-5)
    assert len(features.rows(np.array([1, 3])).meaning) == 2


def test_clear_clusters_are_found_and_the_same_seed_finds_them_again():
    features, labels = two([40, 30, 20])
    found = find_partition(features, 3, np.random.RandomState(0))
    assert accuracy(labels, found.labels) == 1
    again = find_partition(features, 3, np.random.RandomState(0))
    np.testing.assert_array_equal(found.labels, again.labels)
    np.testing.assert_allclose(found.assignment.sum(axis=1), 1, rtol=1e-5)


def test_many_clusters_of_very_unequal_sizes_take_the_unequal_branch():
    sizes = [80, 60, 40, 20, 10, 6, 5, 4, 4, 3]
    features, labels = two(sizes, dimension=30, noise=0.12)
    found = find_partition(features, len(sizes), np.random.RandomState(0))
    assert found.reason.startswith(UNEQUAL)
    assert accuracy(labels, found.labels) > 0.97


@pytest.fixture
def dense_themes():
    """Two dense themes close to each other, eight wider ones, and three lone rows, a cluster each to linkage."""
    rng = np.random.RandomState(0)
    centers = np.eye(40)[:13]
    centers[1] = centers[0] + 0.5 * centers[1]
    centers[3:10:2] += centers[2:10:2]
    labels = np.repeat(np.arange(13), [90] * 2 + [30] * 8 + [1] * 3)
    noise = rng.normal(size=(len(labels), 40)) * np.where(labels < 2, 0.075, 0.15)[:, None]
    return Features(unit_rows((unit_rows(centers)[labels] + noise).astype(np.float32))), labels


def test_two_dense_themes_that_linkage_joins_are_cut_by_regrouping(dense_themes):
    features, labels = dense_themes
    parts = Candidates(features, 12, PartitionOptions())
    linked = parts.unequal(1.0)
    assert accuracy(labels, linked.argmax(axis=1)) < 0.8
    assert accuracy(labels, parts.regrouped(linked, 1.0).argmax(axis=1)) > 0.98


def test_regrouping_is_said(dense_themes):
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
    features = Features(unit_rows(rng.normal(size=(120, 12)).astype(np.float32)))
    for options in (PartitionOptions(), PartitionOptions(unequal=False, smoothing=(1.0,))):
        for n_clusters in (7, 40, 100, 120):
            found = find_partition(features, n_clusters, np.random.RandomState(0), options)
            assert len(set(found.labels.tolist())) == n_clusters


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


def test_every_partition_that_was_weighed_is_reported():
    features, _ = two([20, 20])
    facts = find_partition(features, 2, np.random.RandomState(0)).as_facts()
    branches = [each["branch"] for each in facts["weighed"]]
    assert branches[:4] == ["balanced, smoothing 0", "balanced, smoothing 0.5", "balanced, smoothing 1", UNEQUAL]
    assert branches[-2].endswith(", co-trained")
    assert branches[-1] == START
    assert facts["smoothing"] in (0.0, 0.5, 1.0)


def test_parts_can_be_left_out():
    features, labels = two([20, 20])
    left = PartitionOptions(smoothing=(1.0,), equal_sizes=False, unequal=False, co_training=False)
    found = find_partition(features, 2, np.random.RandomState(0), left)
    assert [each.branch for each in found.evidence] == ["balanced, smoothing 1", START]
    assert accuracy(labels, found.labels) == 1
    assert set(found.assignment.ravel().tolist()) == {0.0, 1.0}


def test_one_view_is_enough():
    meaning, labels = groups([30, 30])
    found = find_partition(Features(meaning), 2, np.random.RandomState(0))
    assert accuracy(labels, found.labels) == 1


def test_the_answer_is_never_weaker_than_the_kmeans_start(monkeypatch):
    features, _ = two([30, 30, 30])
    bad = np.eye(3, dtype=np.float32)[np.arange(90) % 3]  # as if both branches had failed
    monkeypatch.setattr(Candidates, "balanced", lambda self, smoothing, rng: bad)
    monkeypatch.setattr(Candidates, "unequal", lambda self, smoothing: bad)
    monkeypatch.setattr(Candidates, "cotrained", lambda self, assignment, exponent: assignment)
    found = find_partition(features, 3, np.random.RandomState(0))
    np.testing.assert_array_equal(found.labels, found.start)
    assert found.reason.startswith("k-means: its evidence")


def test_unequal_clusters_are_taken_if_they_are_about_as_distinct():
    balanced = Evidence(BALANCED, modularity=0.6, silhouette=0.20, link=0.06)
    assert balanced.distinctness == pytest.approx(0.6 * 0.2**1.5 / 0.06)
    for taken in (Evidence(UNEQUAL, 0.7, 0.21, 0.06), Evidence(UNEQUAL, 0.6, 0.20, 0.07)):
        assert choose([balanced, taken])[0] == UNEQUAL
    splinters = Evidence(UNEQUAL, 0.65, 0.21, 0.12)  # stronger, but what was cut off hangs on to the rest
    assert splinters.strength > balanced.strength
    for left in (splinters, Evidence(UNEQUAL, 0.5, 0.20, 0.06), Evidence(UNEQUAL, 0.4, 0.195, 0.06)):
        assert choose([balanced, left])[0] == BALANCED
    nothing = [Evidence(branch, 0.0, 0.0, 0.0) for branch in (BALANCED, UNEQUAL)]
    assert choose(nothing)[0] == BALANCED


def test_clusters_that_are_apart_are_equally_distinct_however_far():
    assert Evidence("x", 0.5, 0.2, 0.0).distinctness == Evidence("x", 0.5, 0.2, 0.01).distinctness


def test_the_strongest_of_the_balanced_partitions_is_taken():
    plain, half = Evidence("plain", 0.5, 0.22, 0.1), Evidence("half", 0.55, 0.22, 0.1)
    whole = Evidence("whole", 0.6, 0.20, 0.1)
    assert choose([plain, half, whole, Evidence(UNEQUAL, 0.1, 0.1, 0.1)])[0] == "half"


def test_smoothing_that_costs_too_much_silhouette_is_not_weighed():
    plain, torn = Evidence("plain", 0.40, 0.200, 0.1), Evidence("torn", 0.60, 0.189, 0.1)
    assert torn.strength > plain.strength
    assert choose([plain, torn])[0] == "plain"
    assert choose([plain, Evidence("near", 0.60, 0.191, 0.1)])[0] == "near"
    linked = Evidence(UNEQUAL, 0.80, 0.189, 0.05)  # linkage follows the graph too
    assert linked.distinctness > 2 * plain.distinctness
    assert choose([plain, linked])[0] == "plain"
    assert choose([Evidence("less bad", 0.1, -0.2, 0.1), Evidence("bad", 0.1, -0.3, 0.1)])[0] == "less bad"


def test_co_training_may_cost_a_little_evidence_but_no_more(monkeypatch):
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


def test_evidence_is_weak_if_either_part_is():
    assert Evidence("x", 0.5, 0.25, 0.1).strength == pytest.approx(0.5 * 0.125)
    assert Evidence("x", -0.5, 0.5, 0.1).strength == Evidence("x", 0.5, -0.5, 0.1).strength == 0


def test_sure_rows_take_a_share_of_every_cluster():
    assignment = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4], [0.4, 0.6]])
    assert sure_rows(assignment, 0.5).tolist() == [True, True, False, False, True]
    assert sure_rows(assignment, 1.0).all()


def test_heads_speak_by_the_mean_of_their_logarithms():
    one = SoftmaxHead(np.zeros((1, 2), np.float32), np.log(np.array([0.8, 0.2], np.float32)))
    other = SoftmaxHead(np.zeros((1, 2), np.float32), np.log(np.array([0.5, 0.5], np.float32)))
    row = np.ones((1, 1), np.float32)
    said = mean_log_probabilities([one, other], [row, row])
    np.testing.assert_allclose(said, [[np.log(0.8 * 0.5) / 2, np.log(0.2 * 0.5) / 2]], rtol=1e-5)
