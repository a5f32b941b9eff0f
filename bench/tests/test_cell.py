"""A cell: a key that stays, a record whatever happens."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from shoal.errors import DataError
from shoal_bench.cell import Cell, run
from shoal_bench.data_sets import find_data_set

CELL = Cell("tfidf-kmeans", {"n_clusters": 3, "n_init": 2}, "topics", None, 0)


def test_a_key_never_changes():
    """Results that people have would be lost with it."""
    cell = Cell("sccl", {"n_clusters": 4, "eta": 10.0}, "agnews", 5000, 1)
    assert cell.key("0" * 64) == "1b5f3a92ce9c69f1"


def test_a_key_is_of_the_fit_and_its_data_and_of_nothing_else():
    key = CELL.key("a")
    assert replace(CELL, params={"n_init": 2, "n_clusters": 3}).key("a") == key, "the order of parameters"
    others = [
        CELL.key("b"),
        replace(CELL, method="bow-kmeans").key("a"),
        replace(CELL, params={"n_clusters": 3, "n_init": 3}).key("a"),
        replace(CELL, data_set="other").key("a"),
        replace(CELL, n_texts=30).key("a"),
        replace(CELL, seed=1).key("a"),
        replace(CELL, method=None, peer="tfidf-kmeans").key("a"),
        replace(CELL, train_share=0.5).key("a"),
    ]
    assert len({key, *others}) == 9
    assert Cell.of(json.loads(json.dumps(CELL.as_dict()))) == CELL


def test_settings_are_all_parameters_as_plain_values():
    settings = CELL.settings()
    assert (settings["n_init"], settings["representation"], settings["random_state"]) == (2, "tfidf", 0)
    assert json.loads(json.dumps(settings)) == settings
    assert replace(CELL, method=None, peer="x").settings() == {"n_clusters": 3, "n_init": 2}


def test_a_record_says_everything(data):
    record = run(replace(CELL, n_texts=45))
    assert record["key"] == replace(CELL, n_texts=45).key(find_data_set("topics").sha256)
    assert (record["schema"], record["status"], record["reason"]) == (1, "ok", "")
    assert (record["n_texts"], record["n_clusters"], record["n_found"], record["outliers"]) == (45, 3, 3, 0.0)
    assert record["scores"].keys() == {"acc", "nmi", "ari", "purity", "nmi_geometric"}
    assert record["scores"]["acc"] == 100.0, "three topics without a word in common"
    assert record["seconds"] > 0
    assert record["peak_memory_mb"] > 10
    assert record["threads"] >= 1
    assert record["versions"].keys() == {"shoal", "numpy", "torch", "transformers", "scikit-learn", "python"}
    assert record["machine"].keys() == {"cpu", "cores", "memory_gb", "system"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", record["when"])
    assert str(data) not in json.dumps(record)


def test_what_goes_wrong_is_in_the_record(data):
    failed = run(replace(CELL, params={"n_clusters": 100}))
    assert failed["status"] == "failed"
    assert failed["reason"].startswith("ParameterError: n_clusters=100 but the corpus has 60 texts")
    assert "scores" not in failed
    hub = run(Cell("kmeans", {"n_clusters": 3, "backbone": "nobody/has-this-model"}, "topics", None, 0))
    assert hub["status"] == "unavailable"
    assert "nobody/has-this-model" in hub["reason"]
    with pytest.raises(DataError, match="data set 'nowhere'"):  # without data there is no key
        run(replace(CELL, data_set="nowhere"))
