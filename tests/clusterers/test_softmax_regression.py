from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.optimize import approx_fprime
from scipy.special import log_softmax

from shoal.clusterers import SoftmaxHead, fit_softmax
from shoal.clusterers.softmax_regression import _balanced, _gradient
from shoal.errors import DataError, ParameterError
from shoal.vectors import unit_rows


def test_the_gradient_equals_finite_differences():
    rng = np.random.default_rng(0)
    points, weights = rng.normal(size=(7, 4)), rng.normal(size=(4, 3))
    targets = rng.dirichlet(np.ones(3), size=7)

    def loss(flat):
        likelihood = (targets * log_softmax(points @ flat.reshape(4, 3), axis=1)).sum(axis=1).mean()
        return -likelihood + 0.3 / 2 * (flat**2).sum()

    expected = approx_fprime(weights.ravel(), loss, 1e-7).reshape(4, 3)
    np.testing.assert_allclose(_gradient(points, targets, weights, 0.3), expected, atol=1e-5)


@pytest.mark.parametrize("soft", [False, True])
def test_it_takes_the_steps_of_torchs_adam(cloud, soft):
    vectors = unit_rows(cloud)
    rng = np.random.default_rng(1)
    targets = rng.dirichlet(np.ones(4), size=200).astype(np.float32) if soft else rng.integers(0, 4, size=200)
    points, wanted = torch.from_numpy(vectors * 10), torch.from_numpy(targets)
    weights, bias = torch.zeros(6, 4, requires_grad=True), torch.zeros(4, requires_grad=True)
    adam = torch.optim.Adam([weights, bias], lr=0.05, weight_decay=1e-2)
    for _ in range(20):
        adam.zero_grad()
        torch.nn.functional.cross_entropy(points @ weights + bias, wanted).backward()
        adam.step()
    head = fit_softmax(vectors, targets, 4, weight_decay=1e-2, n_iter=20)
    np.testing.assert_allclose(head.weights, 10 * weights.detach().numpy(), atol=1e-3)
    np.testing.assert_allclose(head.bias, bias.detach().numpy(), atol=1e-4)
    expected = torch.log_softmax(points @ weights + bias, dim=1).detach().numpy()
    np.testing.assert_allclose(head.log_probabilities(vectors), expected, atol=1e-3)


def test_separable_groups_are_learnt(groups):
    vectors, labels = groups
    head = fit_softmax(unit_rows(vectors), labels, 3)
    probabilities = np.exp(head.log_probabilities(unit_rows(vectors)))
    assert (probabilities.argmax(axis=1) == labels).all()
    assert probabilities.max(axis=1).min() > 0.95
    assert head.weights.shape == (5, 3)
    assert head.weights.dtype == head.bias.dtype == head.log_probabilities(unit_rows(vectors)).dtype == np.float32


def test_soft_targets_are_met_softly():
    vectors = np.repeat(np.eye(2, dtype=np.float32), 10, axis=0)
    targets = np.repeat([[0.7, 0.3], [0.2, 0.8]], 10, axis=0)
    head = fit_softmax(vectors, targets, 2, n_iter=500)
    np.testing.assert_allclose(np.exp(head.log_probabilities(np.eye(2, dtype=np.float32))), targets[[0, 10]], atol=0.01)


def test_hard_labels_and_their_one_hot_form_are_the_same(cloud):
    labels = np.random.default_rng(2).integers(0, 3, size=200)
    hard, soft = fit_softmax(cloud, labels, 3, n_iter=5), fit_softmax(cloud, np.eye(3)[labels], 3, n_iter=5)
    np.testing.assert_array_equal(hard.weights, soft.weights)


def test_log_probabilities_by_hand():
    head = SoftmaxHead(np.array([[np.log(2), 0]], np.float32), np.array([0, np.log(3)], np.float32))
    expected = np.log([[4 / 7, 3 / 7], [1 / 4, 3 / 4]])
    np.testing.assert_allclose(head.log_probabilities(np.array([[2], [0]], np.float32)), expected, atol=1e-6)


def test_a_cluster_without_rows_is_improbable(groups):
    vectors, labels = groups
    head = fit_softmax(unit_rows(vectors), labels, 4)
    assert np.exp(head.log_probabilities(unit_rows(vectors)))[:, 3].max() < 0.05


def test_of_many_rows_equally_many_of_each_cluster_are_used():
    labels = np.repeat([0, 2, 3], [1000, 5, 300])
    rows = _balanced(labels, 105)
    assert np.bincount(labels[rows]).tolist() == [50, 0, 5, 50]
    assert (np.diff(rows) > 0).all()
    assert (rows != np.arange(105)).any()
    np.testing.assert_array_equal(rows, _balanced(labels, 105))


def test_the_part_of_many_rows_is_what_is_fitted(cloud):
    vectors, labels = unit_rows(cloud), np.repeat([0, 1], [150, 50])
    rows = _balanced(labels, 60)
    found, expected = fit_softmax(vectors, labels, 2, max_rows=60), fit_softmax(vectors[rows], labels[rows], 2)
    np.testing.assert_array_equal(found.weights, expected.weights)


def test_targets_that_do_not_fit_are_refused(cloud):
    with pytest.raises(DataError, match=r"targets has shape \(200, 2\) .* pass shape \(200,\) or \(200, 3\)"):
        fit_softmax(cloud, np.ones((200, 2)), 3)
    with pytest.raises(ParameterError, match="labels from -1 to 1 but n_clusters=3; pass labels from 0 to 2"):
        fit_softmax(cloud, np.repeat([-1, 1], 100), 3)
