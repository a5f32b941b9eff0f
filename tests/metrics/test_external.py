from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn import metrics as sklearn_metrics

from shoal.errors import DataError, ParameterError
from shoal.metrics import (
    accuracy,
    ari,
    completeness,
    homogeneity,
    match_clusters,
    nmi,
    purity,
    scores,
    v_measure,
)

ALL = [accuracy, purity, nmi, ari, homogeneity, completeness, v_measure]
SKLEARN = [
    (nmi, sklearn_metrics.normalized_mutual_info_score),
    (ari, sklearn_metrics.adjusted_rand_score),
    (homogeneity, sklearn_metrics.homogeneity_score),
    (completeness, sklearn_metrics.completeness_score),
    (v_measure, sklearn_metrics.v_measure_score),
]


def random_labels(seed, n_classes=5, n_clusters=5, n=200):
    rng = np.random.default_rng(seed)
    true = rng.integers(0, n_classes, n)
    pred = np.where(rng.random(n) < 0.6, true % n_clusters, rng.integers(0, n_clusters, n))
    return true, pred


def test_accuracy_by_hand():
    # clusters 0 → a (2 of 3), 1 → b (2 of 2), 2 → c (1 of 1): 5 of 6
    assert accuracy(list("aabbbc"), [0, 0, 0, 1, 1, 2]) == pytest.approx(5 / 6)


def test_accuracy_takes_the_best_assignment_not_the_greedy_one():
    # texts per (class, cluster): a0=3 a1=2 b0=2 b1=0; greedy takes a0 + b1 = 3, the best is a1 + b0 = 4
    true, pred = list("aaaaabb"), [0, 0, 0, 1, 1, 0, 0]
    assert accuracy(true, pred) == pytest.approx(4 / 7)
    assert match_clusters(true, pred) == {0: "b", 1: "a"}


def test_accuracy_with_more_clusters_than_classes_leaves_clusters_over():
    assert accuracy([0, 0, 0, 1], [0, 0, 1, 2]) == 0.75
    assert match_clusters([0, 0, 0, 1], [0, 0, 1, 2]) == {0: 0, 2: 1}


def test_accuracy_with_fewer_clusters_than_classes_leaves_classes_over():
    assert accuracy([0, 0, 1, 2], [5, 5, 5, 5]) == 0.5
    assert match_clusters([0, 0, 1, 2], [5, 5, 5, 5]) == {5: 0}


@pytest.mark.parametrize(("n_classes", "n_clusters"), [(5, 5), (3, 8), (8, 3)])
def test_accuracy_equals_the_padded_square_assignment(n_classes, n_clusters):
    true, pred = random_labels(1, n_classes, n_clusters)
    square = np.zeros((8, 8))
    square[:n_classes, :n_clusters] = sklearn_metrics.cluster.contingency_matrix(true, pred)
    assert accuracy(true, pred) == pytest.approx(square[linear_sum_assignment(-square)].sum() / true.size)


@pytest.mark.parametrize("n_clusters", [3, 5, 8])
def test_match_clusters_is_one_to_one_and_gives_the_accuracy(n_clusters):
    true, pred = random_labels(2, 5, n_clusters)
    mapping = match_clusters(true, pred)
    assert len(set(mapping.values())) == len(mapping)
    assert np.mean([mapping.get(p) == t for t, p in zip(true, pred, strict=True)]) == accuracy(true, pred)


def test_match_clusters_leaves_out_a_pair_without_a_common_text():
    assert match_clusters(["a", "a", "b"], [0, 1, -1]) in ({0: "a"}, {1: "a"})


def test_purity_by_hand():
    assert purity(list("aabbbc"), [0, 0, 0, 1, 1, 1]) == pytest.approx(4 / 6)
    assert purity([0, 0, 1, 1], [0, 1, 2, 3]) == 1.0  # several clusters may share a class


def test_nmi_by_hand_under_both_means():
    # classes 2 + 2 and clusters 1 + 1 + 2: I = log 2, H(C) = log 2, H(P) = 1.5 log 2
    true, pred = [0, 0, 1, 1], [0, 1, 2, 2]
    assert nmi(true, pred) == pytest.approx(2 / 2.5)
    assert nmi(true, pred, average="geometric") == pytest.approx(1 / math.sqrt(1.5))


@pytest.mark.parametrize(("ours", "theirs"), SKLEARN)
@pytest.mark.parametrize("seed", range(3))
def test_equals_scikit_learn(ours, theirs, seed):
    true, pred = random_labels(seed, 5, 7)
    assert ours(true, pred) == pytest.approx(theirs(true, pred))


