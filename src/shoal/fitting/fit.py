"""One fit, from the request to the finished run folder; new and resumed fits follow the same path."""

from __future__ import annotations

import functools
import json
import os
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from shoal.cache import write_atomically
from shoal.confined import read_json
from shoal.corpus import Corpus
from shoal.corpus.addresses import short_name, shown
from shoal.errors import DataError, ParameterError, RunFolderError
from shoal.fit_result import FitResult, read_result
from shoal.fitting.finished_run import known_classes, result_of, write_run
from shoal.fitting.job import FitJob
from shoal.methods.base import TextClusterer
from shoal.methods.planning import parse_memory
from shoal.methods.reporting import report_fit
from shoal.n_clusters import LEVELS
from shoal.naming.llm import endpoint_of, name_by_llm
from shoal.progress import announce
from shoal.run_folder import RunFolder, claim_path, partial_path, tidy, writing
from shoal.training import StageSnapshots

_STEM_CHARACTERS = 60  # of a file's name that the name of its run repeats


def start_fit(
    job: FitJob,
    out: Path | None,
    *,
    overwrite: bool = False,
    read: Callable[[], Corpus] | None = None,
    stem: str | None = None,
) -> FitResult:
    """Fit a new run.

    Parameters
    ----------
    job : FitJob
        The request.
    out : Path, optional
        Where the run will be; by default ``runs/FILE-METHOD-N``.
    overwrite : bool, default=False
        Replace an existing run, once the new one is complete.
    read : callable, optional
        Replaces the job's own reader.
    stem : str, optional
        Replaces ``FILE-METHOD`` in the automatic name of the run.

    Returns
    -------
    FitResult
    """
    endpoint_of(job.names_by, job.llm_url, job.llm_model)
    if job.memory is not None:
        parse_memory(job.memory)
    if job.level is not None and job.level not in LEVELS:
        raise ParameterError(f"--level {job.level} is unknown; pass one of {', '.join(LEVELS)}.")
    model = job.build()  # first: a bad parameter leaves no trace
    path = out or claim_path(Path("runs") / (stem or _automatic_stem(job)))
    request = {"job": job.as_record(), "overwrite": overwrite, "folder": str(Path.cwd())}
    with writing(path, overwrite=overwrite) as folder:
        result, model = _fit(model, job, read or job.read, folder, path, request, resumed=False)
    return _with_report(result, job, model)


def _automatic_stem(job: FitJob) -> str:
    """Return FILE-METHOD without what a file system, a shell or a terminal might not like."""
    stem = re.sub(r"[^\w-]+", "-", short_name(job.source)).strip("-")[:_STEM_CHARACTERS]
    return f"{stem or 'texts'}-{job.method_name}"


def resume_fit(path: Path) -> FitResult:
    """Continue an interrupted fit; a finished one is only reported.

    Parameters
    ----------
    path : Path
        The run, with or without ``.partial``.

    Returns
    -------
    FitResult

    Raises
    ------
    RunFolderError
        If there is nothing to resume.
    DataError
        If the texts have changed since the fit was started.
    """
    if path.name.endswith(".partial"):
        path = path.with_name(path.name.removesuffix(".partial"))
    partial = RunFolder(partial_path(path))
    if not partial.path.is_dir():
        if not path.is_dir():
            raise RunFolderError(f"there is no interrupted run at {partial.path}; check the name, or start again.")
        tidy(path)
        result = read_result(path)
        result.notes["already_finished"] = True
        return result
    if partial.info.is_file() and not partial.request.exists():  # complete, but for its name
        with writing(path, resume=True):
            RunFolder.open(partial.path)
        return read_result(path)
    request = _read_request(partial)
    job = FitJob(**request["job"])
    model = job.build()
    with writing(path, overwrite=request.get("overwrite", False), resume=True) as folder:
        unfinished = not folder.is_complete()
        if unfinished:
            read = functools.partial(_read_again, job, request, folder)
            result, model = _fit(model, job, read, folder, path, request, resumed=True)
    return _with_report(result, job, model) if unfinished else read_result(path)


def _with_report(result: FitResult, job: FitJob, model: TextClusterer) -> FitResult:
    """Add the report to a run that is complete without it: whatever happens here, nothing is lost."""
    if not job.report:
        return result
    try:
        return replace(result, report=report_fit(RunFolder(result.run), model))
    except Exception as reason:
        if os.environ.get("SHOAL_DEBUG"):
            raise
        result.notes["no_report"] = f"{type(reason).__name__}: {reason}"
        return result


