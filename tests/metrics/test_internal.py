from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn import metrics as sklearn_metrics

from shoal.errors import DataError, ParameterError
from shoal.metrics import (
    _clusters,
    calinski_harabasz,
    davies_bouldin,
    dunn,
    inter_cluster_distance,
    intra_cluster_distance,
    silhouette,
    simplified_silhouette,
    size_entropy,
)


def silhouette_value(vectors, labels):
    return silhouette(vectors, labels).value


def cosine_silhouette(vectors, labels):
    return silhouette(vectors, labels, metric="cosine").value


MEASURES = [
    silhouette_value,
    cosine_silhouette,
    simplified_silhouette,
    dunn,
    davies_bouldin,
    calinski_harabasz,
    intra_cluster_distance,
    inter_cluster_distance,
]
NEED_TWO_CLUSTERS = [measure for measure in MEASURES if measure is not intra_cluster_distance]


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 120)
    return rng.normal(size=(4, 6))[labels] * 2 + rng.normal(size=(120, 6)), labels


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(_clusters, "BLOCK_ENTRIES", 500)  # four rows of 120 at a time


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_silhouette_equals_scikit_learn_and_has_no_error(blobs, metric):
    result = silhouette(*blobs, metric=metric)
    assert result.value == pytest.approx(sklearn_metrics.silhouette_score(*blobs, metric=metric), abs=1e-12)
    assert (result.error, result.n) == (0.0, 120)


def test_cosine_silhouette_with_a_zero_vector_equals_scikit_learn(blobs):
    vectors, labels = blobs
    vectors[3] = 0
    expected = sklearn_metrics.silhouette_score(vectors, labels, metric="cosine")
    assert silhouette(vectors, labels, metric="cosine").value == pytest.approx(expected, abs=1e-12)


def test_cosine_silhouette_of_parallel_vectors_is_zero_not_a_ratio_of_rounding_errors():
    rng = np.random.default_rng(0)
    vectors = rng.random((40, 1)) * rng.normal(size=(1, 50))
    assert silhouette(vectors, np.arange(40) % 2, metric="cosine").value == 0


def test_silhouette_by_hand_with_a_singleton():
    # 0 and 1: a = 1, b = 10 and 9; the single point counts 0
    result = silhouette([[0.0], [1.0], [10.0]], ["a", "a", "b"])
    assert result.value == pytest.approx((9 / 10 + 8 / 9 + 0) / 3)


def test_sampled_silhouette_is_the_mean_of_exact_widths(blobs):
    widths = sklearn_metrics.silhouette_samples(*blobs)
    estimates = [silhouette(*blobs, sample_size=30, random_state=seed) for seed in range(400)]
    values = np.array([estimate.value for estimate in estimates])
    assert {estimate.n for estimate in estimates} == {30}
    # unbiased: the mean of 400 estimates is within four of its own standard errors
    assert abs(values.mean() - widths.mean()) < 4 * values.std() / 20
    # and the stated error is the spread of the estimates
    assert np.mean([estimate.error for estimate in estimates]) == pytest.approx(values.std(), rel=0.1)


def test_sample_is_reproducible_and_follows_the_seed(blobs):
    assert silhouette(*blobs, sample_size=30) == silhouette(*blobs, sample_size=30, random_state=0)
    assert silhouette(*blobs, sample_size=30) != silhouette(*blobs, sample_size=30, random_state=1)


@pytest.mark.parametrize("sample_size", [None, 120, 5000])
def test_a_sample_of_everything_is_exact(blobs, sample_size):
    assert silhouette(*blobs, sample_size=sample_size) == silhouette(*blobs)


@pytest.mark.usefixtures("small_blocks")
def test_simplified_silhouette_equals_the_definition(blobs):
    vectors, labels = blobs
    centres = np.array([vectors[labels == k].mean(axis=0) for k in range(4)])
    widths = []
    for vector, label in zip(vectors, labels, strict=True):
        distances = np.linalg.norm(vector - centres, axis=1)
        inner, outer = distances[label], np.delete(distances, label).min()
        widths.append((outer - inner) / max(inner, outer))
    assert simplified_silhouette(vectors, labels) == pytest.approx(np.mean(widths))


