"""What the results say of a suite: every row on every data set, over its seeds."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from shoal.encoder.packaged import PACKAGED
from shoal_bench.cell import Cell, changed_defaults
from shoal_bench.data_sets import find_data_set
from shoal_bench.results import OK, Record, extras_of
from shoal_bench.suite import QUICK, Row, Suite
from shoal_bench.tiers import TIERS, Tier

DEFAULT_TIER = "standard"
BUILT_IN = "builtin"
# Representations that need nothing but the text, whose vectors are cached; the others learn from the corpus.
FROZEN = ("transformer", *PACKAGED)
# What the time of encoding depends on: backbone, data set, number of texts.
Encoding: TypeAlias = tuple[str, str, int]


@dataclass(frozen=True)
class Measured:
    """What is known of a row on one data set.

    Attributes
    ----------
    records : tuple of dict
        The runs that went well.
    troubles : tuple of dict
        Those that failed, or were unavailable.
    other_size : int or None
        On how many texts they ran, where it is not the tier's number.
    samples : mapping of int to Measured
        Results on other numbers of texts than the tier's, of those that other rows have instead of it.
    """

    records: tuple[Record, ...] = ()
    troubles: tuple[Record, ...] = ()
    other_size: int | None = None
    samples: Mapping[int, Measured] = field(default_factory=dict)

    def having(self, name: str) -> list[Record]:
        """Return the records that know something."""
        return [record for record in self.records if record.get(name)]

    def mean(self, metric: str, which: str = "scores") -> float | None:
        """Return the mean score over the seeds."""
        return mean(record[which].get(metric) for record in self.having(which))

    def spread(self, metric: str) -> float | None:
        """Return the sample standard deviation over the seeds, of two runs or more."""
        scores = [record["scores"][metric] for record in self.records if metric in record["scores"]]
        return statistics.stdev(scores) if len(scores) > 1 else None

    def average(self, name: str) -> float | None:
        """Return the mean of a number that the records hold, over those that hold it."""
        return mean(record.get(name) for record in self.records)


@dataclass(frozen=True)
class SuiteSummary:
    """A suite with its results in one tier.

    Attributes
    ----------
    suite : Suite
        The table.
    tier : Tier
        The tier that is shown.
    measured : mapping of (row name, data set) to Measured
        Its cells; a row without method has none.
    encoding : mapping of (backbone, data set, number of texts) to float
        Seconds that encoding took wherever it was measured.
    """

    suite: Suite
    tier: Tier
    measured: Mapping[tuple[str, str], Measured]
    encoding: Mapping[Encoding, float]

    @property
    def data_sets(self) -> tuple[str, ...]:
        """The data sets of the tier, and others that were asked for by name."""
        shown = {*self.suite.data_sets_in(self.tier), *(name for _, name in self.measured)}
        return tuple(name for name in self.suite.data_sets if name in shown)

    @property
    def measured_sets(self) -> list[str]:
        """The data sets that have a result."""
        return [name for name in self.data_sets if any(self.of(row, name).records for row in self.suite.rows)]

    @property
    def rows(self) -> list[Row]:
        """The rows that have a result."""
        return [row for row in self.suite.rows if any(self.of(row, name).records for name in self.data_sets)]

    @property
    def complete_rows(self) -> list[Row]:
        """The rows that have a result on every data set."""
        return [row for row in self.rows if all(self.of(row, name).records for name in self.data_sets)]

    def of(self, row: Row, data_set: str) -> Measured:
        """Return what is known of a row on a data set."""
        return self.measured.get((row.name, data_set), Measured())

    def alike(self, row: Row, data_set: str) -> Measured:
        """Return what is known of a row on as many texts as most of those rows that lack the tier's number."""
        others = (self.of(other, data_set).other_size for other in self.rows)
        sizes = Counter(size for size in others if size is not None)
        cell = self.of(row, data_set)
        return next((cell.samples[size] for size, _ in sizes.most_common(1) if size in cell.samples), cell)

    def having(self, name: str) -> list[tuple[Row, str, list[Record]]]:
        """Return the rows and data sets whose records know something, with these records."""
        places = [(row, data_set) for row in self.rows for data_set in self.data_sets]
        found = [(row, data_set, self.of(row, data_set).having(name)) for row, data_set in places]
        return [(row, data_set, records) for row, data_set, records in found if records]

    def difference(self, row: Row, data_set: str, metric: str) -> float | None:
        """Return ours minus the published figure."""
        ours, published = self.of(row, data_set).mean(metric), published_of(row, data_set, metric)
        return None if ours is None or published is None else ours - published

    def beneath(self, row: Row, metric: str) -> tuple[dict[str, float], int]:
        """Return how far a row is beneath the published figures, the worst first, and how many were compared.

        What rounds to nothing is not beneath.
        """
        differences = {name: self.difference(row, name, metric) for name in self.data_sets}
        compared = {name: value for name, value in differences.items() if value is not None}
        ordered = sorted(compared.items(), key=lambda item: item[1])
        return {name: value for name, value in ordered if round(value, 1) < 0}, len(compared)

    def encode_seconds(self, row: Row, data_set: str) -> float | None:
        """Return what encoding took for a row whose fit begins with vectors, whoever's run made them."""
        records = self.of(row, data_set).records
        return self.encoding.get(_encoding_of(records[0])) if records and _needs_vectors(records[0]) else None

    def lacks_encoding(self, row: Row, data_set: str) -> bool:
        """Tell whether the vectors came from the cache and nobody has measured how long they take."""
        records = self.of(row, data_set).records
        return bool(records) and _needs_vectors(records[0]) and self.encode_seconds(row, data_set) is None

    def whole_seconds(self, row: Row, data_set: str) -> float | None:
        """Return the seconds from texts to clusters: encoding, where it was apart, and the fit."""
        fit = self.of(row, data_set).average("seconds")
        return None if fit is None else fit + (self.encode_seconds(row, data_set) or 0.0)


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of what is there, or None of nothing."""
    there = [value for value in values if value is not None]
    return statistics.fmean(there) if there else None


def published_of(row: Row, data_set: str, metric: str) -> float | None:
    """Return the figure that the paper gives, if it gives one; a paper has one NMI, however it defines it."""
    given = row.published.get("nmi" if metric == "nmi_geometric" else metric, {})
    return given.get(data_set)


def backbone_of(record: Record) -> str:
    """Name what turned the texts into vectors.

    Examples
    --------
    >>> backbone_of({"cell": {"peer": None}, "settings": {"representation": "tfidf", "backbone": "builtin"}})
    'tfidf'
    """
    settings = record["settings"]
    if record["cell"]["peer"] is not None:  # peers are given the vectors of `kmeans`
        return BUILT_IN
    representation = settings.get("representation", "transformer")
    return str(settings.get("backbone", BUILT_IN) if representation == "transformer" else representation)


def _needs_vectors(record: Record) -> bool:
    """Tell whether an encoder worked before the clock of the fit started; methods that train encode within the fit."""
    old = record["cell"]["peer"] is not None or record["settings"].get("representation") in FROZEN
    return bool(record.get("starts_from_vectors", old))  # older records do not say


def _encoding_of(record: Record) -> Encoding:
    """Return what the time of encoding depends on."""
    return backbone_of(record), record["cell"]["data_set"], record["n_texts"]


def summarise(suite: Suite, known: Mapping[str, Record]) -> SuiteSummary:
    """Gather a suite's results in the tier that it names, or that has the most; of equals, that with the most texts.

    Where the tier's own number of texts was not run, the largest that was run (with ``--texts``, or in the tier
    ``quick``) takes its place, and stands beside the tier's own in the other rows.

    Parameters
    ----------
    suite : Suite
        The table.
    known : mapping of key to record
        From :meth:`shoal_bench.results.Results.by_key`.

    Returns
    -------
    SuiteSummary
        Of the tier ``standard`` if there are no results at all.
    """
    times: dict[Encoding, list[float]] = {}
    for record in known.values():
        if "cell" in record and record.get("encode_seconds") is not None:
            times.setdefault(_encoding_of(record), []).append(record["encode_seconds"])
    encoding = {key: statistics.fmean(seconds) for key, seconds in times.items()}
    summaries = {name: SuiteSummary(suite, tier, _cells(suite, tier, known), encoding) for name, tier in TIERS.items()}
    best = max(summaries.values(), key=_extent)
    if best.tier.name == QUICK and summaries[DEFAULT_TIER].rows:  # which shows the results of both
        best = summaries[DEFAULT_TIER]
    if suite.shown_tier is not None:
        return summaries[suite.shown_tier]
    return _with_other_sizes(best if best.rows else summaries[DEFAULT_TIER], known)


def _extent(summary: SuiteSummary) -> tuple[int, float, float]:
    """Return the number of results, for a tie the texts clustered, and then the share of the tier that is done."""
    cells = summary.measured.values()
    texts = [record["n_texts"] for cell in cells for record in cell.records]
    wanted = len(cells) * len(summary.tier.seeds)
    return sum(bool(cell.records) for cell in cells), sum(texts), len(texts) / max(wanted, 1)


def _cells(suite: Suite, tier: Tier, known: Mapping[str, Record]) -> dict[tuple[str, str], Measured]:
    """Look up the cells of one tier: those it measures unasked, and any other that has a result."""
    found: dict[tuple[str, str], list[Record]] = {}
    for row, cell in suite.cells(tier):
        place = row.name, cell.data_set
        record = known.get(cell.key(find_data_set(cell.data_set).sha256))
        if record is not None and _counts(record, cell):
            found.setdefault(place, []).append(record)
        elif row.runs_in(tier) and cell.data_set in suite.data_sets_in(tier):
            found.setdefault(place, [])
    return {place: _measured(records) for place, records in found.items()}


def _with_other_sizes(summary: SuiteSummary, known: Mapping[str, Record]) -> SuiteSummary:
    """Add the results on other numbers of texts, where the tier's own are missing or are to be compared with such."""
    by_size = _by_size(summary, known)
    measured = dict(summary.measured)
    missing = [place for place in by_size if not measured.get(place, Measured()).records]
    for place in missing:
        size = max(by_size[place])
        measured[place] = replace(by_size[place][size], other_size=size if by_size[place][size].records else None)
    shown = {cell.other_size for cell in measured.values()} - {None}
    for place in by_size.keys() - missing:
        samples = {size: cell for size, cell in by_size[place].items() if size in shown and cell.records}
        measured[place] = replace(measured[place], samples=samples)
    return replace(summary, measured=measured)


