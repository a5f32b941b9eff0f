"""Calibration: mean confidence is the held-out agreement, and nothing but the confidence changes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from shoal.encoder.word_statistics import weight_of_words
from shoal.methods.calibration import SAMPLE_ROWS, Calibration, calibrate, held_out_agreement

N = 200
NOTHING = np.empty((2 * N, 0), np.float32)
LABELS = np.repeat([0, 1], N)


def made(noise, seed=0):
    vectors = np.eye(2)[LABELS] + np.random.RandomState(seed).normal(scale=noise, size=(2 * N, 2))
    return vectors.astype(np.float32)


def told(share, seed=0):
    """Texts whose words tell the right cluster in this share of the rows."""
    right = np.random.RandomState(seed).rand(2 * N) < share
    return [
        ("fish sea boat", "road car wheel")[label if ok else 1 - label] for label, ok in zip(LABELS, right, strict=True)
    ]


def mean_confidence(scores, temperature):
    return softmax(scores / temperature, axis=1)[np.arange(len(scores)), LABELS].mean()


@pytest.mark.parametrize("scale", [1.0, 100.0, 10_000.0])
def test_mean_confidence_is_the_held_out_agreement_whatever_the_scale_of_the_scores(scale):
    vectors = made(0.5)
    labels_by_center = vectors.argmax(axis=1)
    scores = scale * vectors.astype(np.float64)
    temperature = calibrate(vectors, None, labels_by_center, scores, NOTHING).temperature
    agreement = held_out_agreement([vectors / np.linalg.norm(vectors, axis=1, keepdims=True)], labels_by_center, 2)
    own = softmax(scores / temperature, axis=1).max(axis=1).mean()
    assert own == pytest.approx(agreement, abs=0.01)


def test_words_that_agree_less_lower_the_confidence():
    vectors = made(0.1)
    scores = 10.0 * vectors
    means = [
        mean_confidence(scores, calibrate(vectors, told(share), LABELS, scores, NOTHING).temperature)
        for share in (1.0, 0.8, 0.6)
    ]
    assert means[0] > 0.97
    assert means == sorted(means, reverse=True)
    trust = weight_of_words(2 * N)
    assert means[1] == pytest.approx(trust * 0.8 + (1 - trust), abs=0.06)


def test_agreement_of_views_by_hand():
    one = np.eye(2, dtype=np.float32)[LABELS]
    assert held_out_agreement([one, one], LABELS, 2) == 1.0
    assert held_out_agreement([one], LABELS, 2) == 1.0
    flipped = np.eye(2, dtype=np.float32)[np.where(np.arange(2 * N) % 4 == 0, 1 - LABELS, LABELS)]
    trust = weight_of_words(2 * N)
    assert 0.1 < trust < 0.9
    assert held_out_agreement([one, flipped], LABELS, 2) == pytest.approx(trust * 0.75 + (1 - trust))
    many = [np.tile(view, (1000 // N, 1)) for view in (one, flipped)]
    assert held_out_agreement(many, np.tile(LABELS, 1000 // N), 2) == pytest.approx(0.75, abs=0.01)


def test_too_few_rows_or_one_cluster_stay_as_they_are():
    vectors = made(0.1)
    assert calibrate(vectors[:7], None, LABELS[:7], vectors[:7].astype(float), NOTHING[:7]) == Calibration()
    assert calibrate(vectors, None, np.zeros(2 * N, np.int64), np.zeros((2 * N, 1)), NOTHING) == Calibration()


def test_many_rows_are_sampled_and_the_answer_is_the_same_again():
    vectors = np.tile(made(0.5), (SAMPLE_ROWS // N, 1))
    labels = vectors.argmax(axis=1)
    nothing = np.empty((len(labels), 0), np.float32)
    found = [calibrate(vectors, None, labels, 50.0 * vectors, nothing) for _ in range(2)]
    assert found[0] == found[1]
    assert 0.5 < found[0].temperature < 2


def test_a_text_far_from_its_centre_is_trusted_less_and_the_mean_stays():
    vectors, scores = made(0.1), 10.0 * np.eye(2)[LABELS]  # all rows equally far from the border
    typical = np.random.RandomState(1).uniform(0.1, 1, size=(2 * N, 2)).astype(np.float32)
    found = calibrate(vectors, told(0.8), LABELS, scores, typical)
    assert found.doubt > 0
    own = found.probabilities(scores, typical)[np.arange(2 * N), LABELS]
    plain = calibrate(vectors, told(0.8), LABELS, scores, NOTHING)
    assert own.mean() == pytest.approx(mean_confidence(scores, plain.temperature), abs=0.01)
    by_trust = own[np.argsort(found.trust(typical))]
    assert (np.diff(by_trust) >= -1e-6).all()
    assert by_trust[-1] > by_trust[0] + 0.02


def test_probabilities_keep_order_and_sum_however_little_a_row_is_typical():
    scores = np.random.RandomState(0).normal(size=(50, 6))
    typical = np.geomspace(1e-3, 1, 100).reshape(50, 2).astype(np.float32)
    found = Calibration(2.0, 0.3).probabilities(scores, typical)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(np.argsort(found, axis=1), np.argsort(scores, axis=1))


def test_a_description_that_says_nothing_costs_no_trust():
    typical = np.array([[0.4, np.inf], [0.4, 0.4]], np.float32)
    np.testing.assert_allclose(Calibration(1.0, 0.4).trust(typical), [0.5, 0.25], rtol=1e-6)


@pytest.mark.parametrize("values", [(0.0, 0.0), (-1.0, 0.0), (1.0, -0.1), (float("nan"), 0.0), (1.0, float("nan"))])
def test_values_that_no_calibration_has_are_refused(values):
    with pytest.raises(ValueError, match="temperature="):
        Calibration(*values)
