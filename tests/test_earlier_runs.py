"""Run folders that version 0.1.0 wrote before its parameters were declared still load, and answer the same."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import ParameterError
from shoal.methods.calibration import Calibration

RUNS = Path(__file__).with_name("runs_of_0.1.0.zip")  # with what each said of new.csv, beside it


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("earlier")
    with zipfile.ZipFile(RUNS) as archive:
        archive.extractall(folder)
    return folder


@pytest.mark.parametrize("name", ["tfidf-kmeans", "shoal", "sccl", "deccrl", "idec"])
def test_an_earlier_run_answers_as_it_did(folder, name):
    model = shoal.load(folder / name)
    written = pl.read_parquet(folder / name / "assignments.parquet")
    assert model.predict(written["text"].to_list()).tolist() == written["cluster"].to_list()
    new = pl.read_csv(folder / "new.csv")["text"].to_list()
    before = pl.read_csv(folder / f"{name}-new.csv")
    assert model.predict(new).tolist() == before["cluster"].fill_null(-1).to_list()
    np.testing.assert_allclose(
        model.predict_proba(new).max(axis=1), before["confidence"].fill_null(0).to_numpy(), atol=1e-4
    )
    assert (model.calibration_, model.hierarchy_, model.level_) == (Calibration(1.0, 0.0), None, None)
    with pytest.raises(ParameterError, match="fitted before trees of clusters were kept; fit it again to cut it"):
        model.cut(2)
    assert model.names_ == [cluster["name"] for cluster in json.loads((folder / name / "clusters.json").read_text())]
    assert model.outcome_.keys() >= {"rolled_back", "reason", "start", "end", "stages", "choice"}
    assert bool(model.outcome_["stages"]) == (name != "tfidf-kmeans")
    assert (model.outcome_["choice"] is not None) == (name == "shoal")
