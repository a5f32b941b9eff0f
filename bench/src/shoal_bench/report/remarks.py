"""What must be said beside a suite's figures, gathered from its records."""

from __future__ import annotations

import math
from statistics import fmean

from shoal_bench.cell import Cell
from shoal_bench.report.summary import SuiteSummary


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
        *_found_lines(summary),
        *_undone_lines(summary),
        *_coherence_lines(summary),
        *_trouble_lines(summary),
    ]


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


def _coherence_lines(summary: SuiteSummary) -> list[str]:
    """Say how well the words of a row's topics go together, beside those of class-based TF-IDF."""
    lines = []
    for row in summary.rows:
        for name in summary.data_sets:
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


def _encoding_lines(summary: SuiteSummary) -> list[str]:
    """Say whose time lacks the encoding."""
    places = {
        row.name: [name for name in summary.data_sets if summary.lacks_encoding(row, name)] for row in summary.rows
    }
    return [
        f"{row}: the vectors were in the cache, so its time lacks the encoding, on {', '.join(names)}."
        for row, names in places.items()
        if names
    ]


def _found_lines(summary: SuiteSummary) -> list[str]:
    """Say where a tool found another number of clusters than asked for, or left texts out."""
    lines = []
    for row in summary.rows:
        parts = []
        for name in summary.data_sets:
            cell = summary.of(row, name)
            found, outliers = cell.average("n_found"), cell.average("outliers") or 0.0
            wanted = cell.average("n_clusters")
            if found is not None and (found != wanted or outliers):
                left = f", {100 * outliers:.0f} % of the texts in none" if outliers else ""
                parts.append(f"{name} {found:.0f} for {wanted:.0f}{left}")
        if parts:
            lines.append(f"{row.name}, clusters found for classes: {'; '.join(parts)}.")
    return lines


def _undone_lines(summary: SuiteSummary) -> list[str]:
    """Say where the trainer went back to an earlier state by signs that need no labels."""
    lines = []
    for row in summary.rows:
        parts = []
        for name in summary.data_sets:
            outcomes = [record["outcome"] for record in summary.of(row, name).records if record.get("outcome")]
            undone = sum(bool(outcome["rolled_back"]) for outcome in outcomes)
            if undone:
                parts.append(f"{name} ({undone} of {len(outcomes)})")
        if parts:
            where = ", ".join(parts)
            lines.append(f"{row.name}: the end of training was judged worse, an earlier state kept, on {where}.")
    return lines


def _trouble_lines(summary: SuiteSummary) -> list[str]:
    """Give the reasons of what failed or could not be had."""
    places: dict[tuple[str, str, str], list[str]] = {}
    for row in summary.suite.rows:
        for name in summary.data_sets:
            for record in summary.of(row, name).troubles:
                where = places.setdefault((row.name, record["status"], record["reason"]), [])
                if name not in where:
                    where.append(name)
    return [
        f"{row}, {status}: {reason.rstrip('.')} ({', '.join(names)})."
        for (row, status, reason), names in places.items()
    ]
