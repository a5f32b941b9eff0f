"""The frozen result: clusters to JSON and back, and a table with a row a text."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas
import polars as pl
import pytest

from shoal import Cluster, Clustering
from shoal.clustering import Topic
from shoal.errors import ParameterError

FISH = Cluster(0, "fish", 2, 0.9, ("cod", "eel"), ("a cod", "an eel"))
BIRDS = Cluster(1, "birds", 1, 0.6, ("owl",), ("an owl",))
TREES = Cluster(2, "trees", 1, 0.5)


@pytest.fixture
def clustering():
    probabilities = np.array([[0.7, 0.1, 0.2], [0, 0, 0], [0.25, 0.5, 0.25], [0, 0, 1]], np.float32)
    return Clustering(np.array([0, -1, 1, 2]), probabilities, (FISH, BIRDS, TREES))


def test_cluster_to_json_and_back():
    content = json.loads(json.dumps(FISH.as_json()))
    assert content == {
        "id": 0,
        "name": "fish",
        "size": 2,
        "confidence": 0.9,
        "keywords": ["cod", "eel"],
        "examples": ["a cod", "an eel"],
    }
    assert Cluster.from_json(content) == FISH


def test_topics_come_back_from_json():
    eels = Cluster(3, "eels", 1, 0.9, topics=(Topic(("eel", "sea"), 0.7, False), Topic(("file", "data"), 0.3, True)))
    content = json.loads(json.dumps(eels.as_json()))
    assert content["topics"][1] == {"words": ["file", "data"], "share": 0.3, "general": True}
    assert Cluster.from_json(content) == eels
    assert "topics" not in FISH.as_json()


def test_cluster_of_foreign_json_is_refused():
    with pytest.raises(TypeError):
        Cluster.from_json({**FISH.as_json(), "colour": "red"})
    with pytest.raises(KeyError):
        Cluster.from_json({"id": 0})


def test_frame_by_hand(clustering):
    assert len(clustering) == 4
    frame = clustering.frame()
    assert frame.to_dict(as_series=False) == {
        "cluster": [0, None, 1, 2],
        "cluster_name": ["fish", None, "birds", "trees"],
        "confidence": [0.7, None, 0.5, 1.0],
        "second_cluster": [2, None, 0, 0],
        "second_confidence": [0.2, None, 0.25, 0.0],
    }
    assert dict(frame.schema) == {
        "cluster": pl.Int64,
        "cluster_name": pl.String,
        "confidence": pl.Float64,
        "second_cluster": pl.Int64,
        "second_confidence": pl.Float64,
    }


def test_the_second_choice_is_never_the_first():
    probabilities = np.array([[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]], np.float32)
    frame = Clustering(np.array([0, 1, 0]), probabilities, (FISH, BIRDS)).frame()
    assert frame["second_cluster"].to_list() == [1, 0, 1]
    assert frame["second_confidence"].to_list() == [0.5, 0.5, 0.0]


def test_one_cluster_has_no_second_choice():
    frame = Clustering(np.array([0, -1]), np.array([[1.0], [0.0]], np.float32), (FISH,)).frame()
    assert frame["second_cluster"].to_list() == [None, None]
    assert frame["second_confidence"].to_list() == [None, None]
    assert frame.schema["second_cluster"] == pl.Int64


def test_texts_below_a_confidence_have_no_cluster(clustering):
    assert clustering.labels_at(0).tolist() == [0, -1, 1, 2]
    assert clustering.labels_at(0.6).tolist() == [0, -1, -1, 2]
    assert clustering.labels_at(0.7 + 1e-6).tolist() == [-1, -1, -1, 2]
    assert clustering.labels_at(1.1).tolist() == [-1] * 4


def test_a_text_without_a_cluster_names_the_nearest_as_second_choice(clustering):
    sure = dataclasses.replace(clustering, labels=clustering.labels_at(0.6))
    assert sure.frame().row(2, named=True) == {
        "cluster": None,
        "cluster_name": None,
        "confidence": 0.5,
        "second_cluster": 1,
        "second_confidence": 0.5,
    }
    assert sure.frame().row(1) == (None,) * 5  # a row without text
    assert sure.frame().schema == clustering.frame().schema


@pytest.mark.parametrize("labels", [[], [-1, -1]])
def test_nothing_to_tell_keeps_the_columns_and_their_types(clustering, labels):
    empty = Clustering(np.array(labels, np.int64), np.zeros((len(labels), 3), np.float32), clustering.clusters)
    frame = empty.frame()
    assert frame.schema == clustering.frame().schema
    assert len(frame) == len(labels)
    assert frame.null_count().row(0) == (len(labels),) * 5


def test_is_frozen_and_its_table_is_no_window_into_it(clustering):
    with pytest.raises(dataclasses.FrozenInstanceError):
        clustering.labels = np.zeros(4)
    before = clustering.probabilities.copy()
    clustering.frame()
    np.testing.assert_array_equal(clustering.probabilities, before)


def test_a_frame_of_pandas_is_that_of_polars():
    fish, bird = Cluster(0, "fish", 1, 0.9), Cluster(1, "bird", 1, 0.8)
    found = Clustering(np.array([0, -1, 1]), np.array([[0.9, 0.1], [0, 0], [0.2, 0.8]], np.float32), (fish, bird))
    frame = found.frame("pandas")
    assert frame.columns.tolist() == found.frame().columns
    assert [None if value is pandas.NA else value for value in frame["cluster"]] == [0, None, 1]
    assert frame["cluster_name"].isna().tolist() == [False, True, False]
    assert frame["confidence"].dropna().tolist() == pytest.approx([0.9, 0.8])
    with pytest.raises(ParameterError, match="pass 'polars' or 'pandas'"):
        found.frame("arrow")
