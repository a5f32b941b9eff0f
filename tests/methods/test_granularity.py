"""Finding the number before a fit, changing it after."""

from __future__ import annotations

import numpy as np
import pytest

import shoal
from shoal import Shoal, TwoStage
from shoal.encoder import shards
from shoal.errors import ParameterError
from shoal.methods.granularity import encoded_sample, find_n_clusters, tree_of
from shoal.methods.inputs import Rows, rows_of
from shoal.n_clusters import parse_wanted
from tiny_backbone import tiny_backbone

KINDS = {
    "fruit": ["apple", "pear", "plum", "cherry", "ripe", "juice", "orchard", "sweet"],
    "cars": ["engine", "wheel", "brake", "diesel", "garage", "driver", "motor", "tyre"],
    "music": ["guitar", "piano", "melody", "singer", "concert", "drum", "chord", "rhythm"],
    "sea": ["boat", "sail", "harbour", "wave", "anchor", "tide", "captain", "deck"],
}
_RNG = np.random.RandomState(0)
TEXTS = [" ".join(_RNG.choice(words, 5, replace=False)) for words in KINDS.values() for _ in range(20)]
GROUPS = np.repeat(np.arange(4), 20)
VECTORS = (np.eye(4)[GROUPS] + _RNG.normal(scale=0.1, size=(80, 4))).astype(np.float32)


@pytest.fixture
def by_words():
    """A method without a transformer, with vectors given so that none is needed to find the number either."""

    def make(n_clusters="auto", **params):
        return TwoStage(n_clusters, **params)

    return make


@pytest.fixture
def model(by_words):
    return by_words().fit(TEXTS, vectors=VECTORS)


class TestBefore:
    def test_the_number_is_found(self, model, same_partition):
        assert model.n_clusters_ == model.n_clusters_choice_.chosen == len(model.clusters_) == 4
        assert same_partition(model.labels_, GROUPS)
        record = next(row for row in model.history_ if row.get("stage") == "n_clusters")
        assert (record["n_clusters"], record["reason"]) == (4, model.n_clusters_choice_.reason)

    def test_the_parameter_stays_what_the_user_said(self, model):
        assert model.get_params()["n_clusters"] == model.n_clusters == "auto"

    @pytest.mark.parametrize(("wanted", "allowed"), [("2-3", (2, 3)), ((6, 9), range(6, 10)), (5, (5,)), ("5", (5,))])
    def test_ranges_and_numbers(self, by_words, wanted, allowed):
        assert by_words(wanted).fit(TEXTS, vectors=VECTORS).n_clusters_ in allowed

    def test_repeated_rows_do_not_count(self):
        rows = rows_of(["one text", "One  Text", "another", "one text"], np.eye(4))
        vectors, texts = encoded_sample(rows, {})
        assert len(vectors) == len(texts) == 2

    def test_another_order_gives_the_same_answer(self):
        order = np.random.RandomState(1).permutation(len(TEXTS))
        one = find_n_clusters(rows_of(TEXTS, VECTORS), parse_wanted("auto"), {})
        other = find_n_clusters(rows_of([TEXTS[i] for i in order], VECTORS[order]), parse_wanted("auto"), {})
        assert one == other

    @pytest.mark.parametrize("method", [Shoal, TwoStage])
    def test_texts_are_not_encoded_again_to_find_it(self, method, tmp_path, monkeypatch):
        encoded, encode = [], shards.encode_texts
        monkeypatch.setattr(
            shards, "encode_texts", lambda encoder, texts: encoded.extend(texts) or encode(encoder, texts)
        )
        words = [word for kind in KINDS.values() for word in kind]
        method("auto", backbone=tiny_backbone(tmp_path / "bert", words)).fit(TEXTS)
        assert sorted(encoded) == sorted(TEXTS)

    def test_vectors_alone(self):
        found = find_n_clusters(Rows(np.ones(80, dtype=bool), None, VECTORS), parse_wanted("auto"), {})
        assert found.chosen == 4


