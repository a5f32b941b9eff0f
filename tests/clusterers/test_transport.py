from __future__ import annotations

import numpy as np
import pytest

from shoal.clusterers import cosine_silhouette, equal_sizes, relaxed_sizes, transport, transport_steps
from shoal.errors import ParameterError
from shoal.vectors import unit_rows

EQUAL = np.full(3, 1 / 3, dtype=np.float32)


@pytest.fixture
def unequal():
    """Three noisy directions with 80, 70 and 50 rows."""
    labels = np.repeat(range(3), [80, 70, 50])
    noise = np.random.default_rng(0).normal(scale=0.25, size=(200, 8))
    return unit_rows((np.eye(3, 8)[labels] + noise).astype(np.float32)), labels


def sinkhorn_by_loops(scores, shares, temperature, n_iterations):
    plan = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
    for _ in range(n_iterations):
        plan *= len(scores) * shares / plan.sum(axis=0)
        plan /= plan.sum(axis=1, keepdims=True)
    return plan


@pytest.mark.parametrize("exponent", [0.0, 0.5, 0.9])
def test_a_step_follows_the_formulas(cloud, exponent):
    points = unit_rows(cloud)
    centers, sizes = points[:4], np.array([0.4, 0.3, 0.2, 0.1], np.float32)
    state = transport_steps(points, centers, sizes, [exponent], temperature=0.2, n_iterations=5)
    shares = sizes.astype(np.float64) ** exponent
    plan = sinkhorn_by_loops((points @ centers.T).astype(np.float64), shares / shares.sum(), 0.2, 5)
    np.testing.assert_allclose(state.assignment, plan, atol=1e-5)
    np.testing.assert_allclose(state.centers, unit_rows(plan.T @ points), atol=1e-5)
    np.testing.assert_allclose(state.sizes, plan.mean(axis=0), atol=1e-5)
    np.testing.assert_array_equal(state.labels, state.assignment.argmax(axis=1))


def test_steps_go_on_from_the_step_before(cloud):
    points = unit_rows(cloud)
    first = transport_steps(points, points[:3], EQUAL, [0.0])
    second = transport_steps(points, first.centers, first.sizes, [0.9])
    together = transport_steps(points, points[:3], EQUAL, [0.0, 0.9])
    np.testing.assert_array_equal(together.assignment, second.assignment)
    for array in (together.assignment, together.centers, together.sizes):
        assert array.dtype == np.float32


def test_exponent_0_asks_for_equal_sizes_and_1_for_the_current_ones(cloud):
    points = unit_rows(cloud)
    sizes = np.array([0.6, 0.3, 0.1], np.float32)
    for exponent, wanted in ((0.0, EQUAL), (1.0, sizes)):
        state = transport_steps(points, points[:3], sizes, [exponent], temperature=0.5, n_iterations=300)
        np.testing.assert_allclose(state.sizes, wanted, atol=1e-4)
        np.testing.assert_allclose(state.assignment.sum(axis=1), 1, atol=1e-5)


def test_no_step_is_refused(cloud):
    with pytest.raises(ParameterError, match="exponents is empty"):
        transport_steps(cloud, cloud[:3], EQUAL, [])


def test_equal_sizes_are_ten_steps_at_exponent_0(cloud):
    points = unit_rows(cloud)
    found = equal_sizes(points, points[:3], temperature=0.1)
    steps = transport_steps(points, points[:3], EQUAL, [0.0] * 10, temperature=0.1)
    np.testing.assert_array_equal(found.assignment, steps.assignment)
    assert np.ptp(np.bincount(found.labels)) < 20  # of 200 rows


def test_relaxed_sizes_start_from_equal_ones_and_end_near_the_real_ones(unequal, same_partition):
    vectors, labels = unequal
    equal = equal_sizes(vectors, np.eye(3, 8, dtype=np.float32))
    np.testing.assert_allclose(equal.sizes, EQUAL, atol=0.05)
    relaxed = relaxed_sizes(vectors, equal)
    assert same_partition(relaxed.labels, labels)
    np.testing.assert_allclose(np.sort(relaxed.sizes), [0.25, 0.35, 0.4], atol=0.01)
    np.testing.assert_allclose(np.linalg.norm(relaxed.centers, axis=1), 1, atol=1e-6)
    steps = transport_steps(vectors, equal.centers, EQUAL, transport.RELAX_SCHEDULE)
    np.testing.assert_array_equal(relaxed.assignment, steps.assignment)


@pytest.mark.parametrize("n_clusters", [1, 6])
def test_one_cluster_and_as_many_as_points(n_clusters):
    vectors = np.eye(6, dtype=np.float32)
    for state in (equal := equal_sizes(vectors, vectors[:n_clusters]), relaxed_sizes(vectors, equal)):
        assert len(set(state.labels)) == n_clusters


def test_rows_of_zeros_stay_finite():
    vectors = np.concatenate([np.zeros((20, 4)), np.repeat(np.eye(4), 5, axis=0)]).astype(np.float32)
    state = relaxed_sizes(vectors, equal_sizes(vectors, np.eye(4, dtype=np.float32)))
    assert np.isfinite(state.assignment).all()
    assert len(set(state.labels[20:])) == 4


def test_cosine_silhouette_by_hand():
    vectors = unit_rows(np.array([[1, 0], [4, 3], [0, 1], [0, 2]], np.float32))
    middle = np.array([1.8, 0.6]) / np.hypot(1.8, 0.6)
    near = 1 - vectors[:2] @ middle
    widths = [(1 - near[0]) / 1, (0.4 - near[1]) / 0.4, 1, 1]
    assert cosine_silhouette(vectors, np.array([0, 0, 3, 3])) == pytest.approx(np.mean(widths), abs=1e-6)
    # alone in its cluster: width 0
    widths = [(1 - near[0]) / 1, (0.4 - near[1]) / 0.4, 0]
    assert cosine_silhouette(vectors[:3], np.array([0, 0, 1])) == pytest.approx(np.mean(widths), abs=1e-6)
    assert cosine_silhouette(vectors, np.array([2, 2, 2, 2])) == 0
