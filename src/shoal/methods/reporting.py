"""The map and the report of a run: its model says where the texts are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.utils.validation import check_is_fitted

from shoal._version import __version__
from shoal.clustering import NO_CLUSTER
from shoal.corpus import texts_of
from shoal.errors import RunFolderError
from shoal.methods.base import TextClusterer
from shoal.methods.persistence import load
from shoal.report import Contents, column_in_run, make_report, place, write_places
from shoal.report.places import Places
from shoal.run_folder import RunFolder


def report_fit(folder: RunFolder, model: TextClusterer) -> Path:
    """Write the map and the report of a run just made by ``model``; return the path of the report."""
    write_places(folder, _places_of(model))
    return make_report(Contents.read(folder)).save(folder.report)


def contents_of(model: TextClusterer) -> Contents:
    """Return what a report shows of a model in memory.

    Raises
    ------
    RunFolderError
        If the model was loaded: the fitted texts are in its run.
    """
    if not hasattr(model, "embedding_"):
        check_is_fitted(model, "clusters_")
        raise RunFolderError(
            "this model was loaded, and the texts it was fitted on are in its run; use `shoal report RUN` or "
            "`shoal map RUN`."
        )
    texts = [""] * len(model.labels_)
    for i, row in enumerate(np.flatnonzero(model.labels_ != NO_CLUSTER)):
        texts[row] = f"row {row}" if model.texts_ is None else model.texts_[i]
    info = {
        "shoal_version": __version__,
        "method": type(model).__name__,
        "n_texts": len(texts),
        "parameters": {name: repr(value) for name, value in model.get_params(deep=False).items()},
        "outcome": model.outcome_,
        "python": f"{model!r}.fit(texts)",
    }
    return Contents.of(model.clustering_, texts, _places_of(model), info, history=model.history_)


def _places_of(model: TextClusterer) -> Places:
    """Return the places of all rows; found once per fit."""
    if model.places_ is None:
        model.places_ = place(model.embedding_)
    places = np.full((len(model.labels_), 2), np.nan)
    places[model.labels_ != NO_CLUSTER] = model.places_
    return places


def place_texts(folder: RunFolder, **options: Any) -> None:
    """Write the map of a run, unless it has one and no ``options`` of :func:`shoal.report.place` are given.

    Raises
    ------
    DataError
        If the run was fitted on vectors: its model cannot encode texts.
    """
    if folder.map.is_file() and not options:
        return
    column = column_in_run(folder.read_info()["data"]["text_column"])
    texts = texts_of(pl.read_parquet(folder.assignments), column).fill_null("")
    places = place(load(folder.path).transform(texts.to_list()), **options)
    places[(texts.str.strip_chars() == "").to_numpy()] = np.nan
    write_places(folder, places)
