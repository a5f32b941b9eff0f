"""Measuring: scores, what the clock counts, and the trace of a training."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from shoal import metrics
from shoal.cache import cache_folder
from shoal.encoder.transformer import TransformerEncoder
from shoal.encoder.vector_cache import EncodedTexts
from shoal.methods import find_method
from shoal_bench import measure as module
from shoal_bench.cell import Cell, blank_record
from shoal_bench.data_sets import find_data_set
from shoal_bench.measure import Trace, all_scores, measure
from tiny_backbone import tiny_backbone

TINY = {"max_steps": 4, "evaluate_every": 2, "batch_size": 16, "tolerance": None, "max_length": 16}


@pytest.fixture(scope="module")
def backbone(tmp_path_factory) -> str:
    return tiny_backbone(tmp_path_factory.mktemp("backbone"))


@pytest.fixture
def texts(data):
    return find_data_set("topics").load()


@pytest.fixture
def trained(backbone, texts):
    """Return a function that measures a short SCCL."""

    def run(**params):
        cell = Cell("sccl", {"n_clusters": 3, "backbone": backbone, **TINY, **params}, "topics", None, 0)
        return cell, measure(cell, texts)

    return run


def test_scores_are_those_of_the_labels(texts):
    cell = Cell("bow-kmeans", {"n_clusters": 2, "n_init": 1}, "topics", None, 3)
    facts = measure(cell, texts)
    model = find_method("bow-kmeans")(n_clusters=2, n_init=1, random_state=3).fit(texts.texts)
    assert facts["scores"] == all_scores(texts.labels, model.labels_)
    assert (facts["n_texts"], facts["n_found"], facts["outliers"]) == (60, 2, 0.0)
    assert facts["trace"] == []
    assert facts["outcome"] is facts["start_scores"] is facts["encode_seconds"] is facts["pair_similarity"] is None


def test_k_is_found_if_it_is_not_told(backbone, texts):
    cell = Cell("kmeans", {"n_clusters": "auto", "n_init": 1, "backbone": backbone}, "topics", None, 0)
    assert blank_record(cell, "checksum")["n_clusters"] is None
    facts = measure(cell, texts)
    model = find_method("kmeans")(n_init=1, backbone=backbone, random_state=0).fit(texts.texts)
    assert (facts["n_clusters"], facts["n_found"]) == (3, model.n_clusters_)
    assert facts["levels"] == model.n_clusters_choice_.levels
    assert 100 * np.mean(facts["reliability"]["accuracy"]) == pytest.approx(facts["scores"]["acc"])


def test_encoding_is_timed_only_when_the_vectors_are_not_kept_yet(backbone, texts):
    cell = Cell("kmeans", {"n_clusters": 3, "n_init": 1, "backbone": backbone}, "topics", None, 0)
    first, second = measure(cell, texts), measure(cell, texts)
    assert first["encode_seconds"] > 0
    assert second["encode_seconds"] is None
    assert first["scores"] == second["scores"]
    uncached = Cell("kmeans", {"n_clusters": 3, "n_init": 1, "backbone": backbone, "cache": False}, "topics", None, 0)
    assert measure(uncached, texts)["encode_seconds"] is None, "it is then part of the fit"


def test_what_a_method_chose_is_told_without_training(backbone, texts):
    facts = measure(Cell("shoal", {"n_clusters": 3, "backbone": backbone}, "topics", None, 0), texts)
    assert facts["trace"] == facts["outcome"]["stages"] == []
    assert facts["outcome"]["choice"]["reason"]
    assert facts["start_scores"].keys() == facts["scores"].keys()


@pytest.mark.parametrize("method", ["kmeans", "shoal", "dec"])
def test_the_fit_never_encodes_its_texts_whether_the_cache_was_warm_or_not(method, backbone, texts, monkeypatch):
    """So that its seconds do not depend on what earlier runs have left in the cache."""
    sizes = []
    encode = TransformerEncoder.encode

    def counted(self, texts):
        sizes.append(len(texts))
        return encode(self, texts)

    monkeypatch.setattr(TransformerEncoder, "encode", counted)
    few = {"max_steps": 2, "pretrain_epochs": 1} if method == "dec" else {}
    cell = Cell(method, {"n_clusters": 3, "backbone": backbone, **few}, "topics", None, 0)
    cold, warm = measure(cell, texts), measure(cell, texts)
    assert sizes == [60], "once, before the first fit"
    assert cold["encode_seconds"] > 0
    assert warm["encode_seconds"] is None
    assert cold["starts_from_vectors"] is warm["starts_from_vectors"] is True
    assert cold["scores"] == warm["scores"]


def test_a_fit_finds_nothing_in_the_cache_but_its_vectors(backbone, texts, monkeypatch):
    found = []
    method = type(find_method("kmeans")(n_clusters=3))
    fit = method.fit

    def looked(self, *args, **kwargs):
        folder = cache_folder()
        found.append(sorted(str(file.relative_to(folder).parent) for file in folder.rglob("*") if file.is_file()))
        return fit(self, *args, **kwargs)

    monkeypatch.setattr(method, "fit", looked)
    before = cache_folder()
    (before / "augmented").mkdir(parents=True)
    (before / "augmented" / "of-an-earlier-run").write_text("x")
    measure(Cell("kmeans", {"n_clusters": 3, "n_init": 1, "backbone": backbone}, "topics", None, 0), texts)
    assert found == [["vectors"]]
    assert cache_folder() == before


def test_the_trace_of_a_training(trained, texts):
    cell, facts = trained(augmentation="char_swap")
    evaluations = facts["trace"]
    assert [evaluation["step"] for evaluation in evaluations] == [0, 2, 4]
    assert evaluations[0]["acc"] == pytest.approx(facts["start_scores"]["acc"])
    for evaluation in evaluations:
        assert 0 <= evaluation["acc"] <= 100
        assert {
            "stage",
            "epoch",
            "nmi",
            "purity",
            "quality",
            "moved",
            "intra",
            "inter",
            "intra_true",
            "inter_true",
            "silhouette",
        } <= evaluation.keys()
    assert evaluations[0]["seconds"] < evaluations[1]["seconds"] < evaluations[2]["seconds"] <= facts["seconds"]
    assert facts["outcome"]["stages"][0]["steps"] == 4
    model = find_method("sccl")(**cell.params, random_state=0).fit(texts.texts)
    assert facts["scores"] == all_scores(texts.labels, model.labels_), "who watches changes nothing"


def test_maps_are_drawn_where_a_cell_asks_for_them(trained, texts):
    cell, facts = trained()
    assert not [evaluation for evaluation in facts["trace"] if "map" in evaluation]
    mapped = measure(replace(cell, extras=("maps",)), texts)
    assert [len(evaluation["map"]["cluster"]) for evaluation in mapped["trace"]] == [60] * 3
    assert mapped["scores"] == facts["scores"]


def test_texts_never_seen_are_sorted_by_what_was_learnt_from_the_others(texts):
    cell = Cell("bow-kmeans", {"n_clusters": 3, "n_init": 1}, "topics", None, 0, train_share=0.75)
    facts = measure(cell, texts)
    fitted, unseen = texts.split(0.75)
    assert (len(fitted.texts), len(unseen.texts)) == (45, 15)
    assert sorted(fitted.texts + unseen.texts) == sorted(texts.texts)
    model = find_method("bow-kmeans")(n_clusters=3, n_init=1, random_state=0).fit(fitted.texts)
    assert facts["fitted_scores"] == all_scores(fitted.labels, model.labels_)
    assert facts["scores"] == all_scores(unseen.labels, model.predict(unseen.texts))
    assert facts["n_texts"] == 60
    whole = measure(Cell("bow-kmeans", {"n_clusters": 3, "n_init": 1}, "topics", None, 0), texts)
    assert whole["fitted_scores"] is None


def test_topics_are_in_the_record_with_their_coherence(backbone, texts):
    small = {**TINY, "backbone": backbone, "augmentation": "virtual", "n_topics": 2}
    facts = measure(Cell("deccrl", {"n_clusters": 3, **small}, "topics", None, 0), texts)
    found = facts["topics"]
    assert [len(cluster["topics"]) for cluster in found["clusters"]] == [2, 2, 2]
    assert found["npmi"].keys() == {"topics", "telling", "largest", "c_tf_idf"}
    assert all(value is None or -1 <= value <= 1 for value in found["npmi"].values())
    assert json.loads(json.dumps(found)) == found
    without = measure(Cell("deccrl", {"n_clusters": 3, **small, "reconstruction": "none"}, "topics", None, 0), texts)
    assert without["topics"] is None


def test_true_distances_are_on_the_classes(texts):
    trace = Trace(texts.labels)
    rng = np.random.default_rng(0)
    embeddings = rng.normal(size=(60, 5)).astype(np.float32)
    trace.on_embeddings({"event": "evaluation", "step": 0, "intra": 1.0}, embeddings, np.zeros(60, dtype=np.int64))
    (evaluation,) = trace.evaluations
    assert evaluation["intra_true"] == pytest.approx(metrics.intra_cluster_distance(embeddings, texts.labels))
    assert evaluation["inter_true"] == pytest.approx(metrics.inter_cluster_distance(embeddings, texts.labels))
    assert (evaluation["intra"], evaluation["acc"]) == (1.0, pytest.approx(100 / 3))
    assert "event" not in evaluation


def test_the_clock_stands_still_while_the_trace_works(texts, monkeypatch):
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr(module.time, "perf_counter", lambda: float(next(clock)))
    trace = Trace(texts.labels)  # reads 0
    trace.on_embeddings(
        {"step": 0}, np.eye(60, 4, dtype=np.float32), np.zeros(60, dtype=np.int64)
    )  # arrives 10, reads 20
    assert trace.evaluations[0]["seconds"] == 20.0
    assert trace._spent == 20.0  # left at 30
    assert trace.seconds() == 40.0 - 20.0


def test_pairs_are_compared_before_training(trained):
    _, swapped = trained(augmentation="char_swap")
    pairs = swapped["pair_similarity"]
    assert pairs["n"] == sum(pairs["counts"]) == 2 * 60
    assert len(pairs["counts"]) == 50
    assert pairs["mean"] < 1
    _, same = trained(augmentation="virtual")
    assert same["pair_similarity"] is None
    _, alone = trained(objective="clustering")
    assert alone["pair_similarity"] is None


def test_a_histogram_by_hand(backbone):
    from shoal.training import CorpusViews

    encoder = TransformerEncoder.load(backbone, max_length=16).eval()
    texts = [["red car", "old piano"], ["red car", "new drum"]]
    views = CorpusViews.joined([encoder.tokenise(view) for view in texts])
    found = module.pair_similarity(views, encoder)
    left, right = (encoder.encode(view) for view in texts)
    cosines = (left * right).sum(axis=1) / np.linalg.norm(left, axis=1) / np.linalg.norm(right, axis=1)
    assert found["mean"] == pytest.approx(cosines.mean(), abs=1e-5)
    assert (found["n"], sum(found["counts"]), found["counts"][-1] >= 1) == (2, 2, True)


def test_a_peer_gets_texts_and_the_vectors_of_kmeans_and_its_outliers_are_one_cluster(texts, backbone, monkeypatch):
    from shoal_bench import peers

    asked = {}

    def stand_in(cell, texts, labels, vectors):
        asked.update(cell=cell, n=len(texts), shape=vectors.shape)
        found = [-1 if label == "cars" else {"fruit": 0, "music": 1}[label] for label in labels]
        return {"labels": found, "seconds": 1.5, "peak_memory_mb": 20.0, "versions": {"tool": "1.0"}}

    monkeypatch.setattr(peers, "run_peer", stand_in)
    vectors = EncodedTexts(np.ones((60, 4), np.float32), 0)
    monkeypatch.setattr(module, "encoded_by", lambda params, texts: module._Encoded("key", vectors, 0.5))
    cell = Cell(None, {"n_clusters": 3}, "topics", None, 0, peer="tool")
    facts = measure(cell, texts)
    assert asked == {"cell": cell.as_dict(), "n": 60, "shape": (60, 4)}
    assert facts["scores"]["acc"] == 100.0
    assert (facts["n_found"], facts["outliers"]) == (2, pytest.approx(1 / 3))
    assert (facts["seconds"], facts["encode_seconds"], facts["peak_memory_mb"]) == (1.5, 0.5, 20.0)