def test_simplified_silhouette_counts_a_singleton_as_zero():
    # centres 1 and 10: widths (10-1)/10 and (8-1)/8, and 0
    assert simplified_silhouette([[0.0], [2.0], [10.0]], [0, 0, 1]) == pytest.approx((0.9 + 7 / 8) / 3)


@pytest.mark.usefixtures("small_blocks")
def test_dunn_equals_the_definition(blobs):
    vectors, labels = blobs
    distances, same = cdist(vectors, vectors), labels[:, None] == labels
    assert dunn(vectors, labels) == pytest.approx(distances[~same].min() / distances[same].max())


def test_dunn_when_every_cluster_is_one_place():
    place = np.random.default_rng(0).normal(size=(3, 50))
    assert dunn(place, [0, 1, 2]) == math.inf
    assert dunn(np.repeat(place, 3, axis=0), np.repeat([0, 1, 2], 3)) == math.inf
    assert math.isnan(dunn(place[[0, 0, 1]], [0, 1, 2]))


def test_dunn_is_zero_when_two_clusters_share_a_place():
    vectors = np.random.default_rng(0).normal(size=(4, 50))
    assert dunn(vectors[[0, 1, 1, 2]], [0, 0, 1, 1]) == 0.0


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (davies_bouldin, sklearn_metrics.davies_bouldin_score),
        (calinski_harabasz, sklearn_metrics.calinski_harabasz_score),
    ],
)
def test_equals_scikit_learn(blobs, ours, theirs):
    assert ours(*blobs) == pytest.approx(theirs(*blobs))


def test_intra_and_inter_cluster_distance_by_hand():
    # centroids (1, 0), (10, 0), (10, 4); average distances 1, 2, 0; nearest centroids 9, 4, 4
    vectors = [[0, 0], [2, 0], [8, 0], [12, 0], [10, 4]]
    labels = ["a", "a", "b", "b", "c"]
    assert intra_cluster_distance(vectors, labels) == pytest.approx((1 + 2 + 0) / 3)
    assert inter_cluster_distance(vectors, labels) == pytest.approx((9 + 4 + 4) / 3)


def test_size_entropy_by_hand():
    assert size_entropy([0, 1, 2, 3], n_clusters=4) == pytest.approx(1)
    assert size_entropy([2, 2, 2], n_clusters=4) == 0
    assert size_entropy(["a", "a", "b", "b", -1], n_clusters=4) == pytest.approx(0.5)  # two stayed empty
    expected = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25)) / math.log(3)
    assert size_entropy([0, 0, 0, 1], n_clusters=3) == pytest.approx(expected)


def test_size_entropy_without_a_scale_is_nan():
    assert math.isnan(size_entropy([0, 0], n_clusters=1))
    assert math.isnan(size_entropy([-1, -1], n_clusters=3))


@pytest.mark.parametrize("measure", MEASURES)
def test_renaming_clusters_changes_nothing(blobs, measure):
    vectors, labels = blobs
    expected = measure(vectors, labels)
    assert measure(vectors, np.array([3, 0, 2, 1])[labels]) == pytest.approx(expected)
    assert measure(vectors, [("red", 7, "blue", "7")[label] for label in labels]) == pytest.approx(expected)


@pytest.mark.parametrize("measure", MEASURES)
def test_order_of_the_rows_changes_nothing(blobs, measure):
    vectors, labels = blobs
    order = np.random.default_rng(0).permutation(120)
    assert measure(vectors[order], labels[order]) == pytest.approx(measure(vectors, labels))


@pytest.mark.parametrize("measure", [measure for measure in MEASURES if measure is not cosine_silhouette])
def test_a_common_offset_changes_nothing(blobs, measure):
    vectors, labels = blobs
    assert measure(vectors + 1e6, labels) == pytest.approx(measure(vectors, labels), rel=1e-6)


@pytest.mark.parametrize("measure", MEASURES)
def test_rows_without_a_cluster_are_left_out(blobs, measure):
    vectors, labels = blobs
    kept = np.arange(120) % 3 > 0
    gone = [int(label) if keep else (-1, None)[label % 2] for label, keep in zip(labels, kept, strict=True)]
    vectors_with_nan = np.where(kept[:, None], vectors, np.nan)
    assert measure(vectors_with_nan, gone) == pytest.approx(measure(vectors[kept], labels[kept]))


