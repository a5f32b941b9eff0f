"""One fit, from the request to the finished run folder; new and resumed fits follow the same path."""

from __future__ import annotations

import functools
import json
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal._version import __version__
from shoal.cache import write_atomically
from shoal.confined import read_json
from shoal.corpus import Corpus, require_column, strings_of, without_formulas
from shoal.corpus.addresses import scheme_of, short_name, shown, without_secrets
from shoal.engine import current_engine
from shoal.environment import peak_memory_mb, run_environment
from shoal.errors import DataError, ParameterError, RunFolderError
from shoal.fit_result import FitResult, read_result
from shoal.methods import DEFAULT, build_method
from shoal.methods.base import TextClusterer
from shoal.methods.granularity import tree_of
from shoal.methods.inputs import read_vectors, rows_of
from shoal.methods.planning import Plan, parse_memory, plan_fit
from shoal.methods.reporting import report_fit
from shoal.metrics import scores
from shoal.n_clusters import LEVELS, NClusters
from shoal.naming import boilerplate_clusters
from shoal.naming.llm import endpoint_of, name_by_llm
from shoal.progress import announce
from shoal.report import dates_of
from shoal.run_folder import LEFTOVERS, RunFolder, claim_path, partial_path, tidy, writing
from shoal.training import StageSnapshots

_STEM_CHARACTERS = 60  # of a file's name that the name of its run repeats


@dataclass(frozen=True)
class FitJob:
    """A request to fit: everything needed to repeat it."""

    source: str
    text: str | None = None
    id: str | None = None
    label: str | None = None
    encoding: str | None = None
    format: str | None = None
    sheet: str | None = None
    query: str | None = None
    vectors: str | None = None
    pairs: str | None = None
    stages: bool = False
    safe_csv: bool = False
    date: str | None = None
    group_by: list[str] = field(default_factory=list)
    report: bool = True
    stop_words: list[str] = field(default_factory=list)
    names_by: str | None = None
    llm_url: str | None = None
    llm_model: str | None = None
    method: str | None = None
    preset: str | None = None
    level: str | None = None
    memory: str | None = None
    params: dict[str, Any] = field(default_factory=dict)

    def located(self, folder: Path) -> FitJob:
        """Return the job with its files named from ``folder``, where it was started."""
        vectors = None if self.vectors is None else str(folder / self.vectors)
        source = self.source if scheme_of(self.source) else str(folder / self.source)
        return replace(self, source=source, vectors=vectors)

    def as_record(self) -> dict[str, Any]:
        """Return the job as it may be written to disk: without passwords, whose place is not there."""
        query = None if self.query is None else without_secrets(self.query)
        return asdict(replace(self, source=shown(self.source), query=query))

    def read(self) -> Corpus:
        """Read the texts."""
        return Corpus.read(
            self.source,
            text=self.text,
            id=self.id,
            label=self.label,
            encoding=self.encoding,
            format=self.format,
            sheet=self.sheet,
            query=self.query,
        ).require_texts()


class Labelled(NamedTuple):
    """The rows whose class is known, and their classes."""

    rows: NDArray[np.int64]
    classes: list[str]


def start_fit(
    job: FitJob,
    out: Path | None,
    *,
    overwrite: bool = False,
    read: Callable[[], Corpus] | None = None,
    stem: str | None = None,
) -> FitResult:
    """Start a new fit; ``read`` and ``stem`` replace the job's own reader and the automatic name of the run."""
    endpoint_of(job.names_by, job.llm_url, job.llm_model)
    if job.memory is not None:
        parse_memory(job.memory)
    if job.level is not None and job.level not in LEVELS:
        raise ParameterError(f"--level {job.level} is unknown; pass one of {', '.join(LEVELS)}.")
    model = build_method(job.method or DEFAULT, job.preset, job.params)  # first: a bad parameter leaves no trace
    path = out or claim_path(Path("runs") / (stem or _automatic_stem(job)))
    request = {"job": job.as_record(), "overwrite": overwrite, "folder": str(Path.cwd())}
    with writing(path, overwrite=overwrite) as folder:
        result, model = _fit(model, job, read or job.read, folder, path, request, resumed=False)
    return _with_report(result, job, model)


def plan_job(job: FitJob) -> Plan:
    """Say what a fit will take; nothing is written."""
    model = build_method(job.method or DEFAULT, job.preset, job.params)
    corpus = job.read()
    _check_columns(job, corpus)
    return _plan(job, model, corpus, _extra_input(job, model, corpus), timed=True)


