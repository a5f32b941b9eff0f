from __future__ import annotations

import importlib
import math

import numpy as np
import pytest

from shoal.clusterers import sinkhorn


def test_by_hand():
    # two by two: p / (1 - p) is the square root of exp(a + d - b - c) = exp(-2)
    plan = sinkhorn(np.array([[2.0, 1.0], [2.0, 0.0]]), temperature=0.5)
    p = 1 / (1 + math.e)
    np.testing.assert_allclose(plan, [[p, 1 - p], [1 - p, p]], rtol=1e-6)


@pytest.mark.parametrize("sizes", [None, [0.5, 0.25, 0.25], [6.0, 1.0, 1.0]])
@pytest.mark.parametrize("scale", [1.0, 60.0])  # by factors, and in the log domain
def test_rows_and_columns(sizes, scale):
    scores = scale * np.random.default_rng(0).random((20, 3))
    plan = sinkhorn(scores, None if sizes is None else np.array(sizes), temperature=0.5 * scale, n_iterations=300)
    shares = np.full(3, 1 / 3) if sizes is None else np.array(sizes) / sum(sizes)
    np.testing.assert_allclose(plan.sum(axis=1), 1)
    np.testing.assert_allclose(plan.sum(axis=0), 20 * shares)


def test_factors_and_the_log_domain_agree(monkeypatch):
    scores, sizes = np.random.default_rng(0).random((50, 4)), np.array([4, 3, 2, 1])
    by_factors = sinkhorn(scores, sizes, n_iterations=7)
    module = importlib.import_module("shoal.clusterers.sinkhorn")  # the package's attribute is the function
    monkeypatch.setattr(module, "_SAFE_SPREAD", 0.0)
    np.testing.assert_allclose(sinkhorn(scores, sizes, n_iterations=7), by_factors, rtol=1e-9)


def test_single_precision_is_kept():
    scores = np.random.default_rng(0).random((50, 4)).astype(np.float32)
    for temperature in (0.05, 0.005):
        plan = sinkhorn(scores, temperature=temperature)
        assert plan.dtype == np.float32
        np.testing.assert_allclose(plan, sinkhorn(scores.astype(np.float64), temperature=temperature), atol=1e-4)


def test_equal_scores_give_the_sizes():
    plan = sinkhorn(np.zeros((4, 2)), np.array([0.75, 0.25]))
    np.testing.assert_allclose(plan, np.tile([0.75, 0.25], (4, 1)))


def test_single_cluster():
    np.testing.assert_allclose(sinkhorn(np.random.default_rng(0).random((3, 1))), 1)


def test_huge_scores_and_an_empty_cluster_stay_finite():
    scores = np.array([[1e4, -1e4], [1e4, 1e4]], dtype=np.float32)
    plan = sinkhorn(scores, np.array([1.0, 0.0]), temperature=0.01)
    assert np.isfinite(plan).all()
    np.testing.assert_allclose(plan.sum(axis=1), 1)
    # only the shape of the columns is free to differ: nobody goes to a cluster of size 0 by preference
    assert plan[0, 1] < 1e-6
