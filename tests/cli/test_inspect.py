"""``shoal inspect``: the pairs of a run that training moved most."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal as package
from shoal.encoder.transformer import TransformerEncoder
from shoal.metrics import moved_pairs
from shoal.metrics.pairs import LABELLED
from shoal.training import Guard
from tiny_backbone import tiny_backbone


@pytest.fixture
def trained(shoal, tickets, tmp_path, monkeypatch):
    """Return a function that fits a small ClusterBERT and returns its run; what it does is not undone."""
    for judge in ("alarm", "regret", "doubt"):
        monkeypatch.setattr(Guard, judge, lambda *_: "")
    backbone = tiny_backbone(tmp_path / "backbone")
    small = ["max_steps=3", "batch_size=10", "learning_rate=0.01"]

    def run(*arguments):
        settings = [part for value in small for part in ("--set", value)]
        method = ["--method", "clusterbert", "--clusters", 3, "--backbone", backbone, *settings]
        answer = shoal("fit", tickets, "--text", "body", *method, "--out", tmp_path / "run", *arguments)
        assert answer.code == 0, answer.err
        return tmp_path / "run", backbone

    return run


def test_the_pairs_are_those_of_the_metric_without_classes(shoal, trained):
    run, backbone = trained()
    refused = shoal("inspect", run, "--pairs")
    assert (refused.code, "name it with --backbone" in refused.err) == (4, True), "a run is not asked what to load"
    answer = shoal("inspect", run, "--pairs", "--top", 2, "--json", "--backbone", backbone)
    assert answer.code == 0, answer.err
    found = answer.json
    texts = list(dict.fromkeys(pl.read_parquet(run / "assignments.parquet")["body"].to_list()))
    before = TransformerEncoder.load(backbone, max_length=32).encode(texts)
    after = package.load(run).encoder_.encode(texts)
    assert np.abs(before - after).max() > 1e-3
    expected = moved_pairs(before, after, n=2)
    assert [pair["before"] for pair in found["pairs"]] == pytest.approx([pair.before for pair in expected], abs=1e-5)
    assert [[each["text"] for each in pair["texts"]] for pair in found["pairs"]] == [
        [texts[pair.left], texts[pair.right]] for pair in expected
    ]
    assert {pair["same_class"] for pair in found["pairs"]} == {None}
    assert (found["trained"], found["n_texts"], found["n_compared"]) == (True, len(texts), len(texts))


def test_with_classes_good_moves_are_told_from_bad_ones(shoal, trained):
    run, backbone = trained()
    pairs = shoal("inspect", run, "--pairs", "--label", "topic", "--json", "--backbone", backbone).json["pairs"]
    kinds = {(pair["kind"], pair["same_class"]) for pair in pairs}
    assert kinds <= set(LABELLED)
    assert {("moved together", True), ("moved together", False)} <= kinds
    for pair in pairs:
        first, second = (each["class"] for each in pair["texts"])
        assert (first == second) == pair["same_class"]
    own, _ = trained("--label", "topic", "--overwrite")
    again = shoal("inspect", own, "--pairs", "--json", "--backbone", backbone)
    assert again.json["pairs"] == pairs, "the run's own classes are the default"


def test_for_people(shoal, trained):
    run, backbone = trained()
    answer = shoal("inspect", run, "--pairs", "--backbone", backbone)
    assert answer.code == 0
    assert "Moved together" in answer.out
    assert "All pairs of 30 distinct texts were compared." in answer.err


def test_where_nothing_was_trained_nothing_has_moved(shoal, tickets, tmp_path):
    backbone = tiny_backbone(tmp_path / "backbone")
    fitted = shoal("fit", tickets, "--text", "body", "--method", "kmeans", "--clusters", 3, "--backbone", backbone,
                   "--out", tmp_path / "run")  # fmt: skip
    assert fitted.code == 0, fitted.err
    answer = shoal("inspect", tmp_path / "run", "--pairs", "--json")
    assert {pair["kind"] for pair in answer.json["pairs"]} == {"stayed close"}
    assert not answer.json["trained"]
    assert "trained no encoder: nothing moved" in shoal("inspect", tmp_path / "run", "--pairs").err


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("idec", ["representation=tfidf", "pretrain_epochs=1", "max_steps=2"]),
        ("shoal", ["effort=balanced", "unequal=false", "max_steps=2", "learning_rate=0.01"]),
    ],
)
def test_other_methods_that_train_move_texts_too(shoal, tickets, tmp_path, monkeypatch, method, settings):
    for judge in ("alarm", "regret", "doubt"):
        monkeypatch.setattr(Guard, judge, lambda *_: "")
    backbone = tiny_backbone(tmp_path / "backbone")
    options = [part for value in settings for part in ("--set", value)]
    fitted = shoal("fit", tickets, "--text", "body", "--method", method, "--clusters", 3, "--backbone", backbone,
                   *options, "--out", tmp_path / "run")  # fmt: skip
    assert fitted.code == 0, fitted.err
    answer = shoal("inspect", tmp_path / "run", "--pairs", "--json", "--backbone", backbone)
    assert answer.code == 0, answer.err
    assert answer.json["trained"]
    assert any(abs(pair["before"] - pair["after"]) > 1e-3 for pair in answer.json["pairs"])


def test_what_cannot_be_shown(shoal, fit, tickets, tmp_path):
    np.save(tmp_path / "vectors.npy", np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32))
    _, run = fit(tickets, "--text", "body", "--clusters", 3, "--vectors", tmp_path / "vectors.npy")
    answer = shoal("inspect", run, "--pairs")
    assert answer.code == 3
    assert "this model was fitted on vectors and cannot encode texts" in answer.err
    assert shoal("inspect", run).code == 2
    assert shoal("inspect", tmp_path / "nowhere", "--pairs").code == 7


def test_help_has_examples(shoal):
    answer = shoal("inspect", "--help")
    assert answer.code == 0
    assert "--pairs --label topic" in answer.out
