"""A request to fit: what it reads, the model it asks for, and what that will take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from shoal.corpus import Corpus, require_column, strings_of
from shoal.corpus.addresses import scheme_of, shown, without_secrets
from shoal.errors import ParameterError
from shoal.methods import DEFAULT, build_method
from shoal.methods.base import TextClusterer
from shoal.methods.inputs import read_vectors, rows_of
from shoal.methods.planning import Plan, parse_memory, plan_fit
from shoal.report import dates_of


@dataclass(frozen=True)
class FitJob:
    """A request to fit: everything needed to repeat it.

    Attributes
    ----------
    source : str
        A file, a folder, a pattern, an address, or ``-`` for standard input.
    text, id, label : str, optional
        The columns with the texts (several with commas), ids, and known classes, which are used only for scores.
    encoding, format, sheet, query : str, optional
        How to read the source.
    vectors : str, optional
        A .npy file with one vector per text, used instead of an encoder.
    pairs : str, optional
        Two columns with augmented views of each text, e.g. ``left,right``.
    stages : bool
        Whether to keep the vectors and clusters before each stage of the training.
    safe_csv : bool
        Whether the csv is written so that no spreadsheet takes a text for a formula.
    date : str, optional
        The column with dates, for the report.
    group_by : list of str
        Columns with groups, which the report compares.
    report : bool
        Whether to write the report.
    stop_words : list of str
        Words that are never used in names and keywords.
    names_by, llm_url, llm_model : str, optional
        The language model that names the clusters, if any.
    method, preset : str, optional
        The method, by default Shoal's own, and its named set of parameters.
    level : str, optional
        ``coarse``, ``medium`` or ``fine``: the run is written with fewer or more clusters.
    memory : str, optional
        The most memory to use, e.g. ``4GB``.
    params : dict
        Parameters of the method.
    """

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

    @property
    def method_name(self) -> str:
        """The method, the default one included."""
        return self.method or DEFAULT

    def located(self, folder: Path) -> FitJob:
        """Return the job with its files named from ``folder``, where it was started."""
        vectors = None if self.vectors is None else str(folder / self.vectors)
        source = self.source if scheme_of(self.source) else str(folder / self.source)
        return replace(self, source=source, vectors=vectors)

    def as_record(self) -> dict[str, Any]:
        """Return the job as it may be written to disk: without passwords, whose place is not there."""
        query = None if self.query is None else without_secrets(self.query)
        return asdict(replace(self, source=shown(self.source), query=query))

    def build(self) -> TextClusterer:
        """Return the model to fit."""
        return build_method(self.method_name, self.preset, self.params)

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

    def check_columns(self, corpus: Corpus) -> None:
        """Reject columns for the report that are not there, before hours of training."""
        for name in self.group_by:
            require_column(corpus.frame, name)
        if self.date is not None:
            dates_of(corpus.frame[require_column(corpus.frame, self.date)])

    def extra_input(self, model: TextClusterer, corpus: Corpus) -> dict[str, Any]:
        """Return the input of ``fit`` besides the texts: vectors, or two augmented views of each text."""
        extra: dict[str, Any] = {"stop_words": self.stop_words}
        if self.vectors is not None:
            extra["vectors"] = read_vectors(Path(self.vectors))
        if self.pairs is not None:
            if not model.takes_pairs:
                raise ParameterError(f"--pairs was given but {type(model).__name__} does not train on pairs; omit it.")
            names = [name.strip() for name in self.pairs.split(",")]
            if len(names) != 2:
                raise ParameterError(f"--pairs {self.pairs!r} must name two columns, e.g. --pairs left,right.")
            columns = [strings_of(corpus.frame[require_column(corpus.frame, name)]).fill_null("") for name in names]
            extra["pairs"] = tuple(column.to_list() for column in columns)
        return extra

    def plan(self, model: TextClusterer, corpus: Corpus, extra: Mapping[str, Any], *, timed: bool = False) -> Plan:
        """Plan the fit of what was read, within the memory that the job allows; ``timed`` measures its stages."""
        memory = None if self.memory is None else parse_memory(self.memory)
        return plan_fit(model, rows_of(corpus, extra.get("vectors")), memory=memory, timed=timed)


def plan_job(job: FitJob) -> Plan:
    """Say what a fit will take; the texts are read, and nothing is written.

    Parameters
    ----------
    job : FitJob
        The request.

    Returns
    -------
    Plan
        Time, memory and disk, and what would be sampled.
    """
    model = job.build()
    corpus = job.read()
    job.check_columns(corpus)
    return job.plan(model, corpus, job.extra_input(model, corpus), timed=True)
