"""A model on disk: it answers as before, holds no pickle, and is refused once it is not what it was."""

from __future__ import annotations

import json
import os
import shutil
import stat

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import shoal
from shoal import TwoStage
from shoal.errors import DataError, ParameterError, RunFolderError
from shoal.methods.two_stage import CLUSTERERS
from tiny_backbone import tiny_backbone

TEXTS = [f"{a} {b}" for a in ("red", "green", "blue", "grey") for b in ("apple", "pear", "car", "bus", "drum", "flute")]


@pytest.fixture
def saved(tmp_path):
    """Return a saved model's folder."""
    TwoStage(3, representation="tfidf", n_init=2).fit(TEXTS).save(tmp_path / "model")
    return tmp_path / "model"


def test_others_may_read_it_if_the_umask_says_so(tmp_path):
    before = os.umask(0o022)
    try:
        TwoStage(3, backbone=tiny_backbone(tmp_path / "bert"), max_length=16).fit(TEXTS).save(tmp_path / "open")
        os.umask(0o077)
        TwoStage(3, representation="tfidf", n_init=2).fit(TEXTS).save(tmp_path / "closed")
    finally:
        os.umask(before)
    for name, mode in {"open": 0o644, "closed": 0o600}.items():
        files = [file for file in (tmp_path / name).rglob("*") if file.is_file()]
        assert any(file.suffix == ".safetensors" for file in files)
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {mode}


class TestRoundTrip:
    @pytest.mark.parametrize("clusterer", CLUSTERERS)
    @pytest.mark.parametrize("reducer", ["none", "pca"])
    def test_every_clusterer_and_reducer(self, tmp_path, clusterer, reducer, short_idec):
        model = TwoStage(3, representation="bow", clusterer=clusterer, reducer=reducer, n_init=2).fit(TEXTS)
        model.save(tmp_path / "model")
        again = shoal.load(tmp_path / "model")
        new = [*TEXTS, "a green drum", "", "unheard of"]
        np.testing.assert_array_equal(again.predict(new), model.predict(new))
        np.testing.assert_allclose(again.predict_proba(new), model.predict_proba(new), atol=1e-6)
        np.testing.assert_allclose(again.cluster_centers_, model.cluster_centers_, rtol=1e-6)
        assert again.clusters_ == model.clusters_
        assert again.get_params() == model.get_params()
        assert again.n_features_in_ == model.n_features_in_

    def test_a_transformer_stands_on_its_own(self, tmp_path):
        model = TwoStage(3, backbone=tiny_backbone(tmp_path / "bert"), max_length=16).fit(TEXTS)
        model.save(tmp_path / "model")
        shutil.rmtree(tmp_path / "bert")
        again = shoal.load(str(tmp_path / "model"))
        np.testing.assert_array_equal(again.predict(TEXTS), model.labels_)
        np.testing.assert_allclose(again.transform(TEXTS), model.transform(TEXTS), atol=1e-5)

    def test_saved_again_it_is_the_same(self, saved, tmp_path):
        shoal.load(saved).save(tmp_path / "second")
        for name in ("config.json", "heads.safetensors", "vocabulary.json"):
            assert (tmp_path / "second" / name).read_bytes() == (saved / name).read_bytes()

    def test_fitted_on_vectors_it_answers_to_vectors_only(self, tmp_path):
        vectors = np.random.default_rng(0).normal(size=(24, 4))
        for X, given in ((vectors, None), (TEXTS, vectors)):
            model = TwoStage(3).fit(X, vectors=given)
            model.save(tmp_path / "model")
            again = shoal.load(tmp_path / "model")
            np.testing.assert_array_equal(again.predict(vectors), model.labels_)
            with pytest.raises(DataError, match="fitted on vectors and cannot encode texts"):
                again.predict(TEXTS)
            shutil.rmtree(tmp_path / "model")

    def test_an_encoder_of_the_users_own_answers_to_vectors_only(self, tmp_path):
        class Lengths:
            fingerprint = "lengths"

            def encode(self, texts):
                return np.array([[len(text), text.count("e")] for text in texts], np.float32)

        model = TwoStage(2, representation=Lengths(), cache=False).fit(TEXTS)
        model.save(tmp_path / "model")
        again = shoal.load(tmp_path / "model")
        np.testing.assert_array_equal(again.predict(Lengths().encode(TEXTS)), model.labels_)
        with pytest.raises(DataError, match="cannot encode texts"):
            again.predict(TEXTS)

    def test_numpy_numbers_and_generators_are_written_as_json(self, tmp_path):
        model = TwoStage(np.int64(3), representation="tfidf", random_state=np.random.RandomState(0)).fit(TEXTS)
        model.save(tmp_path / "model")
        params = json.loads((tmp_path / "model" / "config.json").read_text())["params"]
        assert (params["n_clusters"], params["random_state"]) == (3, None)


