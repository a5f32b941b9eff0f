"""Reliability: checked against values computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.errors import DataError
from shoal.metrics import accuracy, purity, reliability, rises

CLASSES = ["a"] * 5 + ["b"] * 5
CLUSTERS = [0, 0, 0, 1, 1, 1, 1, 1, 1, 1]  # two of class a are wrong
SURE = [0.95, 0.95, 0.9, 0.15, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85]


def test_fifths_and_error_by_hand():
    found = reliability(CLASSES, CLUSTERS, SURE)
    assert found.accuracy == (0.0, 1.0, 1.0, 1.0, 1.0)
    np.testing.assert_allclose(found.confidence, [0.25, 0.5, 0.7, 0.875, 0.95])
    by_hand = [0.15, 0.35, 0.55, 0.45, 0.35, 0.25, 0.15, 3 - 2.8]
    assert found.error == pytest.approx(sum(by_hand) / 10)
    assert np.mean(found.accuracy) == pytest.approx(accuracy(CLASSES, CLUSTERS))
    assert not rises(found.accuracy)
    assert found.purity == found.accuracy


def test_it_rises_only_if_every_fifth_does():
    sure = np.arange(25) / 25
    right = np.array([0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    classes = np.where(right == 1, 0, 1)
    assert rises(reliability(classes.tolist(), [0] * 25, sure).accuracy)
    assert not rises(reliability(classes.tolist(), [0] * 25, sure[::-1]).accuracy)


def test_texts_without_a_cluster_and_surplus_clusters_are_wrong():
    assert reliability(["a", "a", "a"], [0, 0, -1], [0.9, 0.9, 0.1]).accuracy == (0.0, 1.0, 1.0)
    split = reliability(["a", "a", "a"], [0, 0, 1], [0.9, 0.9, 0.1])
    assert (split.accuracy, split.purity) == ((0.0, 1.0, 1.0), (1.0, 1.0, 1.0))
    assert reliability(["a", "a", "a"], [0, 0, -1], [0.9, 0.9, 0.1]).purity == (0.0, 1.0, 1.0)


def test_fifths_of_equal_size_average_to_accuracy_and_purity():
    rng = np.random.RandomState(0)
    classes, clusters = rng.randint(4, size=100).tolist(), rng.randint(9, size=100).tolist()
    found = reliability(classes, clusters, rng.rand(100))
    assert np.mean(found.accuracy) == pytest.approx(accuracy(classes, clusters))
    assert np.mean(found.purity) == pytest.approx(purity(classes, clusters))


@pytest.mark.parametrize("sure", [[0.5], [0.5, 1.5], [0.5, float("nan")]])
def test_confidence_that_is_none_is_refused(sure):
    with pytest.raises(DataError, match="pass one from 0 to 1 for each"):
        reliability(["a", "b"], [0, 1], sure)