def _read_request(partial: RunFolder) -> dict[str, Any]:
    """Read what was asked for."""
    if not partial.request.exists():
        raise RunFolderError(
            f"{partial.path} holds nothing to resume: the fit was stopped before its input was read; start it again."
        )
    try:
        request: dict[str, Any] = read_json(partial.request)
        job = FitJob(**request["job"])
        plain = isinstance(job.source, str) and isinstance(job.params, dict) and isinstance(request["notes"], dict)
        if not plain or "data_hash" not in request:
            raise TypeError("it is not a request")
    except (OSError, ValueError, LookupError, TypeError, RunFolderError) as reason:
        raise RunFolderError(f"{partial.request} cannot be read ({reason}); start again with --overwrite.") from reason
    return request


def _read_again(job: FitJob, request: dict[str, Any], folder: RunFolder) -> Corpus:
    """Read the input of an interrupted fit; refuse one that has changed."""
    if folder.input.is_file():
        corpus = Corpus.of(pl.read_parquet(folder.input), text=job.text, id=job.id, label=job.label)
    else:
        corpus = job.located(Path(request.get("folder", ""))).read()
    if request["data_hash"] is None:
        return corpus
    if corpus.content_hash() != request["data_hash"]:
        raise DataError(f"{shown(job.source)} has changed since the run was started; start again with --overwrite.")
    return replace(corpus, notes=request["notes"])


def _fit(
    model: TextClusterer,
    job: FitJob,
    read: Callable[[], Corpus],
    folder: RunFolder,
    path: Path,
    request: dict[str, Any],
    *,
    resumed: bool,
) -> tuple[FitResult, TextClusterer]:
    """Read, fit and write a run that will be at ``path``; what a resumed fit needs is on disk before the fit begins.

    The model is returned too, at the level that was asked for.
    """
    started = time.perf_counter()
    if not resumed and Path(job.source).is_file():
        _write_request(folder, {**request, "data_hash": None, "notes": {}})
    corpus = read()
    known = known_classes(corpus)
    job.check_columns(corpus)
    if not resumed and not Path(job.source).is_file():
        corpus.frame.write_parquet(folder.input)
    _write_request(folder, {**request, "data_hash": corpus.content_hash(), "notes": dict(corpus.notes)})
    listeners = [StageSnapshots(folder.stages)] if job.stages else []
    extra = job.located(Path(request.get("folder", ""))).extra_input(model, corpus)
    plan = job.plan(model, corpus, extra)
    if job.memory is not None:
        model.set_params(partition_rows=plan.partition_rows)
    if plan.is_sampled:
        announce(" ".join(plan.sentences()))
    model.fit(corpus, **extra, checkpoints=folder.checkpoints, callbacks=listeners)
    has_level = job.level in (None, *model.n_clusters_choice_.levels)
    if job.level is not None and has_level:
        model = model.cut(job.level, stop_words=job.stop_words)
    naming = _named_by_llm(job, model)
    result = replace(result_of(path, job.method_name, model, corpus, known, started), naming=naming)
    if job.stages and not folder.stages.is_dir():
        result.notes["no_stages"] = True
    if not has_level:
        result.notes["no_level"] = job.level
    if job.memory is not None:
        result.notes["memory_limit_mb"] = round(parse_memory(job.memory) / 1024**2)
    write_run(folder, job, model, corpus, result)
    return result, model


def _write_request(folder: RunFolder, request: dict[str, Any]) -> None:
    """Write what was asked for, and a hash of the texts."""
    write_atomically(folder.request, json.dumps(request, indent=2).encode())


def _named_by_llm(job: FitJob, model: TextClusterer) -> dict[str, Any] | None:
    """Let a language model rename the clusters, if one was asked for; return what the run keeps of that."""
    endpoint = endpoint_of(job.names_by, job.llm_url, job.llm_model)
    if endpoint is None:
        return None
    found = name_by_llm(model.clusters_, endpoint)
    built_in = [cluster.name for cluster in model.clusters_]
    model.clusters_ = found.clusters
    facts = {"by": "llm", "url": endpoint.url, "model": endpoint.model, "n_named": found.n_named}
    return {**facts, "problem": found.problem, "built_in_names": built_in}
