"""IDEC behind other vectors: a clusterer like any other."""

from __future__ import annotations

import numpy as np
import pytest

from shoal import TwoStage
from shoal.methods import idec_clusterer
from shoal.methods.idec_clusterer import LatentClusters, fit_idec
from shoal.training import Callback, Trainer


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 3
    return (3 * np.eye(8)[labels] + 0.2 * rng.normal(size=(60, 8))).astype(np.float32), labels


def test_it_has_clusterberts_values_and_finds_clouds(blobs, monkeypatch):
    built = []

    class Seen(idec_clusterer.IDEC):
        def fit(self, *args, **named):
            built.append(self)
            return super().fit(*args, **named)

    monkeypatch.setattr(idec_clusterer, "IDEC", Seen)
    vectors, labels = blobs
    found = fit_idec(vectors, 3, np.random.RandomState(0), n_init=2)
    (model,) = built
    assert (model.epochs, model.learning_rate, model.n_init) == (150, 1e-4, 2)
    assert model.encoder_.encode(vectors).shape == (60, 4)  # K + 1
    assigned = found.scores(vectors).argmax(axis=1)
    assert len(set(zip(assigned, labels, strict=True))) == 3
    np.testing.assert_allclose(np.exp(found.scores(vectors)).sum(axis=1), 1)
    for k in range(3):  # the centres are where the vectors are, not where the codes are
        np.testing.assert_allclose(found.centers[k], vectors[assigned == k].mean(axis=0), rtol=1e-5, atol=1e-6)
    again = LatentClusters.from_state(found.state())
    np.testing.assert_array_equal(again.scores(vectors), found.scores(vectors))
    np.testing.assert_array_equal(again.centers, found.centers)


def test_behind_two_stage_it_is_heard_and_resumed(blobs, tmp_path, monkeypatch, short_idec):
    class Listener(Callback):
        def __init__(self):
            self.seen = []

        def on_embeddings(self, record, embeddings, labels):
            self.seen.append(record["step"])

    vectors, _ = blobs
    listener = Listener()
    whole = TwoStage(3, clusterer="idec", n_init=1).fit(vectors, callbacks=[listener])
    assert listener.seen == [row["step"] for row in whole.history_ if row.get("event") == "evaluation"]
    assert listener.seen
    step, taken = Trainer._step, []

    def interrupted(self, *arguments):
        taken.append(1)
        if len(taken) == 35:  # in the clustering, which begins after 30
            raise KeyboardInterrupt
        return step(self, *arguments)

    def again():
        return TwoStage(3, clusterer="idec", n_init=1).fit(vectors, checkpoints=tmp_path)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_step", interrupted)
        with pytest.raises(KeyboardInterrupt):
            again()
    assert any(tmp_path.iterdir())
    np.testing.assert_array_equal(again().probabilities_, whole.probabilities_)
    assert whole.cluster_centers_.shape == (3, 8)
