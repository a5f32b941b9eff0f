from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

from shoal.clusterers import Classifier, iterative_classification
from shoal.clusterers.iterative_classification import fit_classifier


def test_the_classifier_is_scikit_learns(cloud, rng, monkeypatch):
    monkeypatch.setitem(fit_classifier.__globals__, "ITERATIONS", 500)  # the function has the name of its file
    words = csr_matrix(rng.rand(200, 7) * (rng.rand(200, 7) < 0.3))
    labels = rng.randint(3, size=200)
    scale = np.mean(np.sum(cloud.astype(np.float64) ** 2, axis=1)) ** -0.5
    theirs = LogisticRegression(max_iter=500, tol=1e-8).fit(hstack([words, csr_matrix(cloud * scale)]), labels)
    ours = fit_classifier(words, cloud, labels, 3)
    expected = theirs.predict_log_proba(hstack([words, csr_matrix(cloud * scale)]))
    np.testing.assert_allclose(ours.scores(words, cloud), expected, atol=2e-3)


def test_wrong_labels_are_corrected(groups, rng):
    vectors, labels = groups
    wrong = labels.copy()
    wrong[:12] = (labels[:12] + 1) % 3
    words = csr_matrix((90, 0), dtype=np.float32)
    classifier, n_iter = iterative_classification(words, vectors, wrong, 3, rng)
    assert (classifier.scores(words, vectors).argmax(axis=1) == labels).all()
    assert 1 <= n_iter <= 10


def test_words_alone_may_tell(rng):
    words = csr_matrix(np.repeat(np.eye(3, dtype=np.float32), 30, axis=0))
    labels = np.repeat(np.arange(3), 30)
    wrong = np.where(np.arange(90) % 10 == 0, (labels + 1) % 3, labels)
    nothing = np.zeros((90, 4), np.float32)
    classifier, _ = iterative_classification(words, nothing, wrong, 3, rng)
    assert (classifier.scores(words, nothing).argmax(axis=1) == labels).all()


def test_it_stops_when_the_sizes_settle_and_never_loses_a_label(groups, rng):
    vectors, labels = groups
    words = csr_matrix((90, 0), dtype=np.float32)
    assert iterative_classification(words, vectors, labels, 3, rng)[1] == 1
    assert iterative_classification(words, vectors, labels, 3, rng, tolerance=-1, max_iter=4)[1] == 4
    one, _ = iterative_classification(words, vectors, np.zeros(90, int), 1, rng)
    assert (one.scores(words, vectors) == 0).all()


def test_state_goes_through_safetensors(groups, reborn):
    vectors, labels = groups
    words = csr_matrix((90, 0), dtype=np.float32)
    classifier = fit_classifier(words, vectors, labels, 3)
    again = reborn(classifier)
    assert isinstance(again, Classifier)
    np.testing.assert_array_equal(again.scores(words, vectors), classifier.scores(words, vectors))