def _by_size(summary: SuiteSummary, known: Mapping[str, Record]) -> dict[tuple[str, str], dict[int, Measured]]:
    """Look up the fits of a tier's places on other numbers of texts; troubles, on whichever, come under 0."""
    others: dict[str, list[Record]] = {}
    for record in known.values():
        if "cell" in record:
            key = replace(Cell.of(record["cell"]), n_texts=None).key(record["data_sha256"])
            others.setdefault(key, []).append(record)
    found: dict[tuple[str, str], dict[int, list[Record]]] = {}
    for row, cell in summary.suite.cells(summary.tier):
        for record in others.get(replace(cell, n_texts=None).key(find_data_set(cell.data_set).sha256), []):
            if _counts(record, cell) and record["cell"]["n_texts"] != cell.n_texts:
                size = record["n_texts"] if record["status"] == OK else 0
                found.setdefault((row.name, cell.data_set), {}).setdefault(size, []).append(record)
    return {place: {size: _measured(records) for size, records in sizes.items()} for place, sizes in found.items()}


def _counts(record: Record, cell: Cell) -> bool:
    """Tell whether a record has all that a cell asks for; a trouble counts whatever it lacks."""
    return bool(record["status"] != OK or set(cell.extras) <= extras_of(record))


def _measured(records: Sequence[Record]) -> Measured:
    """Tell results from troubles."""
    return Measured(
        _of_one_kind([record for record in records if record["status"] == OK]),
        tuple(record for record in records if record["status"] != OK),
    )


def _of_one_kind(records: Sequence[Record]) -> tuple[Record, ...]:
    """Return the records with today's defaults, or all if there are none: one mean must not mix the two."""
    today = tuple(record for record in records if not changed_defaults(record))
    return today or tuple(records)


def path_through(trace: Sequence[Mapping[str, Any]], name: str) -> list[tuple[int, float]]:
    """Return a number of a training's trace by the steps done, counted on through all stages.

    Examples
    --------
    >>> path_through([{"step": 0, "acc": 50.0}, {"step": 10, "acc": 60.0}, {"step": 5, "acc": 61.0}], "acc")
    [(0, 50.0), (10, 60.0), (15, 61.0)]
    """
    path, before, latest = [], 0, 0
    for evaluation in trace:
        if evaluation["step"] < latest:  # the next stage counts from zero
            before += latest
        latest = evaluation["step"]
        if evaluation.get(name) is not None:
            path.append((before + latest, float(evaluation[name])))
    return path
