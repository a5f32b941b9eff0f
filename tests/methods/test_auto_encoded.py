"""What AE + k-means, DEC, IDEC and DCN share: vectors or texts, pre-training in stages, and scikit-learn's checks."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import shoal
from shoal import DCN, DEC, IDEC, METHODS, AEKMeans, TwoStage
from shoal.errors import ParameterError, RunFolderError
from shoal.methods import shared_parameters as shared
from shoal.methods.objectives.auto_encoding import LayerReconstruction, Reconstruction
from shoal.parameters import Parameter, parameters_of
from shoal.training import Trainer, VectorCorpus

FAMILY = (AEKMeans, DEC, IDEC, DCN)
SMALL = {"hidden": [8], "pretrain_epochs": 20, "batch_size": 32, "learning_rate": 1e-2, "n_init": 2}


@pytest.fixture(scope="module")
def blobs():
    """Three clouds in twelve dimensions, with the cloud of each row."""
    rng = np.random.default_rng(0)
    labels = np.arange(90) % 3
    return (3 * np.eye(12)[labels] + 0.2 * rng.normal(size=(90, 12))).astype(np.float32), labels


@pytest.mark.parametrize("method", FAMILY)
def test_texts_are_read_by_the_same_parameters_as_in_two_stage(method):
    common = [each for each in vars(shared).values() if isinstance(each, Parameter)]
    ours, theirs = parameters_of(method), parameters_of(TwoStage)
    reading = [name for name, declaration in theirs.items() if declaration in common]
    assert {"representation", "backbone", "stop_words", "word_frequencies", "cache"} <= {*reading}
    for name in reading:
        assert (ours[name].default, ours[name].limit) == (theirs[name].default, theirs[name].limit), name


def same_partition(left, right) -> bool:
    return len(set(zip(left, right, strict=True))) == len(set(left)) == len(set(right))


@pytest.mark.parametrize(
    ("method", "pretraining"),
    [
        *((method, "joint") for method in FAMILY),
        (AEKMeans, "layer-wise"),
        # the same pre-training again
        *(pytest.param(method, "layer-wise", marks=pytest.mark.slow) for method in (DEC, IDEC, DCN)),
    ],
)
def test_clouds_are_found_in_vectors(method, pretraining, blobs, tmp_path):
    vectors, labels = blobs
    model = method(3, pretraining=pretraining, **SMALL).fit(vectors)
    assert same_partition(model.labels_, labels)
    assert same_partition(model.start_labels_, labels)
    assert model.transform(vectors).shape == (90, 4)  # K + 1
    new = vectors + 0.01
    model.save(tmp_path / "model")
    again = shoal.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    np.testing.assert_array_equal(again.transform(new), model.transform(new))
    assert again.outcome_ == model.outcome_


@pytest.mark.parametrize("method", FAMILY)
def test_stages_in_order(method, blobs):
    def stages(**params):
        model = method(3, **{**SMALL, "pretrain_epochs": 2, "max_steps": 2, **params}).fit(blobs[0])
        return [stage["stage"] for stage in model.outcome_["stages"]]

    last = [] if method is AEKMeans else ["cluster"]
    assert stages() == ["pretrain", *last]
    layers = ["pretrain layer 1", "pretrain layer 2", "pretrain layer 3"]
    assert stages(pretraining="layer-wise", hidden=[8, 6]) == [*layers, "pretrain", *last]


@pytest.mark.parametrize(("epochs", "steps"), [(2, 300), (101, 303)])  # three steps an epoch
def test_few_vectors_are_pretrained_for_more_epochs(epochs, steps, blobs):
    model = AEKMeans(3, **{**SMALL, "pretrain_epochs": epochs}).fit(blobs[0])
    assert [stage["steps"] for stage in model.outcome_["stages"]] == [steps]


def test_a_layer_learns_what_comes_into_it_and_leaves_the_others_alone(blobs):
    from shoal.encoder.auto_encoder import AutoEncoder

    torch.manual_seed(0)
    machine = AutoEncoder((12, 8, 6, 4))
    batch = VectorCorpus(blobs[0]).batch(np.arange(10))
    middle = LayerReconstruction(machine, noise=0.0, layer=1)
    x = torch.relu(machine.encoder[0](batch.vectors))
    up_and_down = torch.relu(machine.decoder[2](torch.relu(machine.encoder[2](x))))
    loss = middle(batch)["reconstruction"]
    torch.testing.assert_close(loss, (up_and_down - x).square().mean())
    gradients = dict(zip([n for n, _ in middle.named_parameters()], torch.autograd.grad(
        loss, list(middle.parameters()), allow_unused=True
    ), strict=True))  # fmt: skip
    assert {name for name, gradient in gradients.items() if gradient is not None} == {
        f"{half}.2.{part}" for half in ("encoder", "decoder") for part in ("weight", "bias")
    }
    # The code has no ReLU behind it, nor has the reconstruction of the vectors themselves.
    first, last = (LayerReconstruction(machine, noise=0.0, layer=layer) for layer in (0, 2))
    h = torch.relu(machine.encoder[0](batch.vectors))
    torch.testing.assert_close(first(batch)["reconstruction"], (machine.decoder[4](h) - batch.vectors).square().mean())
    x = torch.relu(machine.encoder[2](h))
    torch.testing.assert_close(
        last(batch)["reconstruction"], (torch.relu(machine.decoder[0](machine.encoder[4](x))) - x).square().mean()
    )


def test_noise_is_fresh_in_training_and_absent_otherwise(blobs):
    from shoal.encoder.auto_encoder import AutoEncoder

    torch.manual_seed(0)
    machine = AutoEncoder((12, 8, 4))
    batch = VectorCorpus(blobs[0]).batch(np.arange(10))
    objective = Reconstruction(machine, noise=0.5).train()
    assert objective(batch)["reconstruction"] != objective(batch)["reconstruction"]
    expected = (machine(batch.vectors) - batch.vectors).square().mean()
    torch.testing.assert_close(objective.eval()(batch)["reconstruction"], expected)


@pytest.fixture(scope="module")
def uninterrupted(blobs):
    """By method, the model that was never interrupted."""
    return cache(lambda method: resumable(method).fit(blobs[0]))


def resumable(method):
    return method(3, pretraining="layer-wise", **SMALL, max_steps=6, tolerance=None)


@pytest.mark.parametrize("method", [DEC, IDEC, DCN])
@pytest.mark.parametrize("interrupt_at", [2, 7, 14, 20])  # in each stage of the pre-training, and in the clustering
def test_interrupted_in_any_stage_it_ends_where_it_would_have(
    method, interrupt_at, blobs, uninterrupted, tmp_path, monkeypatch
):
    vectors, _ = blobs
    model, whole = resumable(method), uninterrupted(method)
    step, taken = Trainer._step, []

    def interrupted(self, *arguments):
        taken.append(1)
        if len(taken) == interrupt_at:
            raise KeyboardInterrupt
        return step(self, *arguments)

    model.set_params(checkpoint_every=1)
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_step", interrupted)
        with pytest.raises(KeyboardInterrupt):
            clone(model).fit(vectors, checkpoints=tmp_path)
    resumed = clone(model).fit(vectors, checkpoints=tmp_path)
    np.testing.assert_array_equal(resumed.transform(vectors), whole.transform(vectors))
    np.testing.assert_array_equal(resumed.probabilities_, whole.probabilities_)
    with pytest.raises(RunFolderError, match="other texts or parameters"):
        clone(model).fit(vectors + 1, checkpoints=tmp_path)


def test_the_scale_of_the_vectors_does_not_matter(blobs, short_pretraining):
    vectors, _ = blobs
    model, large = (IDEC(3, **SMALL).fit(scale * vectors) for scale in (1, 1024))
    np.testing.assert_allclose(large.probabilities_, model.probabilities_, atol=1e-5)


def test_presets_are_the_papers():
    for name in ("ae-kmeans", "dec", "idec", "dcn"):
        entry = METHODS[name]
        model = entry(**entry.presets["paper"])
        model.n_clusters_ = 10
        assert model._sizes(2000) == (2000, 500, 500, 2000, 10)
        assert (model.representation, model.max_features, model.pretraining) == ("tfidf", 2000, "layer-wise")
        assert (model.noise, model.batch_size) == (0.2, 256)
    assert (DEC().alpha, DEC().tolerance, IDEC().gamma) == (1, 0.001, 0.1)
    clusterbert = IDEC(**METHODS["idec"].presets["clusterbert"])
    clusterbert.n_clusters_ = 20
    assert (clusterbert.epochs, clusterbert.learning_rate, clusterbert._sizes(50)[-1]) == (150, 1e-4, 21)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"hidden": 500}, r"hidden=500 is not a list of widths; pass e.g. \[500, 500, 2000\]"),
        ({"hidden": [500, 0]}, r"hidden=\[500, 0\] is not a list of widths"),
        ({"noise": 1}, "noise=1 but it is a share of the values"),
        ({"n_components": 0}, "n_components=0 but it must be a whole number >= 1"),
        ({"pretraining": "none"}, "pretraining='none' is unknown; pass one of joint, layer-wise"),
        ({"pretrain_epochs": 0}, "pretrain_epochs=0 but it must be a whole number >= 1"),
        ({"alpha": 0}, "alpha=0 but it must be a number > 0"),
        ({"gamma": "much"}, "gamma='much' but it must be a number > 0"),
        ({"update_interval": 0}, "update_interval=0 but it must be a whole number >= 1"),
        ({"learning_rate": -1.0}, "learning_rate=-1.0"),
        ({"pooling": "max"}, "pooling='max' is unknown"),
        ({"representation": "word2vec"}, "representation='word2vec' is unknown"),
    ],
)
def test_parameters_that_do_not_work_are_named(params, message):
    with pytest.raises(ParameterError, match=message):
        IDEC(2, **{"representation": "tfidf", **params}).fit(["red apple", "green apple", "fast car", "slow car"])


@pytest.mark.slow
def test_on_the_built_in_encoder_a_text_keeps_its_cluster_in_any_company():
    fruit, cars = ("apple", "pear", "plum", "cherry"), ("lorry", "car", "van", "bus")
    texts = [f"a {how} {what}" for kind in (fruit, cars) for what in kind for how in ("red", "big", "new", "old")]
    model = IDEC(2).fit(texts)
    assert same_partition(model.start_labels_, np.repeat([0, 1], 16))  # an auto-encoder learns so few by heart
    assert model.outcome_["end"]["quality"] > model.outcome_["start"]["quality"] - 0.03
    assert (model.predict(texts) == model.labels_).all()
    assert [int(model.predict([text])[0]) for text in texts] == model.labels_.tolist()


@parametrize_with_checks([method(3, **SMALL, max_steps=5) for method in FAMILY])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
