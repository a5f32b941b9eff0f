"""The ways in which the vectors of a method become clusters."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import shoal
from shoal.methods.clusterbert import ClusterBERT
from shoal.methods.persistence import _present_names
from shoal.methods.sccl import SCCL
from shoal.methods.tsdae import TSDAE
from shoal.training import Callback
from tiny_backbone import tiny_backbone

ANIMALS = ["cat", "dog", "horse", "sheep", "goat"]
TEXTS = [f"the {animal} {verb}" for animal in ANIMALS for verb in ("ran", "slept")]


@pytest.fixture(scope="module")
def backbone(tmp_path_factory):
    return tiny_backbone(tmp_path_factory.mktemp("backbone"), ("the", "ran", "slept", *ANIMALS))


# table 3 of ClusterBERT; UMAP's compiler takes ten seconds to start
ENDINGS = [("none", "kmeans"), ("none", "idec"), *(
    pytest.param("umap", clusterer, marks=pytest.mark.slow) for clusterer in ("own", "kmeans", "idec")
)]  # fmt: skip


@pytest.mark.parametrize(("reducer", "clusterer"), ENDINGS)
@pytest.mark.parametrize("method", [TSDAE, ClusterBERT, SCCL])
def test_every_way_keeps_the_promises(method, reducer, clusterer, backbone, tmp_path, short_idec):
    options = {"augmentation": "char_swap"} if method is SCCL else {}
    ending = {"reducer": reducer, "clusterer": clusterer}
    model = method(2, backbone=backbone, batch_size=5, max_steps=2, **ending, **options).fit(TEXTS)
    assert model.transform(TEXTS).shape == (10, 3 if reducer == "umap" else 32)
    assert model.clusterer_.kind == ("latent-student-t" if clusterer == "idec" else "centroids")
    assert ("idec" in model.outcome_) == (clusterer == "idec")
    assert (model.predict(TEXTS) == model.labels_).all()
    assert [int(model.predict([text])[0]) for text in TEXTS[:4]] == model.labels_[:4].tolist()
    assert (clone(model).fit(TEXTS).labels_ == model.labels_).all()
    model.save(tmp_path / "model")
    assert (shoal.load(tmp_path / "model").predict(TEXTS) == model.labels_).all()


class KillAt(Callback):
    """Ends a run at a step, as a power cut would."""

    def __init__(self, stage, step):
        self.moment = stage, step

    def on_step(self, record):
        if (record["stage"], record["step"]) == self.moment:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def wholes():
    """The uninterrupted run, once there is one: it does not last longer than a test on its own."""
    return []


@pytest.fixture
def build(backbone):
    return lambda: TSDAE(2, backbone=backbone, batch_size=5, max_steps=2, clusterer="idec")


@pytest.fixture
def whole(build, short_idec, wholes):
    if not wholes:
        wholes.append(build().fit(TEXTS))
    return wholes[0]


@pytest.mark.parametrize(
    ("stage", "share"),
    [("reconstruction", 0.5), ("reconstruction", 1), ("pretrain", 0), ("pretrain", 0.5), ("cluster", 0.5)],
)
def test_killed_anywhere_up_to_within_idec_it_goes_on_to_the_same_end(build, whole, tmp_path, stage, share):
    steps = sum(record["stage"] == stage for record in whole.history_ if record.get("event") == "step")
    moment = KillAt(stage, max(round(share * steps), 1))
    with pytest.raises(KeyboardInterrupt):
        build().fit(TEXTS, checkpoints=tmp_path, callbacks=[moment])
    resumed = build().fit(TEXTS, checkpoints=tmp_path)
    np.testing.assert_allclose(resumed.probabilities_, whole.probabilities_, atol=1e-6)


@pytest.mark.parametrize(
    ("assign", "present"),
    [
        ("umap+idec", {"assign": "kmeans", "reducer": "umap", "clusterer": "idec"}),
        ("idec", {"assign": "kmeans", "reducer": "none", "clusterer": "idec"}),
        ("head", {"assign": "head"}),
    ],
)
def test_models_with_the_former_names_are_read(assign, present):
    assert _present_names({"assign": assign}, ["assign", "reducer", "clusterer"]) == present
    assert "assign" not in _present_names({"assign": assign}, ["reducer", "clusterer"])