def _plan(job: FitJob, model: TextClusterer, corpus: Corpus, extra: Mapping[str, Any], *, timed: bool = False) -> Plan:
    """Plan a fit within the memory that it was given."""
    memory = None if job.memory is None else parse_memory(job.memory)
    return plan_fit(model, rows_of(corpus, extra.get("vectors")), memory=memory, timed=timed)


def _automatic_stem(job: FitJob) -> str:
    """Return FILE-METHOD without what a file system, a shell or a terminal might not like."""
    stem = re.sub(r"[^\w-]+", "-", short_name(job.source)).strip("-")[:_STEM_CHARACTERS]
    return f"{stem or 'texts'}-{job.method or DEFAULT}"


def resume_fit(path: Path) -> FitResult:
    """Continue an interrupted fit; a finished one is only reported."""
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
    model = build_method(job.method or DEFAULT, job.preset, job.params)
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
    _check_columns(job, corpus)
    if not resumed and not Path(job.source).is_file():
        corpus.frame.write_parquet(folder.input)
    _write_request(folder, {**request, "data_hash": corpus.content_hash(), "notes": dict(corpus.notes)})
    listeners = [StageSnapshots(folder.stages)] if job.stages else []
    extra = _extra_input(job.located(Path(request.get("folder", ""))), model, corpus)
    plan = _plan(job, model, corpus, extra)
    if job.memory is not None:
        model.set_params(partition_rows=plan.partition_rows)
    if plan.is_sampled:
        announce(" ".join(plan.sentences()))
    model.fit(corpus, **extra, checkpoints=folder.checkpoints, callbacks=listeners)
    has_level = job.level in (None, *model.n_clusters_choice_.levels)
    if job.level is not None and has_level:
        model = model.cut(job.level, stop_words=job.stop_words)
    naming = _named_by_llm(job, model)
    result = replace(result_of(path, job.method or DEFAULT, model, corpus, known, started), naming=naming)
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


def _extra_input(job: FitJob, model: TextClusterer, corpus: Corpus) -> dict[str, Any]:
    """Return the input of ``fit`` besides the texts: vectors, or two augmented views of each text."""
    extra: dict[str, Any] = {"stop_words": job.stop_words}
    if job.vectors is not None:
        extra["vectors"] = read_vectors(Path(job.vectors))
    if job.pairs is not None:
        if not model.takes_pairs:
            raise ParameterError(f"--pairs was given but {type(model).__name__} does not train on pairs; omit it.")
        names = [name.strip() for name in job.pairs.split(",")]
        if len(names) != 2:
            raise ParameterError(f"--pairs {job.pairs!r} must name two columns, e.g. --pairs left,right.")
        columns = [strings_of(corpus.frame[require_column(corpus.frame, name)]).fill_null("") for name in names]
        extra["pairs"] = tuple(column.to_list() for column in columns)
    return extra


def result_of(
    path: Path, name: str, model: TextClusterer, corpus: Corpus, known: Labelled | None, started: float
) -> FitResult:
    """Collect the result."""
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


def _check_columns(job: FitJob, corpus: Corpus) -> None:
    """Reject columns for the report that are not there, before hours of training."""
    for name in job.group_by:
        require_column(corpus.frame, name)
    if job.date is not None:
        dates_of(corpus.frame[require_column(corpus.frame, job.date)])


def _evidence(model: TextClusterer) -> dict[str, Any]:
    """Return how the number of clusters was found, a record per number."""
    choice = model.n_clusters_choice_.as_dict()
    by_number = {round(point.pop("n_clusters")): point for point in choice.pop("curve")}
    return {**choice, "candidates": [{"n_clusters": number, **point} for number, point in by_number.items()]}


def known_classes(corpus: Corpus) -> Labelled | None:
    """Return the labelled rows and their classes; None without a label column."""
    labels = corpus.labels
    if labels is None:
        return None
    rows = np.array([i for i, label in enumerate(labels) if label], dtype=np.int64)
    if not len(rows):
        raise DataError(f"the label column {corpus.label_column!r} is empty; omit --label.")
    return Labelled(rows, [labels[i] for i in rows])


def write_run(folder: RunFolder, job: FitJob, model: TextClusterer, corpus: Corpus, result: FitResult) -> None:
    """Write the files of a finished run."""
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
