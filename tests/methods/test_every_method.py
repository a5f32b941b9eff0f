"""The promises that hold for every method, each tested on each."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline

import shoal
from shoal import METHODS
from shoal.errors import DataError, ParameterError
from shoal.methods import answers, reading
from shoal.methods.inputs import rows_of
from shoal.training import Callback
from tiny_backbone import tiny_backbone

ANIMALS = ["cat", "dog", "horse", "sheep", "goat", "mouse"]
TOOLS = ["hammer", "saw", "drill", "nail", "screw", "wrench"]
TEXTS = [
    f"the {words[i % 6]} and the {words[(i * 5 + 1) % 6]} {verb}"
    for words, verb in ((ANIMALS, "ran over the field"), (TOOLS, "lay on the bench"))
    for i in range(15)
]
# What makes a method small enough for a test; its defaults are the paper's or the product's.
SMALL: dict[str, dict[str, object]] = {
    "sccl": {"max_steps": 3, "batch_size": 16, "learning_rate": 1e-3},
    **{
        name: {"pretrain_epochs": 5, "max_steps": 4, "batch_size": 16}
        for name in ("ae-kmeans", "dec", "idec", "dcn", "self-train")
    },
    "mlm-dec": {"max_steps": 3, "batch_size": 16, "learning_rate": 1e-3},
    "tsdae": {"max_steps": 3, "batch_size": 16, "learning_rate": 1e-3},
    "clusterbert": {"max_steps": 2, "batch_size": 16, "learning_rate": 1e-3},
    "stcc": {"max_steps": 3, "batch_size": 16},
    "vascl": {"max_steps": 3, "batch_size": 16, "learning_rate": 1e-3},
    "deccrl": {"max_steps": 3, "batch_size": 16, "learning_rate": 1e-3},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_backbone(tmp_path_factory.mktemp("backbone"))


@pytest.fixture(params=sorted(METHODS))
def name(request):
    return request.param


@pytest.fixture
def build(name, folder):
    def make(**params):
        tiny = {"backbone": folder} if "backbone" in METHODS[name].defaults() else {}
        return METHODS[name](**{"n_clusters": 2, **tiny, **SMALL.get(name, {}), **params})

    return make


@pytest.fixture(scope="module")
def fits():
    """By name, the methods that were fitted so far."""
    return {}


@pytest.fixture
def fitted(name, build, fits):
    """The method as it is after one fit, for all tests that only ask it: another fit would give the same."""
    if name not in fits:
        fits[name] = build().fit(TEXTS)
    return fits[name]


def test_same_seed_same_labels(build, fitted):
    again = build(random_state=fitted.random_state).fit(TEXTS)
    assert (again.labels_ == fitted.labels_).all()
    np.testing.assert_array_equal(again.probabilities_, fitted.probabilities_)


def test_predict_repeats_the_labels_whole_shuffled_and_one_by_one(fitted):
    model = fitted
    order = np.random.default_rng(0).permutation(len(TEXTS))
    assert (model.predict(TEXTS) == model.labels_).all()
    assert (model.predict([TEXTS[i] for i in order]) == model.labels_[order]).all()
    assert [int(model.predict([text])[0]) for text in TEXTS] == model.labels_.tolist()
    assert (model.predict_proba(TEXTS).argmax(axis=1) == model.labels_).all()
    np.testing.assert_allclose(model.predict_proba(TEXTS), model.probabilities_, atol=1e-5)


def test_saved_and_loaded_it_answers_the_same(fitted, tmp_path):
    model = fitted
    model.save(tmp_path / "model")
    again = shoal.load(tmp_path / "model")
    assert (again.predict(TEXTS) == model.labels_).all()
    assert again.names_ == model.names_
    np.testing.assert_allclose(again.transform(TEXTS), model.transform(TEXTS), atol=1e-6)
    assert again.get_params()["n_clusters"] == 2


@pytest.mark.parametrize(
    ("reducer", "clusterer", "refine"), [("none", None, "iterative-classification"), ("pca", "hac-sd", "none")]
)
def test_its_clusters_may_be_refined_or_made_by_another_clusterer(build, reducer, clusterer, refine, tmp_path):
    ending = {"reducer": reducer, "refine": refine, **({"clusterer": clusterer} if clusterer else {})}
    model = build(**ending).fit(TEXTS)
    assert model.n_clusters_ == len(model.cluster_centers_) == 2
    assert model.transform(TEXTS).shape[1] == model.cluster_centers_.shape[1]
    assert (model.predict(TEXTS) == model.labels_).all()
    assert [int(model.predict([text])[0]) for text in TEXTS[:5]] == model.labels_[:5].tolist()
    assert (build(**ending).fit(TEXTS).labels_ == model.labels_).all()
    model.save(tmp_path / "model")
    np.testing.assert_allclose(shoal.load(tmp_path / "model").predict_proba(TEXTS), model.probabilities_, atol=1e-5)


@pytest.mark.parametrize(("number", "overlaps"), [(1, 2), (3, 3)])
def test_cut_after_the_fit_it_predicts_saves_and_loads(fitted, number, overlaps, tmp_path):
    cut = fitted.cut(number)
    assert cut.n_clusters_ == len(set(cut.names_)) == len(cut.cluster_centers_) == number
    assert set(cut.labels_) == set(range(number))
    assert (cut.predict(TEXTS) == cut.labels_).all()
    assert [int(cut.predict([text])[0]) for text in TEXTS[:5]] == cut.labels_[:5].tolist()
    np.testing.assert_allclose(cut.predict_proba(TEXTS).sum(axis=1), 1, atol=1e-5)
    assert len(set(zip(fitted.labels_, cut.labels_, strict=True))) == overlaps  # joined or divided, never mixed
    cut.save(tmp_path / "cut")
    again = shoal.load(tmp_path / "cut")
    assert (again.predict(TEXTS) == cut.labels_).all()
    assert again.names_ == cut.names_
    assert (again.cut(2).predict(TEXTS) == fitted.labels_).all()


def test_it_finds_the_number_of_clusters(build, monkeypatch, tmp_path):
    any_encoder = tiny_backbone(tmp_path / "encoder")
    monkeypatch.setattr(reading, "BUILTIN", any_encoder)  # for a method that has none of its own
    model = build(n_clusters="auto").fit(TEXTS)
    assert 2 <= model.n_clusters_ == len(model.clusters_) <= 10
    assert model.n_clusters_choice_.curve
    assert (model.predict(TEXTS) == model.labels_).all()
    model.save(tmp_path / "model")
    again = shoal.load(tmp_path / "model")
    assert again.n_clusters_choice_ == model.n_clusters_choice_
    assert again.get_params()["n_clusters"] == "auto"
    order = np.random.RandomState(1).permutation(len(TEXTS))
    assert build(n_clusters="auto").fit([TEXTS[i] for i in order]).n_clusters_choice_ == model.n_clusters_choice_


def test_probabilities_rise_with_the_scores(fitted):
    """Calibration changes how sure it is, never which cluster is more likely than which."""
    rows = rows_of(TEXTS)
    placed = answers.place(fitted, rows)
    found, scores = answers.assign(fitted, rows, placed)
    order = np.argsort(scores, axis=1, kind="stable")
    ranked = np.take_along_axis(fitted.probabilities_, order, axis=1)
    assert (np.diff(ranked, axis=1) >= -1e-6).all()
    again = fitted.calibration_.probabilities(scores, fitted._typical(placed, found))
    np.testing.assert_allclose(np.take_along_axis(again, order, axis=1), ranked, atol=1e-5)


def test_fit_again_forgets_the_first_fit(build, fitted):
    model = build()
    assert (model.fit_predict(TEXTS) == fitted.labels_).all()
    found = model.fit_transform(TEXTS[:0:-1])
    assert len(model.labels_) == len(model.start_labels_) == len(TEXTS) - 1
    assert (model.predict(TEXTS[:0:-1]) == model.labels_).all()
    np.testing.assert_allclose(found, model.transform(TEXTS[:0:-1]), atol=1e-6)


def test_empty_texts_keep_their_row(build):
    texts = ["", *TEXTS, "  ", None]
    model = build().fit(texts)
    assert model.labels_[[0, -2, -1]].tolist() == [-1, -1, -1]
    assert (model.labels_[1:-2] >= 0).all()
    assert not model.probabilities_[[0, -2, -1]].any()
    assert model.predict([""]).tolist() == [-1]
    assert model.transform(["", TEXTS[0]]).shape[0] == 2


def test_attributes(fitted):
    model = fitted
    assert model.labels_.shape == model.start_labels_.shape == (len(TEXTS),)
    assert model.probabilities_.shape == (len(TEXTS), 2)
    assert model.n_clusters_ == len(model.names_) == len(set(model.names_)) == len(model.cluster_centers_) == 2
    assert sum(cluster.size for cluster in model.clusters_) == len(TEXTS)
    assert all(example in TEXTS for cluster in model.clusters_ for example in cluster.examples)
    assert model.history_
    assert model.transform(TEXTS).shape == (len(TEXTS), model.cluster_centers_.shape[1])


def test_scikit_learn_manners(build):
    model = build(random_state=7)
    params = model.get_params()
    assert clone(model).get_params() == params
    assert model.set_params(n_clusters=3).n_clusters == 3
    pipeline = Pipeline([("cluster", build())])
    assert pipeline.fit(TEXTS).predict(TEXTS).shape == (len(TEXTS),)
    with pytest.raises(NotFittedError):
        build().predict(TEXTS)


def test_labels_are_never_used(build, fitted):
    given = build().fit(TEXTS, y=np.arange(len(TEXTS)))
    assert (given.labels_ == fitted.labels_).all()


def test_who_listens_changes_nothing(build, fitted, tmp_path):
    class Listener(Callback):
        def __init__(self):
            self.seen = []

        def on_embeddings(self, record, embeddings, labels):
            self.seen.append(record["step"])

    listener = Listener()
    heard = build().fit(TEXTS, callbacks=[listener], checkpoints=tmp_path / "states")
    assert (heard.labels_ == fitted.labels_).all()
    assert listener.seen == [row["step"] for row in heard.history_ if row.get("event") == "evaluation"]
    resumed = build().fit(TEXTS, checkpoints=tmp_path / "states")  # another listener is still the same run
    assert (resumed.labels_ == heard.labels_).all()


def test_one_cluster_and_one_text(build):
    assert build(n_clusters=1).fit(TEXTS).labels_.tolist() == [0] * len(TEXTS)
    alone = build(n_clusters=1)
    if "reconstruction" in alone.get_params():
        alone.set_params(reconstruction="none")  # a topic needs more than the words of one text, and says so
    lonely = alone.fit(TEXTS[:1])
    assert lonely.labels_.tolist() == lonely.predict(TEXTS[1:2]).tolist() == [0]


@pytest.mark.parametrize(
    ("texts", "error", "message"),
    [
        (["one text"], ParameterError, "n_clusters=2 but the corpus has 1 texts, 1 of them distinct"),
        (["same"] * 9, ParameterError, "n_clusters=2 but the corpus has 9 texts, 1 of them distinct"),
        (["", " "], DataError, "all 2 texts are empty"),
        ("a string", DataError, "X is one string"),
        ([], DataError, "no rows"),
    ],
)
def test_bad_input(build, texts, error, message):
    with pytest.raises(error, match=message):
        build().fit(texts)


def test_interrupted_and_resumed_it_ends_where_the_uninterrupted_run_ends(build, fitted, tmp_path, monkeypatch):
    from shoal.training import Trainer

    step, taken = Trainer._step, []

    def interrupted(self, *arguments):
        taken.append(1)
        if len(taken) == 2:
            raise KeyboardInterrupt
        return step(self, *arguments)

    monkeypatch.setattr(Trainer, "_step", interrupted)
    try:  # a method that does not train is not interrupted
        build().fit(TEXTS, checkpoints=tmp_path / "states")
    except KeyboardInterrupt:
        assert (tmp_path / "states").is_dir()
    resumed = build().fit(TEXTS, checkpoints=tmp_path / "states")
    np.testing.assert_array_equal(resumed.labels_, fitted.labels_)
    np.testing.assert_array_equal(resumed.probabilities_, fitted.probabilities_)


def test_the_guard_can_be_switched_off_and_is_in_every_preset_of_a_paper(build):
    model = build()
    presets = [values for preset, values in type(model).presets.items() if preset.startswith("paper")]
    if "guard" not in model.get_params():  # it trains nothing, or has no clusters before the end
        assert type(model).__name__ == "STCC" or not presets
        return
    assert model.guard is True
    assert all(values["guard"] is False for values in presets)
