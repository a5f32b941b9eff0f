"""A run at another number of clusters: a run like any other."""

from __future__ import annotations

import json

import numpy as np
import pytest

import shoal
from cli_tickets import ADDED, assignments, made_table
from shoal.cutting import cut_run
from shoal.errors import ParameterError, RunFolderError
from shoal.fitting import FitJob, start_fit


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a run of 6 clusters on 60 tickets, two of them empty."""
    folder = tmp_path_factory.mktemp("runs")
    made_table(60, empty=(3, 11)).write_csv(folder / "tickets.csv")
    job = FitJob(
        str(folder / "tickets.csv"),
        text="body",
        id="ticket",
        label="topic",
        method="tfidf-kmeans",
        stop_words=["apple"],
        params={"n_clusters": 6},
    )
    return start_fit(job, folder / "run").run


@pytest.mark.parametrize(("level", "number"), [("coarse", 2), (3, 3), ("fine", 12)])
def test_a_cut_is_a_whole_run(run, level, number, tmp_path):
    result = cut_run(run, level, tmp_path / "cut")
    before, after = assignments(run), assignments(result.run)
    assert after.columns == before.columns
    assert after.drop(ADDED).equals(before.drop(ADDED))
    assert after["cluster"].is_null().to_list() == before["cluster"].is_null().to_list()
    assert after["cluster"].drop_nulls().n_unique() == len(result.clusters) == number
    finer, coarser = (before, after) if number < 6 else (after, before)
    pairs = set(zip(finer["cluster"], coarser["cluster"], strict=True))
    assert len(pairs) == finer["cluster"].n_unique()
    info = json.loads((result.run / "run.json").read_text())
    assert (info["n_clusters"], info["data"]["cut_from"], info["data"]["text_column"]) == (number, 6, "body")
    assert info["scores"].keys() == result.scores.keys()
    assert (result.run / "report.html").is_file()
    assert f"{number} clusters, cut from 6." in result.remarks()
    assert not any("apple" in cluster.keywords for cluster in result.clusters)


def test_predict_follows(run, tmp_path):
    result = cut_run(run, 3, tmp_path / "cut")
    model = shoal.load(result.run)
    table = assignments(result.run)
    assert model.predict(table["body"].to_list()).tolist() == table["cluster"].fill_null(-1).to_list()
    assert model.names_ == [cluster.name for cluster in result.clusters]


def test_a_cut_can_be_cut_back(run, tmp_path):
    cut_run(run, 2, tmp_path / "two")
    again = cut_run(tmp_path / "two", "medium", tmp_path / "back")
    assert assignments(again.run)["cluster"].to_list() == assignments(run)["cluster"].to_list()
    assert "cut_from" not in again.notes


def test_by_default_it_is_next_to_the_run(run):
    found = cut_run(run, 4)
    assert found.run.parent == run.parent
    assert found.run.name.startswith("run-cut-4")


def test_nothing_is_replaced_unasked(run, tmp_path):
    cut_run(run, 2, tmp_path / "cut")
    with pytest.raises(RunFolderError, match="overwrite"):
        cut_run(run, 3, tmp_path / "cut")
    assert len(cut_run(run, 3, tmp_path / "cut", overwrite=True).clusters) == 3


def test_more_than_the_tree_has(run, tmp_path):
    with pytest.raises(ParameterError, match="13 clusters were asked for, but this run can be cut into 1 to 12"):
        cut_run(run, 13, tmp_path / "cut")
    assert not (tmp_path / "cut").exists()


def test_vectors_are_not_kept(tmp_path):
    made_table(30).write_csv(tmp_path / "tickets.csv")
    np.save(tmp_path / "vectors.npy", np.repeat(np.eye(6), 5, axis=0) + 0.01 * np.arange(30)[:, None])
    job = FitJob(
        str(tmp_path / "tickets.csv"),
        text="body",
        method="kmeans",
        vectors=str(tmp_path / "vectors.npy"),
        params={"n_clusters": 3},
    )
    start_fit(job, tmp_path / "run")
    with pytest.raises(ParameterError, match=r"was fitted on vectors, .* use `model\.cut` from Python"):
        cut_run(tmp_path / "run", 2)
