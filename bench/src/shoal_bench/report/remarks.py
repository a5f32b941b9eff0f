"""What must be said beside a suite's figures, gathered from its records."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import fmean

from shoal_bench.cell import Cell
from shoal_bench.report.summary import Measured, SuiteSummary


def remarks_on(summary: SuiteSummary) -> list[str]:
    """Return sentences on defaults, times without encoding, clusters found, trainings undone, topics, and troubles.

    Parameters
    ----------
    summary : SuiteSummary
        The suite and its results.

    Returns
    -------
    list of str
    """
    return [
        *_changed_lines(summary),
        *_encoding_lines(summary),
        *_by_row(summary, _found, "{row}, clusters found for classes: {parts}.", "; "),
        *_by_row(summary, _undone, "{row}: the end of training was judged worse, an earlier state kept, on {parts}."),
        *_coherence_lines(summary),
        *_trouble_lines(summary),
    ]


def _by_row(summary: SuiteSummary, part: Callable[[str, Measured], str], sentence: str, comma: str = ", ") -> list[str]:
    """Return a sentence for each row about which there is something to say on a data set."""
    lines = []
    for row in summary.rows:
        parts = filter(None, (part(name, summary.of(row, name)) for name in summary.data_sets))
        if joined := comma.join(parts):
            lines.append(sentence.format(row=row.name, parts=joined))
    return lines


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
    outcomes = [record["outcome"] for record in cell.records if record.get("outcome")]
    undone = sum(bool(outcome["rolled_back"]) for outcome in outcomes)
    return f"{name} ({undone} of {len(outcomes)})" if undone else ""


def _changed_lines(summary: SuiteSummary) -> list[str]:
    """Say which results were made with other defaults than today's: the command would not give them again."""
    lines = []
    for row in summary.rows:
        changed: dict[str, None] = {}
        for name in summary.data_sets:
            for record in summary.of(row, name).records:
                then, now = record["settings"], Cell.of(record["cell"]).settings()
                changed |= dict.fromkeys(key for key in {**then, **now} if then.get(key) != now.get(key))
        if changed:
            lines.append(f"{row.name}: some results have other defaults than today's ({', '.join(changed)}).")
    return lines


def _encoding_lines(summary: SuiteSummary) -> list[str]:
    """Say whose time lacks the encoding."""
    lines = []
    for row in summary.rows:
        names = [name for name in summary.data_sets if summary.lacks_encoding(row, name)]
        if names:
            where = ", ".join(names)
            lines.append(f"{row.name}: the vectors were in the cache, so its time lacks the encoding, on {where}.")
    return lines


def _coherence_lines(summary: SuiteSummary) -> list[str]:
    """Say how well the words of a row's topics go together, beside those of class-based TF-IDF."""
    lines = []
    for row, name in summary.places:
        found = [record["topics"]["npmi"] for record in summary.of(row, name).records if record.get("topics")]
        if found:
            topics, telling, largest, keywords = (
                fmean([one[kind] for one in found if one[kind] is not None] or [math.nan])
                for kind in ("topics", "telling", "largest", "c_tf_idf")
            )
            lines.append(
                f"{row.name} on {name}: the mean NPMI of ten words on these texts is {topics:.3f} for all topics, "
                f"{telling:.3f} for those that are not general, {largest:.3f} for the largest of each cluster, and "
                f"{keywords:.3f} for class-based TF-IDF."
            )
    return lines


def _trouble_lines(summary: SuiteSummary) -> list[str]:
    """Give the reasons of what failed or was unavailable."""
    places: dict[tuple[str, str, str], dict[str, None]] = {}
    for row in summary.suite.rows:
        for name in summary.data_sets:
            for record in summary.of(row, name).troubles:
                places.setdefault((row.name, record["status"], record["reason"]), {})[name] = None
    return [
        f"{row}, {status}: {reason.rstrip('.')} ({', '.join(names)})."
        for (row, status, reason), names in places.items()
    ]
