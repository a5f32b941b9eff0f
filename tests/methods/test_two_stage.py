"""Two-stage methods: every representation, reducer and clusterer together, and scikit-learn's own checks."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from shoal import METHODS, TwoStage
from shoal.errors import DataError, ParameterError
from shoal.methods.two_stage import CLUSTERERS
from tiny_backbone import tiny_backbone

TOPICS = {
    "fruit": ["apple", "pear", "plum", "cherry", "ripe", "juice", "orchard", "sweet"],
    "cars": ["engine", "wheel", "brake", "diesel", "garage", "driver", "motor", "tyre"],
    "music": ["guitar", "piano", "melody", "singer", "concert", "drum", "chord", "rhythm"],
}


def made_texts(n: int = 60, seed: int = 0) -> tuple[list[str], np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % len(TOPICS)
    words = list(TOPICS.values())
    return [" ".join(rng.choice(words[k], 5, replace=False)) for k in labels], labels


def same_partition(left, right) -> bool:
    return len(set(zip(left, right, strict=True))) == len(set(left)) == len(set(right))


@pytest.mark.parametrize("clusterer", CLUSTERERS)
@pytest.mark.parametrize("reducer", ["none", "pca"])
@pytest.mark.parametrize("representation", ["bow", "tfidf", "sif"])
def test_every_combination_finds_separate_topics(representation, reducer, clusterer, short_idec):
    texts, labels = made_texts()
    model = TwoStage(3, representation=representation, reducer=reducer, clusterer=clusterer).fit(texts)
    # Three topics are three directions, and SIF takes the strongest away. PCA leaves no more dimensions than IDEC's
    # code has, and nothing then keeps an auto-encoder from blowing up the least of them.
    if representation != "sif" and (reducer, clusterer) != ("pca", "idec"):
        assert same_partition(model.labels_, labels)
    assert (model.predict(texts) == model.labels_).all()
    np.testing.assert_allclose(model.probabilities_.sum(axis=1), 1, rtol=1e-5)
    assert model.cluster_centers_.shape == (3, model.transform(texts).shape[1])


@pytest.mark.slow  # its compiler takes ten seconds to start
def test_umap_then_kmeans():
    texts, _ = made_texts()
    model = TwoStage(3, representation="tfidf", reducer="umap").fit(texts)
    assert model.transform(texts).shape == (60, 4)  # K + 1, as ClusterBERT sets it
    assert (model.predict(texts) == model.labels_).all()
    assert (np.concatenate([model.predict([text]) for text in texts]) == model.labels_).all()


@pytest.mark.parametrize("representation", ["wordllama", pytest.param("use", marks=pytest.mark.slow), "e5"])
def test_packaged_encoders(representation):
    texts, _ = made_texts(30)
    model = TwoStage(3, representation=representation).fit(texts)
    assert (model.predict(texts) == model.labels_).all()
    assert np.mean(model.labels_ >= 0) == 1


def test_vectors_given_elsewhere_are_used_and_names_come_from_the_texts():
    texts, labels = made_texts()
    vectors = np.eye(3, dtype=np.float32)[labels] + 0.01 * np.random.default_rng(0).normal(size=(60, 3))
    model = TwoStage(3).fit(texts, vectors=vectors)
    assert same_partition(model.labels_, labels)
    assert any("pear" in cluster.keywords or "apple" in cluster.keywords for cluster in model.clusters_)
    assert (model.predict(texts, vectors=vectors) == model.labels_).all()
    assert (model.predict(vectors) == model.labels_).all()
    with pytest.raises(DataError, match="fitted on vectors"):
        model.predict(texts)
    with pytest.raises(ValueError, match="4 features"):
        model.predict(np.zeros((2, 4)))


def test_own_frozen_encoder_plugs_in():
    class Lengths:
        fingerprint = "lengths-1"

        def encode(self, texts):
            return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)

    model = TwoStage(2, representation=Lengths(), clusterer="kmeans", cache=False)
    assert same_partition(model.fit(["a", "bb", "c" * 50, "d" * 51]).labels_, [0, 0, 1, 1])


def test_clusterbert_preset_is_the_papers():
    texts, _ = made_texts()
    entry = METHODS["tfidf-kmeans"]
    model = entry(n_clusters=3, **entry.presets["clusterbert"]).fit(texts)
    assert (model.max_features, model.stop_words) == (2000, "english")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"clusterer": "dbscan"}, "clusterer='dbscan' is unknown; pass one of spherical-kmeans"),
        ({"reducer": "tsne"}, "reducer='tsne' is unknown"),
        ({"representation": "word2vec"}, "representation='word2vec' is unknown; pass one of transformer"),
        ({"n_init": 0}, "n_init=0 but it must be a whole number >= 1"),
        ({"n_clusters": 0}, "n_clusters=0 but it must be at least 1"),
        ({"n_clusters": 2.5}, "n_clusters=2.5 is not a whole number"),
        ({"n_clusters": 61}, "n_clusters=61 but the corpus has 60 texts"),
        ({"reducer": "pca", "n_components": 500}, "n_components=500 but 60 vectors of dimension"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ParameterError, match=message):
        TwoStage(**{"n_clusters": 3, "representation": "tfidf", **params}).fit(made_texts()[0])


def test_constructor_refuses_unknown_parameters_by_name():
    with pytest.raises(ParameterError, match="there is no parameter 'n_cluster'; the parameters are n_clusters"):
        METHODS["kmeans"](n_cluster=3)


# scikit-learn's whole catalogue, on vectors. The default stays 8 clusters; its checks use small sets. IDEC, which
# trains for a second each time, goes through it in test_auto_encoded.
@parametrize_with_checks(
    [TwoStage(3, clusterer=clusterer, n_init=1) for clusterer in CLUSTERERS if clusterer != "idec"]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_a_score_without_labels_prefers_the_number_of_groups():
    rng = np.random.RandomState(0)
    rows = (np.repeat(np.eye(4, 12), 30, axis=0) + rng.normal(scale=0.15, size=(120, 12)))[rng.permutation(120)]
    search = GridSearchCV(TwoStage(), {"n_clusters": [2, 4, 8]}, cv=3).fit(rows)
    assert search.best_params_ == {"n_clusters": 4}
    assert 0 < search.best_score_ <= 1


def test_a_score_of_texts_ignores_labels():
    texts = ["red apple", "green apple", "", "fast car", "slow car"]
    model = TwoStage(2, representation="tfidf", clusterer="kmeans").fit(texts)
    assert model.score(texts) == model.score(texts, [1, 0, 1, 0, 1]) > 0
    assert TwoStage(1, representation="tfidf", clusterer="kmeans").fit(texts).score(texts) == 0


def test_texts_that_were_cut_off_are_counted_also_if_every_row_is_scored_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.methods.answers.TIE", 1e9)
    texts = ["a b c d e f g h i j", "a", "a b", "c", "c d", "d"]
    model = TwoStage(2, backbone=tiny_backbone(tmp_path), max_length=6, long_texts="truncate").fit(texts)
    assert model.truncated_ == 1
    model.predict(texts)
    assert model.truncated_ == 1