def test_geometric_nmi_equals_scikit_learn():
    true, pred = random_labels(3)
    expected = sklearn_metrics.normalized_mutual_info_score(true, pred, average_method="geometric")
    assert nmi(true, pred, average="geometric") == pytest.approx(expected)


@pytest.mark.parametrize("score", ALL)
@pytest.mark.parametrize("seed", range(3))
def test_renaming_clusters_and_classes_changes_nothing(score, seed):
    true, pred = random_labels(seed, 5, 7)
    rng = np.random.default_rng(seed)
    new_pred, new_true = rng.permutation(7)[pred], rng.permutation(5)[true]
    assert score(new_true, new_pred) == pytest.approx(score(true, pred))
    named = [f"cluster {label}" if label % 2 else int(label) for label in pred]
    assert score([str(label) for label in true], named) == pytest.approx(score(true, pred))


@pytest.mark.parametrize("score", ALL)
def test_order_of_the_texts_changes_nothing(score):
    true, pred = random_labels(0, 5, 7)
    order = np.random.default_rng(0).permutation(true.size)
    assert score(true[order], pred[order]) == pytest.approx(score(true, pred))


@pytest.mark.parametrize("score", ALL)
def test_same_partition_scores_one(score):
    assert score(["x", "x", "y", "z"], [3, 3, "3", 1]) == pytest.approx(1.0)  # 3 and "3" are two clusters


@pytest.mark.parametrize("none", [-1, None, float("nan"), np.int64(-1), -1.0])
def test_a_text_without_cluster_is_a_wrong_answer(none):
    true, pred = ["a", "a", "b", "b"], [0, 0, 1, none]
    assert accuracy(true, pred) == 0.75
    assert purity(true, pred) == 0.75
    assert match_clusters(true, pred) == {0: "a", 1: "b"}


def test_texts_without_cluster_never_match_a_class_even_when_they_are_one():
    assert accuracy(["a", "a", "b"], [-1, -1, 0]) == pytest.approx(1 / 3)
    assert accuracy(["a", "b"], [-1, None]) == purity(["a", "b"], [-1, None]) == 0
    assert match_clusters(["a", "b"], [-1, None]) == {}


@pytest.mark.parametrize("score", [nmi, ari, homogeneity, completeness, v_measure])
def test_texts_without_cluster_form_one_cluster_in_the_information_scores(score):
    true, pred = random_labels(0, 5, 4)
    gone = [None if label == 0 and row % 2 else -1 if label == 0 else label for row, label in enumerate(pred)]
    assert score(true, gone) == pytest.approx(score(true, pred))
    assert score(["a", "b", "b"], [-1, 0, 0]) == pytest.approx(1.0)


def test_minus_one_among_the_classes_is_a_class():
    assert accuracy([-1, 0, 1, -1], [2, 1, 0, 2]) == 1.0


def test_one_class_and_one_cluster():
    assert {score.__name__: score([0, 0], [1, 1]) for score in ALL} == {score.__name__: 1.0 for score in ALL}
    assert nmi([0, 0, 0], [0, 1, 2]) == nmi([0, 1, 2], [0, 0, 0]) == 0


def test_scores_are_percentages_of_the_single_scores():
    true, pred = random_labels(0)
    expected = {"acc": accuracy, "nmi": nmi, "ari": ari, "purity": purity}
    assert scores(true, pred) == {name: 100 * score(true, pred) for name, score in expected.items()}
    assert list(scores(true, pred)) == ["acc", "nmi", "ari", "purity"]
    assert scores([0, 0, 1], [0, 1, 2])["acc"] == pytest.approx(200 / 3, abs=1e-12)


@pytest.mark.parametrize("score", [*ALL, match_clusters, scores])
def test_lengths_that_differ_or_are_zero_are_refused_with_both_lengths(score):
    with pytest.raises(DataError, match=r"3 labels and labels_pred has 2"):
        score([0, 1, 1], [0, 1])
    with pytest.raises(DataError, match=r"0 labels and labels_pred has 0"):
        score([], [])


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_class_is_refused(missing):
    with pytest.raises(DataError, match="1 missing"):
        accuracy([0, missing], [0, 1])


@pytest.mark.parametrize("bad", [[[0], [1]], np.zeros((2, 1)), np.array(3), 5, [np.zeros(2), np.ones(2)]])
def test_labels_that_are_not_flat_are_refused(bad):
    with pytest.raises(DataError, match="labels_pred"):
        accuracy([0, 1], bad)


def test_unknown_mean_is_refused():
    with pytest.raises(ParameterError, match="average='max'"):
        nmi([0, 1], [0, 1], average="max")