class TestAfter:
    @pytest.mark.parametrize("number", [1, 2, 3, 5, 8])
    def test_a_cut_has_as_many_clusters_as_asked_for(self, model, number):
        cut = model.cut(number)
        assert (
            cut.n_clusters_ == len(cut.clusters_) == len(cut.cluster_centers_) == cut.probabilities_.shape[1] == number
        )
        assert sum(cluster.size for cluster in cut.clusters_) == len(TEXTS)
        assert len(set(cut.names_)) == number
        assert (cut.predict(TEXTS, vectors=VECTORS) == cut.labels_).all()
        np.testing.assert_allclose(cut.predict_proba(TEXTS, vectors=VECTORS), cut.probabilities_, atol=1e-6)

    def test_the_fitted_model_stays_as_it_is(self, model):
        before = model.labels_.copy()
        model.cut(2)
        assert (model.labels_ == before).all()
        assert model.n_clusters_ == 4

    def test_levels_by_name(self, model):
        levels = model.n_clusters_choice_.levels
        assert levels == {"medium": 4, "fine": 8}
        assert model.cut("medium") is model
        assert model.cut("fine").n_clusters_ == 8
        assert model.cut("8").n_clusters_ == 8

    def test_a_cut_of_a_cut_is_a_cut_of_the_fit(self, model):
        assert (model.cut(2).cut(6).labels_ == model.cut(6).labels_).all()
        assert model.cut(2).cut(4) is model

    def test_clusters_at_and_labels_at(self, model):
        found = model.clusters_at(2)
        assert (found.labels == model.cut(2).labels_).all()
        sure = model.labels_at(0.9)
        confidence = model.probabilities_.max(axis=1)
        assert ((sure == -1) == (confidence < 0.9)).all()
        assert (sure[sure >= 0] == model.labels_[sure >= 0]).all()
        assert (model.labels_at(0) == model.labels_).all()

    def test_empty_texts_keep_their_row(self, by_words):
        model = by_words().fit(["", *TEXTS], vectors=np.vstack([np.zeros((1, 4)), VECTORS])).cut(2)
        assert model.labels_[0] == -1
        assert not model.probabilities_[0].any()
        assert (model.labels_[1:] >= 0).all()

    def test_stop_words(self, model):
        named = model.cut(2, stop_words=["apple", "boat"])
        assert not {"apple", "boat"} & {word for cluster in named.clusters_ for word in cluster.keywords}
        assert {"apple", "boat"} & {word for cluster in model.cut(2).clusters_ for word in cluster.keywords}

    @pytest.mark.parametrize("number", [2, 6])
    def test_saved_and_loaded(self, model, number, tmp_path):
        cut = model.cut(number)
        cut.save(tmp_path / "cut")
        again = shoal.load(tmp_path / "cut")
        assert (again.n_clusters_, again.names_) == (number, cut.names_)
        assert (again.predict(TEXTS, vectors=VECTORS) == cut.labels_).all()
        back = again.cut("medium")
        assert (back.names_, back.n_clusters_) == (model.names_, 4)
        assert (back.predict(TEXTS, vectors=VECTORS) == model.labels_).all()

    def test_a_loaded_model_is_cut_without_its_texts(self, model, tmp_path):
        model.save(tmp_path / "model")
        loaded = shoal.load(tmp_path / "model")
        for number in (2, 6):
            cut = loaded.cut(number)
            assert (cut.predict(TEXTS, vectors=VECTORS) == model.cut(number).labels_).all()
            assert len(set(cut.names_)) == number
            assert sum(cluster.size for cluster in cut.clusters_) == len(TEXTS)

    @pytest.mark.parametrize(
        ("level", "message"),
        [
            ("coarse", "level='coarse' is not on offer; pass one of medium, fine, or a number"),
            ("huge", "level='huge' is not on offer"),
            (2.5, r"level=2\.5 is no level"),
            (True, "level=True is no level"),
            (0, "0 clusters were asked for, but this run can be cut into 1 to 8"),
            (9, "9 clusters were asked for, but this run can be cut into 1 to 8; for more, fit again"),
        ],
    )
    def test_levels_that_are_not_there(self, model, level, message):
        with pytest.raises(ParameterError, match=message):
            model.cut(level)


def test_the_tree_of_a_run_holds_every_cluster_once(by_words):
    model = by_words(6).fit(TEXTS, vectors=VECTORS)
    tree = tree_of(model.hierarchy_, model.clusters_, model.n_clusters_choice_.levels)
    assert tree["levels"] == {"coarse": 2, "medium": 6, "fine": 12}
    assert len(tree["children"]) == 2
    assert sorted(k for theme in tree["children"] for k in theme["clusters"]) == list(range(6))
    assert all(theme["name"] for theme in tree["children"])
