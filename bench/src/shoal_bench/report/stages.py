"""What a training has come to after each stage, as tables (ClusterBERT, figures 1, 3, 4, table 5)."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence

from shoal_bench.report.page import figure, table
from shoal_bench.report.summary import SuiteSummary
from shoal_bench.suite import Row

MEASURES = {"acc": "ACC", "nmi": "NMI", "silhouette": "silhouette", "dunn": "Dunn", "map": "MAP", "mrr": "MRR"}
DIGITS = {"silhouette": 3, "dunn": 3}
SHOWN_PAIRS = 3

Path = list[float] | None


def stage_names(summary: SuiteSummary) -> list[str]:
    """Return the start and the stages, as the first record has them; none if nothing was trained."""
    return [stage["stage"] for _, _, records in summary.having("stages")[:1] for stage in records[0]["stages"]]


def measures_of(summary: SuiteSummary) -> list[str]:
    """Return what was measured after the stages."""
    found = {name for _, _, records in summary.having("stages") for record in records for name in record["stages"][0]}
    return [name for name in MEASURES if name in found]


def stage_means(summary: SuiteSummary, row: Row, measure: str) -> dict[str, Path]:
    """Return a measure at the start and after each stage by data set, the mean over the seeds; None if not known."""
    means: dict[str, Path] = {}
    for name in summary.data_sets:
        records = summary.of(row, name).having("stages")
        paths = [[stage.get(measure) for stage in record["stages"]] for record in records]
        means[name] = None if any(value is None for path in paths for value in path) else mean_path(paths)
    return means


def mean_path(paths: Sequence[Path]) -> Path:
    """Return the mean over the paths that are there."""
    there = [path for path in paths if path is not None]
    return [statistics.fmean(values) for values in zip(*there, strict=True)] if there else None


def stage_table(summary: SuiteSummary) -> str:
    """Return every measure at the start and after each stage, by row and data set, and the mean over the sets."""
    measures, lines = measures_of(summary), []
    for row in summary.rows:
        means = {measure: stage_means(summary, row, measure) for measure in measures}
        names = [name for name in summary.data_sets if summary.of(row, name).having("stages")]
        if len(names) > 1:
            for own in means.values():
                own[f"mean of {len(names)}"] = mean_path(list(own.values()))
            names.append(f"mean of {len(names)}")
        for name in names:
            for number, stage in enumerate(stage_names(summary)):
                values = [path[number] if (path := means[measure][name]) else None for measure in measures]
                figures = [
                    figure(value, DIGITS.get(measure, 1)) for value, measure in zip(values, measures, strict=True)
                ]
                lines.append(["" if number else row.name, "" if number else name, stage, *figures])
    return table(["method", "data set", "after", *(MEASURES[name] for name in measures)], lines, n_names=3)


def pairs_table(summary: SuiteSummary) -> str:
    """Return the strongest pairs of each kind, by number and class: no text of a data set is shown."""
    lines = []
    for _, _, records in summary.having("stages"):
        shown: Counter[str] = Counter()
        for pair in (records[0].get("extras") or {}).get("pairs") or []:
            kind = f"{'same class' if pair['same_class'] else 'other class'}, {pair['kind']}"
            shown[kind] += 1
            if shown[kind] <= SHOWN_PAIRS:
                cosines = (figure(pair[when], 3) for when in ("before", "after"))
                lines.append([kind, " / ".join(pair["classes"]), f"{pair['left']}, {pair['right']}", *cosines])
    return table(["kind", "classes", "texts", "cosine before", "cosine after"], lines, n_names=3)
