from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from scipy.stats import norm
from sklearn.mixture import GaussianMixture

from shoal.clusterers import Mixture, fit_mixture


def test_scores_are_scikit_learns_log_joint_probabilities(cloud):
    theirs = GaussianMixture(4, covariance_type="diag", max_iter=300, random_state=np.random.RandomState(3))
    theirs.fit(cloud.astype(np.float64))
    scores = fit_mixture(cloud, 4, np.random.RandomState(3)).scores(cloud)
    np.testing.assert_allclose(scores, theirs._estimate_weighted_log_prob(cloud.astype(np.float64)), atol=1e-4)
    np.testing.assert_allclose(logsumexp(scores, axis=1), theirs.score_samples(cloud), atol=1e-4)
    np.testing.assert_allclose(softmax(scores, axis=1), theirs.predict_proba(cloud), atol=1e-4)
    assert (scores.argmax(axis=1) == theirs.predict(cloud)).all()


def test_scores_by_hand():
    mixture = Mixture(np.array([[0, 1]], np.float32), np.array([[4, 0.25]], np.float32), np.array([0.3]))
    expected = np.log(0.3) + norm(0, 2).logpdf(1) + norm(1, 0.5).logpdf(3)
    np.testing.assert_allclose(mixture.scores(np.array([[1, 3]], np.float32)), [[expected]], rtol=1e-6)


def test_separate_groups_are_found_exactly(groups, rng, same_partition):
    vectors, labels = groups
    found = fit_mixture(vectors, 3, rng)
    assert same_partition(found.scores(vectors).argmax(axis=1), labels)
    assert found.weights.sum() == pytest.approx(1)
    assert found.centers.shape == found.variances.shape == (3, 5)


def test_state_goes_through_safetensors(cloud, rng, reborn):
    found = fit_mixture(cloud, 4, rng)
    np.testing.assert_array_equal(reborn(found).scores(cloud), found.scores(cloud))


def test_a_row_is_a_matter_of_its_own(cloud, rng):
    found = fit_mixture(cloud, 4, rng)
    one_by_one = np.concatenate([found.scores(row[None]) for row in cloud])
    np.testing.assert_allclose(one_by_one, found.scores(cloud), rtol=1e-9)
    assert found.scores(cloud[:0]).shape == (0, 4)


def test_one_cluster_of_one_point(rng):
    found = fit_mixture(np.array([[3, 4]], np.float32), 1, rng)
    np.testing.assert_allclose(found.centers, [[3, 4]], rtol=1e-6)
    assert np.isfinite(found.scores(np.array([[0, 0]], np.float32))).all()


def test_duplicates_stay_together(rng, same_partition):
    vectors = np.repeat(np.eye(3, dtype=np.float32), [50, 2, 1], axis=0)
    assert same_partition(fit_mixture(vectors, 3, rng).scores(vectors).argmax(axis=1), np.repeat(range(3), [50, 2, 1]))
