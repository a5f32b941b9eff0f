"""The map and the report of a run: its model says where the texts are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from shoal.clustering import NO_CLUSTER
from shoal.corpus import strings_of
from shoal.methods.base import TextClusterer
from shoal.methods.persistence import load
from shoal.report import Contents, column_in_run, make_report, place, write_places
from shoal.run_folder import RunFolder


def report_fit(folder: RunFolder, model: TextClusterer) -> Path:
    """Write the map and the report of a run just made by ``model``; return the path of the report."""
    places = np.full((len(model.labels_), 2), np.nan)
    places[model.labels_ != NO_CLUSTER] = place(model.embedding_)
    write_places(folder, places)
    return make_report(Contents.read(folder)).save(folder.report)


def place_texts(folder: RunFolder) -> None:
    """Write the map of a run, unless it has one.

    Raises
    ------
    DataError
        If the run was fitted on vectors: its model cannot encode texts.
    """
    if folder.map.is_file():
        return
    column = column_in_run(folder.read_info()["data"]["text_column"])
    texts = strings_of(pl.read_parquet(folder.assignments, columns=[column])[column]).fill_null("")
    places = place(load(folder.path).transform(texts.to_list()))
    places[(texts.str.strip_chars() == "").to_numpy()] = np.nan
    write_places(folder, places)
