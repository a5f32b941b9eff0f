from __future__ import annotations

import numpy as np

from shoal.clusterers import Heads, SoftmaxHead, fit_softmax, mean_log_probabilities
from shoal.clusterers.heads import LEAST_COSINE


def test_views_are_split_by_the_heads_widths_and_a_state_gives_the_same_scores():
    rng = np.random.RandomState(0)
    labels = np.arange(60) % 3
    left = np.eye(3, 5, dtype=np.float32)[labels] + rng.normal(scale=0.1, size=(60, 5)).astype(np.float32)
    right = np.eye(3, 4, dtype=np.float32)[labels] + rng.normal(scale=0.1, size=(60, 4)).astype(np.float32)
    heads = Heads([fit_softmax(left, labels, 3), fit_softmax(right, labels, 3)], np.zeros((3, 9), np.float32))
    rows = np.hstack([left, right])
    expected = (heads.heads[0].log_probabilities(left) + heads.heads[1].log_probabilities(right)) / 2
    np.testing.assert_allclose(heads.scores(rows), expected, rtol=1e-5)
    assert (heads.scores(rows).argmax(axis=1) == labels).all()
    np.testing.assert_array_equal(Heads.from_state(heads.state()).scores(rows), heads.scores(rows))


def test_heads_speak_by_the_mean_of_their_logarithms():
    one = SoftmaxHead(np.zeros((1, 2), np.float32), np.log(np.array([0.8, 0.2], np.float32)))
    other = SoftmaxHead(np.zeros((1, 2), np.float32), np.log(np.array([0.5, 0.5], np.float32)))
    row = np.ones((1, 1), np.float32)
    said = mean_log_probabilities([one, other], [row, row])
    np.testing.assert_allclose(said, [[np.log(0.8 * 0.5) / 2, np.log(0.2 * 0.5) / 2]], rtol=1e-5)


def test_typical_rows_are_near_the_centre_of_their_cluster_in_every_part():
    heads = [SoftmaxHead(np.zeros((2, 2), np.float32), np.zeros(2, np.float32))] * 2
    centers = np.array([[2, 0, 0, 3], [0, 1, 1, 0]], np.float32)
    rows = np.array([[1, 0, 0, 1], [0.6, 0.8, 0, 1], [1, 0, 0, 0], [-1, 0, 0, 1]], np.float32)
    found = Heads(heads, centers).typical(rows, np.array([0, 0, 0, 0]))
    np.testing.assert_allclose(found, [[1, 1], [0.6, 1], [1, np.inf], [LEAST_COSINE, 1]], rtol=1e-6)
    np.testing.assert_allclose(Heads(heads, centers).typical(rows[:1], np.array([1])), [[LEAST_COSINE] * 2])
