"""The promises of Shoal's own method beyond those of every method."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import shoal
from shoal import Shoal
from shoal.errors import DataError, ParameterError
from shoal.methods.shoal.evidence import UNEQUAL
from shoal.metrics import accuracy
from shoal.training import Callback
from tiny_backbone import tiny_backbone


@parametrize_with_checks([Shoal(3, n_init=1)])
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


def made_texts(n_each: int, seed: int = 0) -> tuple[list[str], list[int]]:
    rng = np.random.RandomState(seed)
    topics = [
        "goal match team striker league cup",
        "flour oven bread butter yeast dough",
        "kernel driver memory thread socket linux",
    ]
    texts, labels = [], []
    for label, topic in enumerate(topics):
        words = topic.split()
        for number in range(n_each):
            texts.append(" ".join(rng.permutation(words)[:4]) + f" {label}{number}")
            labels.append(label)
    return texts, labels


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    texts, _ = made_texts(1)
    return tiny_backbone(tmp_path_factory.mktemp("backbone"), words=sorted({w for t in texts for w in t.split()}))


@pytest.fixture(scope="module")
def fitted(folder):
    texts, labels = made_texts(30)
    return Shoal(3, backbone=folder).fit(texts), texts, labels


def test_it_finds_the_topics(fitted):
    model, _, labels = fitted
    assert accuracy(labels, model.labels_) > 0.95


def test_another_order_of_the_rows_gives_the_same_number_and_the_same_clusters(folder, same_partition):
    texts, _ = made_texts(20)
    order = np.random.RandomState(1).permutation(len(texts))
    one, other = (Shoal(backbone=folder).fit(each) for each in (texts, [texts[i] for i in order]))
    assert one.n_clusters_choice_ == other.n_clusters_choice_
    assert same_partition(one.labels_[order], other.labels_)


def test_new_texts_go_where_their_like_are(fitted):
    model, _, _ = fitted
    texts, labels = made_texts(10, seed=5)
    assert accuracy(labels, model.predict(texts)) > 0.9


def test_case_and_white_space_change_nothing(fitted):
    model, texts, _ = fitted
    assert (model.predict([f"  {text.upper()} " for text in texts]) == model.labels_).all()


def test_copies_share_a_cluster_and_count_once(folder):
    texts, _ = made_texts(12)
    once = Shoal(3, backbone=folder).fit(texts)
    often = Shoal(3, backbone=folder).fit(texts + [texts[0].title()] * 40)
    assert len(set(often.labels_[len(texts) :].tolist()) | {often.labels_[0]}) == 1
    assert accuracy(once.labels_, often.labels_[: len(texts)]) == 1


def test_it_says_why(fitted):
    model, _, _ = fitted
    assert model.outcome_["choice"]["reason"].endswith(".")
    branches = [each["branch"] for each in model.outcome_["choice"]["weighed"]]
    assert branches[:2] == ["k-means", "k-means, settled"]
    assert any(branch.startswith(model.outcome_["choice"]["branch"]) for branch in branches)


def test_words_find_what_vectors_of_noise_cannot(tmp_path):
    rng = np.random.RandomState(0)
    labels = np.repeat(range(3), 120)
    texts = [" ".join(f"word{label}{number}" for number in rng.permutation(12)[:4]) for label in labels]
    vectors = rng.normal(size=(len(texts), 64)).astype(np.float32)
    model = Shoal(3).fit(texts, vectors=vectors)
    assert accuracy(labels, model.labels_) > 0.8 > 0.6 > accuracy(labels, model.start_labels_)
    model.save(tmp_path / "model")
    assert (shoal.load(tmp_path / "model").predict(texts, vectors=vectors) == model.labels_).all()
    with pytest.raises(DataError):
        model.predict(texts)
    with pytest.raises(ParameterError, match="pass the texts too"):
        model.predict(vectors)


def test_one_text_and_one_cluster(folder):
    assert Shoal(1, backbone=folder).fit(["a lonely text"]).labels_.tolist() == [0]
    assert Shoal(2, backbone=folder).fit(["goal match", "oven bread"]).labels_.tolist() in ([0, 1], [1, 0])


def test_more_clusters_than_differing_texts_is_refused(folder):
    with pytest.raises(ParameterError, match="n_clusters=2 but only 1 texts differ"):
        Shoal(2, backbone=folder).fit(["A fish", "a  fish"])


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"temperature": 0}, "temperature=0"),
        ({"sure_share": 1.5}, "sure_share=1.5"),
        ({"pooling": "max"}, "pooling='max'"),
        ({"n_init": True}, "n_init=True"),
    ],
)
def test_a_bad_parameter_is_named(params, said, folder):
    with pytest.raises(ParameterError, match=said):
        Shoal(2, **{"backbone": folder, **params}).fit(["goal match", "oven bread", "kernel driver"])


class Stop(Callback):
    """Ends a run after some steps, as a power cut would."""

    def __init__(self, step):
        self.left = step

    def on_step(self, record):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


# Clusters of unequal sizes would not be taught.
TAUGHT = {"effort": "best", "unequal": False, "batch_size": 16, "learning_rate": 1e-3, "checkpoint_every": 2}


def test_unequal_clusters_are_not_taught(folder, monkeypatch):
    texts, _ = made_texts(20)
    partition = Shoal._partition
    monkeypatch.setattr(Shoal, "_partition", lambda *args: replace(partition(*args), branch=UNEQUAL))
    fast, best = (Shoal(3, backbone=folder, effort=effort).fit(texts) for effort in ("fast", "best"))
    assert best.outcome_["choice"]["branch"] == UNEQUAL
    assert best.outcome_["stages"] == []
    assert best.outcome_["reason"].startswith("effort='best' trained nothing: clusters of very unequal sizes")
    assert (fast.outcome_["reason"], (fast.labels_ == best.labels_).all()) == ("", True)


def test_more_effort_teaches_the_encoder(folder, taught):
    model, texts, labels = taught
    assert accuracy(labels, model.labels_) > 0.95
    assert [stage["stage"] for stage in model.outcome_["stages"]] == ["round 1", "round 2"]
    plain = Shoal(3, backbone=folder).fit(texts)
    assert plain.outcome_["stages"] == []
    assert (plain.start_labels_ == model.start_labels_).all()
    width = model.n_features_in_
    moved = np.abs(model.transform(texts)[:, :width] - plain.transform(texts)[:, :width]).max()
    assert moved > 0.01


def test_taught_it_keeps_the_promises(folder, tmp_path):
    texts, _ = made_texts(12)
    model = Shoal(3, backbone=folder, **TAUGHT).fit(texts)
    assert (Shoal(3, backbone=folder, **TAUGHT).fit(texts).labels_ == model.labels_).all()
    assert (model.predict(texts) == model.labels_).all()
    model.save(tmp_path / "model")
    again = shoal.load(tmp_path / "model")
    new, _ = made_texts(6, seed=4)
    assert (again.predict(new) == model.predict(new)).all()
    np.testing.assert_allclose(again.transform(new), model.transform(new), atol=1e-6)
    assert again.outcome_["stages"]


@pytest.fixture(scope="module")
def taught(folder):
    texts, labels = made_texts(20)
    return Shoal(3, backbone=folder, **TAUGHT).fit(texts), texts, labels


@pytest.mark.parametrize("steps", [1, 3, 5, 7])  # in either round, at checkpoints and between them
def test_interrupted_teaching_goes_on_to_the_same_end(folder, taught, tmp_path, steps):
    whole, texts, _ = taught
    with pytest.raises(KeyboardInterrupt):
        Shoal(3, backbone=folder, **TAUGHT).fit(texts, checkpoints=tmp_path, callbacks=[Stop(steps)])
    resumed = Shoal(3, backbone=folder, **TAUGHT).fit(texts, checkpoints=tmp_path)
    assert (resumed.labels_ == whole.labels_).all()
    np.testing.assert_allclose(resumed.transform(texts), whole.transform(texts), atol=1e-6)


def test_vectors_cannot_be_taught():
    texts, _ = made_texts(4)
    vectors = np.random.RandomState(0).normal(size=(len(texts), 8)).astype(np.float32)
    with pytest.raises(ParameterError, match="pass effort='fast'"):
        Shoal(3, effort="balanced").fit(texts, vectors=vectors)
    with pytest.raises(ParameterError, match="effort='slow' is unknown; pass one of fast, balanced, best"):
        Shoal(3, effort="slow").fit(texts)


def test_listeners_hear_of_every_text_copies_too(folder):
    texts, _ = made_texts(12)
    texts += [text.upper() for text in texts[:5]]

    class Hear(Callback):
        def __init__(self):
            self.sizes = set()

        def on_embeddings(self, record, embeddings, labels):
            self.sizes |= {len(embeddings), len(labels)}

    hear = Hear()
    Shoal(3, backbone=folder, **TAUGHT).fit(texts, callbacks=[hear])
    assert hear.sizes == {len(texts)}


@pytest.mark.slow
def test_an_encoder_in_int8_answers_alike_after_loading(tmp_path):
    texts = [f"{word} number {i}" for i in range(15) for word in ("apple", "lorry", "violin")]
    model = Shoal(3, encoder_precision="int8").fit(texts)
    model.save(tmp_path / "model")
    again = shoal.load(tmp_path / "model")
    assert (model.predict(texts) == model.labels_).all()
    new = ["a red apple", "the violin concerto", "a lorry on the road"]
    assert (again.predict_proba(new) == model.predict_proba(new)).all()
    np.testing.assert_allclose(again.predict_proba(new)[1], again.predict_proba(new[1:2])[0], rtol=1e-5)


def test_an_encoder_in_int8_cannot_be_trained():
    with pytest.raises(ParameterError, match="encoder_precision"):
        Shoal(2, encoder_precision="int8", effort="best").fit(["a", "b", "c"])


def many_texts(n: int) -> tuple[list[str], list[int]]:
    """Return distinct texts of three topics, and their topics."""
    rng = np.random.RandomState(0)
    topics = [
        "goal match team striker league cup",
        "flour oven bread butter yeast",
        "kernel driver memory thread socket",
    ]
    labels = rng.randint(3, size=n)
    texts = [f"{' '.join(rng.choice(topics[label].split(), 4))} {i}" for i, label in enumerate(labels)]
    return texts, labels.tolist()


def test_of_many_texts_a_sample_is_partitioned_and_the_others_are_sorted(tmp_path):
    texts, topics = many_texts(600)
    vectors = np.eye(3)[topics] + np.random.RandomState(1).normal(scale=0.3, size=(600, 3))
    model = Shoal(3, partition_rows=200).fit(texts, vectors=vectors)
    assert len(model.memory_.keys) == 200
    assert accuracy(topics, model.labels_) > 0.97
    assert (model.start_labels_ >= 0).all()
    assert (model.predict(texts, vectors=vectors) == model.labels_).all()
    assert (model.predict(texts[::-1], vectors=vectors[::-1])[::-1] == model.labels_).all()
    model.save(tmp_path / "model")
    assert (shoal.load(tmp_path / "model").predict(texts, vectors=vectors) == model.labels_).all()


def test_a_sample_as_large_as_the_corpus_changes_nothing():
    texts, topics = many_texts(120)
    vectors = np.eye(3)[topics] + np.random.RandomState(1).normal(scale=0.3, size=(120, 3))
    whole, bounded = (Shoal(3, partition_rows=size).fit(texts, vectors=vectors) for size in (10_000, 120))
    assert (whole.probabilities_ == bounded.probabilities_).all()


def test_fine_tuning_needs_all_texts_in_the_partition():
    with pytest.raises(ParameterError, match="partition_rows=5 "):
        Shoal(2, partition_rows=5, effort="best", backbone="tiny").fit([f"text {i}" for i in range(9)])
