"""What must be said beside a suite's figures, gathered from its records."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterator

from shoal_bench.cell import changed_defaults
from shoal_bench.report.summary import Measured, SuiteSummary, mean
from shoal_bench.results import UNAVAILABLE, Record

UNTRAINED = "(start)"


def untrained(record: Record) -> bool:
    """Tell whether nothing of a training was kept: the figures are those of its start, k-means without training."""
    outcome = record.get("outcome") or {}
    stages = [stage for stage in outcome.get("stages") or [] if stage.get("start")]  # those with clusters
    return bool(stages) and not any(stage["kept_step"] for stage in stages)


def remarks_on(summary: SuiteSummary) -> list[str]:
    """Return sentences on defaults, texts, times without encoding, clusters found, trainings undone, topics, troubles.

    Parameters
    ----------
    summary : SuiteSummary
        The suite and its results.

    Returns
    -------
    list of str
    """
    lines = []
    for row in summary.rows:
        cells = [summary.of(row, name) for name in summary.data_sets]
        changed = dict.fromkeys(name for cell in cells for name in _changed(cell))
        if changed:
            lines.append(f"{row.name}: some results have other defaults than today's ({', '.join(changed)}).")
    lines += _other_sizes(summary)
    for row in summary.rows:
        names = [name for name in summary.data_sets if summary.lacks_encoding(row, name)]
        if names:
            where = ", ".join(names)
            lines.append(f"{row.name}: the vectors were in the cache, so its time lacks the encoding, on {where}.")
    lines += _by_row(summary, _found, "{row}, clusters found for classes: {parts}.", "; ")
    undone = "{row}: the end of training was judged worse, an earlier state kept, on {parts}."
    start = (
        f"{{row}}: {UNTRAINED} marks where nothing of the training was kept: the figure is its start's, on {{parts}}."
    )
    lines += _by_row(summary, _untrained, start, ", ")
    return [*lines, *_by_row(summary, _undone, undone, ", "), *_coherence_lines(summary), *_trouble_lines(summary)]


def _changed(cell: Measured) -> Iterator[str]:
    """Name the parameters with other defaults than today's: the command would not give these results again."""
    for record in cell.records:
        yield from changed_defaults(record)


def _other_sizes(summary: SuiteSummary) -> Iterator[str]:
    """Say which rows were not run on the tier's number of texts, and which option gives what is shown."""
    for row in summary.rows:
        sizes: dict[int, list[str]] = {}
        for name in summary.data_sets:
            if (n_texts := summary.of(row, name).other_size) is not None:
                sizes.setdefault(n_texts, []).append(name)
        for n_texts, names in sizes.items():
            yield f"{row.name}: run with `--texts {n_texts}` on {', '.join(names)}."


def _by_row(summary: SuiteSummary, part: Callable[[str, Measured], str], sentence: str, comma: str) -> Iterator[str]:
    """Yield a sentence for each row about which there is something to say on a data set."""
    for row in summary.rows:
        parts = filter(None, (part(name, summary.of(row, name)) for name in summary.data_sets))
        if joined := comma.join(parts):
            yield sentence.format(row=row.name, parts=joined)


def _found(name: str, cell: Measured) -> str:
    """Say where a tool found another number of clusters than asked for, or left texts without one."""
    found, wanted, outliers = cell.average("n_found"), cell.average("n_clusters"), cell.average("outliers") or 0.0
    if found is None or (found == wanted and not outliers):
        return ""
    return f"{name} {found:.0f} for {wanted:.0f}" + (
        f", {100 * outliers:.0f} % of the texts in none" if outliers else ""
    )


def _undone(name: str, cell: Measured) -> str:
    """Say where the trainer went back to an earlier state by signs that need no labels."""
    outcomes = [record["outcome"] for record in cell.having("outcome")]
    undone = sum(bool(outcome["rolled_back"]) for outcome in outcomes)
    return f"{name} ({undone} of {len(outcomes)})" if undone else ""


def _untrained(name: str, cell: Measured) -> str:
    """Say where a row that trains has the figures of its start."""
    count = sum(map(untrained, cell.records))
    return f"{name} ({count} of {len(cell.records)})" if count else ""


def _coherence_lines(summary: SuiteSummary) -> Iterator[str]:
    """Say how well the words of a row's topics go together, beside those of class-based TF-IDF."""
    for row, name, records in summary.having("topics"):
        found = [record["topics"]["npmi"] for record in records]
        means = {kind: mean(one[kind] for one in found) for kind in ("topics", "telling", "largest", "c_tf_idf")}
        shown = {kind: f"{math.nan if value is None else value:.3f}" for kind, value in means.items()}
        yield (
            f"{row.name} on {name}: the mean NPMI of ten words on these texts is {shown['topics']} for all topics, "
            f"{shown['telling']} for those that are not general, {shown['largest']} for the largest of each cluster, "
            f"and {shown['c_tf_idf']} for class-based TF-IDF."
        )


def _trouble_lines(summary: SuiteSummary) -> list[str]:
    """Give the reasons of what failed or was unavailable, and the command that runs it where it is not."""
    asked = f"shoal-bench --suite {summary.suite.name} --tier {summary.tier.name}"
    places: dict[tuple[str, str, str], dict[str, None]] = {}
    for row in summary.suite.rows:
        for name in summary.data_sets:
            for record in summary.of(row, name).troubles:
                places.setdefault((row.name, record["status"], record["reason"]), {})[name] = None
    return [
        f"{row}, {status}: {reason.rstrip('.')} ({', '.join(names)})."
        + (f" Where it is there: `{asked} --row {shlex.quote(row)}`." if status == UNAVAILABLE else "")
        for (row, status, reason), names in places.items()
    ]
