"""The result of a fit, and the run that is written of it."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal._version import __version__
from shoal.corpus import Corpus, without_formulas
from shoal.corpus.addresses import shown
from shoal.engine import current_engine
from shoal.environment import peak_memory_mb, run_environment
from shoal.errors import DataError
from shoal.fit_result import FitResult
from shoal.fitting.job import FitJob
from shoal.methods.base import TextClusterer
from shoal.methods.granularity import tree_of
from shoal.metrics import scores
from shoal.n_clusters import NClusters
from shoal.naming import boilerplate_clusters
from shoal.run_folder import LEFTOVERS, RunFolder


class Labelled(NamedTuple):
    """The rows whose class is known, and their classes."""

    rows: NDArray[np.int64]
    classes: list[str]


def known_classes(corpus: Corpus) -> Labelled | None:
    """Return the labelled rows and their classes; None without a label column."""
    labels = corpus.labels
    if labels is None:
        return None
    rows = np.array([i for i, label in enumerate(labels) if label], dtype=np.int64)
    if not len(rows):
        raise DataError(f"the label column {corpus.label_column!r} is empty; omit --label.")
    return Labelled(rows, [labels[i] for i in rows])


def result_of(
    path: Path, name: str, model: TextClusterer, corpus: Corpus, known: Labelled | None, started: float
) -> FitResult:
    """Collect the result of a fitted model.

    Parameters
    ----------
    path : Path
        Where the run will be.
    name : str
        The method.
    model : TextClusterer
        The model, fitted on the corpus.
    corpus : Corpus
        The texts.
    known : Labelled, optional
        The rows whose class is known, for scores.
    started : float
        When the fit began, by ``time.perf_counter``.

    Returns
    -------
    FitResult
    """
    empty = int(corpus.empty.sum())
    found, start, undone = (
        None if known is None or labels is None else scores(known.classes, labels[known.rows])
        for labels in (model.labels_, model.start_labels_, model.undone_labels_)
    )
    return FitResult(
        run=path,
        method=name,
        n_texts=len(corpus),
        clusters=model.clusters_,
        seconds=time.perf_counter() - started,
        peak_memory_mb=peak_memory_mb(),
        dropped={"empty": empty} if empty else {},
        truncated=model.truncated_,
        notes={
            **corpus.notes,
            "text_column": corpus.text_column,
            "reading": model.reading_.as_dict(),
            **({"read_as": model.reading_.sentence} if model.reading_.sentence else {}),
            "long_texts": getattr(getattr(model, "representation_", None), "long_texts", None),
            **({"cut_from": model.uncut_.n_clusters_} if model.uncut_ else {}),
        },
        scores=found,
        start_scores=start,
        undone_scores=undone,
        outcome=model.outcome_,
        levels=model.n_clusters_choice_.levels,
        found=_how_found(model.n_clusters_choice_, len(corpus)) if model.uncut_ is None else None,
        boilerplate=boilerplate_clusters(corpus.texts, model.labels_),
    )


def _how_found(choice: NClusters, n_texts: int) -> str | None:
    """Say why the number of clusters was chosen, and on how many texts; None if it was given."""
    if choice.is_given:
        return None
    sampled = choice.curve and choice.n_sampled < n_texts
    return choice.reason + (f"; measured on {choice.n_sampled} of {n_texts} texts" if sampled else "")


def write_run(folder: RunFolder, job: FitJob, model: TextClusterer, corpus: Corpus, result: FitResult) -> None:
    """Write the files of a finished run, and seal it.

    Parameters
    ----------
    folder : RunFolder
        The unfinished folder.
    job : FitJob
        The request.
    model : TextClusterer
        The model, fitted on the corpus.
    corpus : Corpus
        The texts, with every column of the input.
    result : FitResult
        The result, as :func:`result_of` returns it.
    """
    folder.clear(keep=(*LEFTOVERS, folder.stages.name))  # what a killed fit had begun to write
    model.save(folder.model)
    table = pl.concat([corpus.input_columns(), model.clustering_.frame()], how="horizontal")
    table.write_parquet(folder.assignments)
    (without_formulas(table) if job.safe_csv else table).write_csv(folder.assignments.with_suffix(".csv"))
    clusters = [cluster.as_json() for cluster in model.clusters_]
    folder.clusters.write_text(json.dumps(clusters, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    has_themes = "coarse" in model.n_clusters_choice_.levels
    if model.hierarchy_ is not None and model.level_ is None and has_themes:
        tree = tree_of(model.hierarchy_, model.clusters_, model.n_clusters_choice_.levels)
        folder.hierarchy.write_text(json.dumps(tree, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    folder.history.write_text("".join(json.dumps(row) + "\n" for row in model.history_), encoding="utf-8")
    engine = current_engine()
    parameters = json.loads((folder.model / "config.json").read_text(encoding="utf-8"))["params"]
    folder.seal(
        {
            "shoal_version": __version__,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            **result.as_json(),
            "request": job.as_record(),
            "parameters": parameters,
            "seed": parameters.get("random_state"),
            "data": {
                "source": shown(job.source),
                "sha256": corpus.content_hash(),
                "text_column": corpus.text_column,
                "id_column": corpus.id_column,
                "label_column": corpus.label_column,
                "date_column": job.date,
                "group_columns": job.group_by,
                **result.notes,
            },
            "environment": {**run_environment(), "engine": engine.name, "workers": engine.n_workers},
            "stages": [row for row in model.history_ if row.get("event") != "step"],
            "outcome": result.outcome,
            "n_clusters_evidence": _evidence(model),
            **({"naming": result.naming} if result.naming else {}),
        }
    )


def _evidence(model: TextClusterer) -> dict[str, Any]:
    """Return how the number of clusters was found, a record per number."""
    choice = model.n_clusters_choice_.as_dict()
    by_number = {round(point.pop("n_clusters")): point for point in choice.pop("curve")}
    return {**choice, "candidates": [{"n_clusters": number, **point} for number, point in by_number.items()]}