@pytest.mark.parametrize("measure", MEASURES)
def test_an_empty_cluster_number_does_not_count(blobs, measure):
    vectors, labels = blobs
    assert measure(vectors, labels * 10) == pytest.approx(measure(vectors, labels))


@pytest.mark.parametrize("measure", MEASURES)
def test_float32_and_integers_are_taken(blobs, measure):
    vectors, labels = blobs
    assert measure(vectors.astype(np.float32), labels) == pytest.approx(measure(vectors, labels), rel=1e-4)
    whole = np.round(vectors * 100)
    assert measure(whole.astype(int), labels) == pytest.approx(measure(whole, labels))


@pytest.mark.parametrize("measure", NEED_TWO_CLUSTERS)
@pytest.mark.parametrize("labels", [[0, 0, 0], [-1, 2, 2], [-1, -1, 1], [-1, -1, -1]])
def test_fewer_than_two_clusters_is_nan(measure, labels):
    assert math.isnan(measure(np.eye(3), labels))


def test_silhouette_of_one_cluster_says_how_many_points_it_saw():
    result = silhouette(np.eye(3), [-1, 2, 2])
    assert math.isnan(result.error)
    assert result.n == 2


def test_intra_cluster_distance_needs_one_cluster():
    assert intra_cluster_distance([[0.0], [4.0]], [0, 0]) == 2
    assert math.isnan(intra_cluster_distance([[0.0], [4.0]], [-1, -1]))


def test_all_singletons():
    vectors, labels = np.diag([1.0, 2.0, 3.0]), [0, 1, 2]
    assert silhouette(vectors, labels).value == simplified_silhouette(vectors, labels) == 0
    assert dunn(vectors, labels) == math.inf
    assert davies_bouldin(vectors, labels) == intra_cluster_distance(vectors, labels) == 0
    assert math.isnan(calinski_harabasz(vectors, labels))
    assert inter_cluster_distance(vectors, labels) == pytest.approx((2 * 5**0.5 + 10**0.5) / 3)


def test_all_points_in_one_place():
    vectors, labels = np.full((4, 8), 0.3), [0, 0, 1, 1]
    assert silhouette(vectors, labels).value == simplified_silhouette(vectors, labels) == 0
    assert intra_cluster_distance(vectors, labels) == inter_cluster_distance(vectors, labels) == 0
    assert davies_bouldin(vectors, labels) == 0
    assert calinski_harabasz(vectors, labels) == 1
    assert math.isnan(dunn(vectors, labels))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("vectors", "labels", "message"),
    [
        (np.eye(3), [0, 1], r"\(3, 3\) and labels has 2"),
        (np.zeros(3), [0, 1, 1], r"shape \(3,\)"),
        (np.zeros((0, 3)), [], r"shape \(0, 3\)"),
        (np.zeros((2, 0)), [0, 1], r"shape \(2, 0\)"),
        ([[1.0], [np.nan], [np.inf]], [0, 1, 1], "2 rows with NaN"),
        ([[1.0], [1.0, 2.0]], [0, 1], "different lengths"),
        ([["a"], ["b"]], [0, 1], "dtype"),
    ],
)
def test_unusable_vectors_are_refused(measure, vectors, labels, message):
    with pytest.raises(DataError, match=message):
        measure(vectors, labels)


def test_unusable_parameters_are_refused(blobs):
    with pytest.raises(ParameterError, match="metric='manhattan'"):
        silhouette(*blobs, metric="manhattan")
    with pytest.raises(ParameterError, match="sample_size=1"):
        silhouette(*blobs, sample_size=1)
    with pytest.raises(ParameterError, match="n_clusters=2 but the labels name 3 clusters"):
        size_entropy([0, 1, 2], n_clusters=2)
    with pytest.raises(ParameterError, match="n_clusters=0"):
        size_entropy([-1], n_clusters=0)
    with pytest.raises(DataError, match="0 entries"):
        size_entropy([], n_clusters=2)
