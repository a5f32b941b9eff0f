from __future__ import annotations

import numpy as np
import pytest

from shoal.methods.self_train import SelfTrain

FRUIT, CARS = ("apple", "pear", "plum", "cherry"), ("lorry", "car", "van", "bus")
TEXTS = [
    f"the {how} {kind[i % 4]} and the {kind[(i + 1) % 4]} {tail}"
    for kind, how, tail in ((FRUIT, "ripe", "jam"), (CARS, "fast", "road"))
    for i in range(20)
]


def test_it_finds_two_topics_and_stops_by_tolerance(same_partition, short_pretraining):
    model = SelfTrain(2, pretrain_epochs=30, batch_size=16).fit(TEXTS)
    assert same_partition(model.labels_, np.repeat([0, 1], 20))
    stages = [stage["stage"] for stage in model.outcome_["stages"]]
    assert stages == ["pretrain layer 1", "pretrain layer 2", "pretrain layer 3", "pretrain", "cluster"]
    assert model.outcome_["stages"][-1]["stopped"]


def test_sif_vectors_are_of_unit_length_unless_asked_otherwise(short_pretraining):
    small = {"pretrain_epochs": 1, "max_steps": 1}
    unit, raw = (SelfTrain(2, unit_length=unit_length, **small).fit(TEXTS) for unit_length in (True, False))
    before = unit.before_and_after(TEXTS)[0]
    np.testing.assert_allclose(np.linalg.norm(before, axis=1), 1, atol=1e-5)
    assert np.linalg.norm(raw.before_and_after(TEXTS)[0], axis=1).max() < 0.99


def test_the_preset_is_the_authors():
    model = SelfTrain(20, **SelfTrain.presets["paper"])
    assert model._sizes(48) == (48, 500, 500, 2000, 20)
    assert (model.sif_a, model.word_frequencies, model.tolerance, model.batch_size) == (0.1, "corpus", 1e-4, 64)


@pytest.mark.parametrize(
    ("n_clusters", "n_components", "code"), [(8, None, 20), (20, None, 21), (30, None, 31), (30, 5, 5)]
)
def test_the_code_has_the_authors_length_or_room_for_more_clusters(n_clusters, n_components, code):
    model = SelfTrain(n_clusters, n_components=n_components)
    model.n_clusters_ = n_clusters
    assert model._sizes(100)[-1] == code
