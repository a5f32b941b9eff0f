"""A finished run at another number of clusters: a new run, without training."""

from __future__ import annotations

import time
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import polars as pl

from shoal.clustering import NO_CLUSTER
from shoal.corpus import RESERVED, Corpus
from shoal.errors import ParameterError
from shoal.fit_result import FitResult
from shoal.fitting import FitJob, known_classes, result_of, write_run
from shoal.methods.persistence import load
from shoal.methods.reporting import report_fit
from shoal.report import column_in_run
from shoal.run_folder import RunFolder, claim_path, writing


def cut_run(run: Path, level: int | str, out: Path | None = None, *, overwrite: bool = False) -> FitResult:
    """Write a run at another number of clusters, along the tree that the fit has built.

    Parameters
    ----------
    run : Path
        The run folder.
    level : int or str
        The number of clusters, or ``coarse``, ``medium`` or ``fine``.
    out : Path, optional
        Where the new run will be; by default next to the old one.
    overwrite : bool, default=False
        Replace an existing run.

    Returns
    -------
    FitResult
    """
    started = time.perf_counter()
    folder = RunFolder.open(run)
    info = folder.read_info()
    job = _job_of(info)
    model = load(run).cut(level)
    if model.fitted_on_vectors_:
        raise ParameterError(f"{run} was fitted on vectors, which it does not keep; use `model.cut` from Python.")
    table = pl.read_parquet(folder.assignments)
    corpus = _input_of(table, info["data"])
    found = model.predict_clustering(corpus)
    present = found.labels != NO_CLUSTER
    texts = [text for text in corpus.texts if text]
    model.labels_, model.probabilities_ = found.labels, found.probabilities
    model.start_labels_ = found.labels
    model.undone_labels_ = None
    model.embedding_, model.texts_, model.places_ = model.transform(corpus)[present], texts, None
    model.clusters_ = model.describe_clusters(
        texts, found.labels[present], found.probabilities[present], [()] * model.n_clusters_, job.stop_words
    )
    path = out or claim_path(run.with_name(f"{run.name}-cut-{model.n_clusters_}"))
    with writing(path, overwrite=overwrite) as target:
        result = result_of(path, info["method"], model, corpus, known_classes(corpus), started)
        write_run(target, job, model, corpus, result)
    return replace(result, report=report_fit(RunFolder(path), model) if job.report else None)


def _input_of(table: pl.DataFrame, data: dict[str, Any]) -> Corpus:
    """Return the input of a run: its table without the columns that the fit has added."""
    names = [data.get(kind) for kind in ("text_column", "id_column", "label_column")]
    text, id_, label = (None if name is None else column_in_run(name) for name in names)
    return Corpus.of(table.drop([name for name in RESERVED if name in table.columns]), text=text, id=id_, label=label)


def _job_of(info: dict[str, Any]) -> FitJob:
    """Return the request of a run; one of before has no more than its source."""
    known = {each.name for each in fields(FitJob)}
    request = {name: value for name, value in info.get("request", {}).items() if name in known}
    return FitJob(**{"source": info["data"]["source"], **request})