class TestFolder:
    def test_files(self, saved):
        assert {file.name for file in saved.iterdir()} == {"config.json", "heads.safetensors", "vocabulary.json"}
        config = json.loads((saved / "config.json").read_text())
        assert (config["format"], config["format_version"], config["class"]) == ("shoal-model", 1, "TwoStage")
        assert config["shoal_version"] == shoal.__version__
        assert [cluster["id"] for cluster in config["clusters"]] == [0, 1, 2]

    def test_an_occupied_place_is_refused(self, saved, tmp_path):
        (tmp_path / "file").write_text("mine")
        for place in (saved, tmp_path / "file"):
            with pytest.raises(RunFolderError, match="is a file or not empty; pass a new folder"):
                shoal.load(saved).save(place)

    def test_what_json_cannot_hold_is_named(self, tmp_path):
        model = TwoStage(3, representation="tfidf").fit(TEXTS).set_params(word_vectors={1, 2})
        with pytest.raises(ParameterError, match=r"word_vectors=\{1, 2\} cannot be saved"):
            model.save(tmp_path / "model")

    def test_missing_or_foreign(self, tmp_path):
        with pytest.raises(RunFolderError, match="is not a run folder"):
            shoal.load(tmp_path / "nowhere")
        with pytest.raises(RunFolderError, match=r"holds no Shoal model \(no config\.json\)"):
            shoal.load(tmp_path)
        (tmp_path / "config.json").write_text('{"model_type": "bert"}')
        with pytest.raises(RunFolderError, match="is not a Shoal model"):
            shoal.load(tmp_path)
        (tmp_path / "config.json").write_text("{")
        with pytest.raises(RunFolderError, match=r"config\.json is damaged"):
            shoal.load(tmp_path)

    def change(self, folder, **changes):
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, **changes}))

    def test_a_newer_format(self, saved):
        self.change(saved, format_version=2)
        with pytest.raises(RunFolderError, match="has format version 2 but this Shoal reads 1; upgrade Shoal"):
            shoal.load(saved)

    @pytest.mark.parametrize(
        "changes",
        [
            {"class": "os.system"},
            {"clusterer": "dbscan"},
            {"reducer": "projection"},
            {"params": {"colour": "red"}},
            {"params": None},
            {"clusters": [{"id": 0}]},
            {"clusters": 3},
            {"encodes_texts": True, "params": {"representation": "bow", "n_clusters": 3}, "class": None},
        ],
        ids=str,
    )
    def test_a_config_that_does_not_fit(self, saved, changes):
        self.change(saved, **changes)
        with pytest.raises(RunFolderError, match="is damaged"):
            shoal.load(saved)

    def test_heads_that_do_not_fit(self, saved):
        heads = load_file(saved / "heads.safetensors")
        save_file(
            {name: array for name, array in heads.items() if name != "clusterer.centers"}, saved / "heads.safetensors"
        )
        with pytest.raises(RunFolderError, match="is damaged"):
            shoal.load(saved)
        (saved / "heads.safetensors").write_bytes(b"\x80\x04pickled")
        with pytest.raises(RunFolderError, match="is damaged"):
            shoal.load(saved)
        (saved / "heads.safetensors").unlink()
        with pytest.raises(RunFolderError, match="is damaged"):
            shoal.load(saved)

    def test_a_lost_vocabulary(self, saved):
        (saved / "vocabulary.json").unlink()
        with pytest.raises(RunFolderError, match="is damaged"):
            shoal.load(saved)


def test_a_loaded_model_has_the_labels_of_the_fit(tmp_path):
    texts = ["red apple", "", "ripe apple", "fast car", "slow car", "new car"]
    model = TwoStage(2, representation="tfidf", clusterer="kmeans").fit(texts)
    model.save(tmp_path / "model")
    loaded = shoal.load(tmp_path / "model")
    assert loaded.labels_.dtype == np.int64
    assert (loaded.labels_ == model.labels_).all()
    loaded.save(tmp_path / "again")
    assert (shoal.load(tmp_path / "again").labels_ == model.labels_).all()
    cut = model.cut(1)
    cut.save(tmp_path / "cut")
    assert (shoal.load(tmp_path / "cut").labels_ == cut.labels_).all()
    assert not hasattr(loaded.cut(1), "labels_")  # those of the fit would be wrong


def test_labels_beyond_the_clusters_are_damage(tmp_path):
    TwoStage(2, representation="tfidf", clusterer="kmeans").fit(["red apple", "fast car"]).save(tmp_path / "model")
    heads = tmp_path / "model" / "heads.safetensors"
    save_file({**load_file(heads), "labels": np.array([0, 7], np.int32)}, heads)
    with pytest.raises(RunFolderError, match="damaged"):
        shoal.load(tmp_path / "model")
