"""What a training has come to after each stage, as tables and pictures (ClusterBERT, figures 1, 3, 4, table 5)."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from shoal_bench.report.page import Table
from shoal_bench.report.pictures import legend_above, panels, style
from shoal_bench.report.summary import SuiteSummary
from shoal_bench.results import Record
from shoal_bench.suite import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURES = {"acc": "ACC", "nmi": "NMI", "silhouette": "silhouette", "dunn": "Dunn", "map": "MAP", "mrr": "MRR"}
SHOW: dict[str, Callable[[float], str]] = {
    **dict.fromkeys(MEASURES, "{:.1f}".format),
    **dict.fromkeys(("silhouette", "dunn"), "{:.3f}".format),
}
SHOWN_PAIRS = PLACES_IN_A_LINE = 3
NOTHING = "-"


def stage_names(summary: SuiteSummary) -> list[str]:
    """Return the start and the stages, as the first record has them; none if nothing was trained."""
    first = next((record for place in summary.places for record in _staged(summary, *place)), None)
    return [] if first is None else [stage["stage"] for stage in first["stages"]]


def measures_of(summary: SuiteSummary) -> list[str]:
    """Return what was measured after the stages."""
    found = {name for place in summary.places for record in _staged(summary, *place) for name in record["stages"][0]}
    return [name for name in MEASURES if name in found]


def stage_means(summary: SuiteSummary, row: Row, data_set: str, measure: str) -> list[float] | None:
    """Return a measure at the start and after each stage, the mean over the seeds; None where it is not known."""
    paths = [[stage.get(measure) for stage in record["stages"]] for record in _staged(summary, row, data_set)]
    if not paths or any(value is None for path in paths for value in path):
        return None
    return [statistics.fmean(values) for values in zip(*paths, strict=True)]


def stage_table(summary: SuiteSummary) -> Table:
    """Return every measure at the start and after each stage, by row and data set, and the mean over the sets."""
    measures = measures_of(summary)
    lines: list[list[str]] = []
    for row in summary.rows:
        known = [name for name in summary.data_sets if _staged(summary, row, name)]
        found = {name: [stage_means(summary, row, name, measure) for measure in measures] for name in known}
        if len(known) > 1:
            found[f"mean of {len(known)}"] = [
                _mean_path([paths[i] for paths in found.values()]) for i in range(len(measures))
            ]
        for data_set, paths in found.items():
            for number, stage in enumerate(stage_names(summary)):
                figures = [
                    NOTHING if path is None else SHOW[measure](path[number])
                    for measure, path in zip(measures, paths, strict=True)
                ]
                lines.append(["" if number else row.name, "" if number else data_set, stage, *figures])
    return Table(["method", "data set", "after", *(MEASURES[name] for name in measures)], lines, n_names=3)


def draw_stages(figure: Figure, summary: SuiteSummary) -> None:
    """Draw every measure over the stages: one line per data set; of several rows one per row, their mean."""
    measures, names = measures_of(summary), stage_names(summary)
    grid = panels(figure, len(measures))
    for panel, measure in zip(grid, measures, strict=True):
        panel.set_title(MEASURES[measure])
        lines = {name: stage_means(summary, summary.rows[0], name, measure) for name in summary.data_sets}
        if len(summary.rows) > 1:
            lines = {
                row.name: _mean_path([stage_means(summary, row, name, measure) for name in summary.data_sets])
                for row in summary.rows
            }
        for place, (name, path) in enumerate(lines.items()):
            if path is not None:
                colour, marker = style(place)
                panel.plot(range(len(path)), path, color=colour, marker=marker, markersize=4, label=name)
        panel.set_xticks(range(len(names)), names, rotation=30, ha="right")
    legend_above(figure, grid)


def placed_record(summary: SuiteSummary) -> Record | None:
    """Return the first record that knows where texts lie on a plane."""
    records = (record for place in summary.places for record in _staged(summary, *place))
    return next((record for record in records if (record.get("extras") or {}).get("places")), None)


def draw_places(figure: Figure, record: Record) -> None:
    """Draw where texts lie at the start and after each stage, coloured by their true class."""
    places = record["extras"]["places"]
    classes = np.array(places["classes"])
    grid = panels(figure, len(places["stages"]), PLACES_IN_A_LINE)
    for panel, stage, points in zip(grid, record["stages"], places["stages"], strict=True):
        panel.set_title(stage["stage"])
        at = np.array(points)
        for place, name in enumerate(sorted(set(classes.tolist()))):
            inside = classes == name
            x, y = at[inside].T
            panel.scatter(x, y, s=5, color=style(place)[0], linewidths=0, label=name)
        panel.set(xticks=[], yticks=[])
    legend_above(figure, grid, columns=7)


def pairs_table(summary: SuiteSummary) -> Table | None:
    """Return the strongest pairs of each kind, by number and class: no text of a data set is shown."""
    firsts = (record for place in summary.places for record in _staged(summary, *place)[:1])
    lines = [line for record in firsts for line in _pair_lines((record.get("extras") or {}).get("pairs") or [])]
    columns = ["kind", "classes", "texts", "cosine before", "cosine after"]
    return Table(columns, lines, n_names=3) if lines else None


def _pair_lines(pairs: Sequence[Record]) -> list[list[str]]:
    """Return a line for each of the first pairs of every kind."""
    lines: list[list[str]] = []
    for pair in pairs:
        kind = f"{'same class' if pair['same_class'] else 'other class'}, {pair['kind']}"
        if [line[0] for line in lines].count(kind) < SHOWN_PAIRS:
            texts = f"{pair['left']}, {pair['right']}"
            cosines = (f"{pair[when]:.3f}" for when in ("before", "after"))
            lines.append([kind, " / ".join(pair["classes"]), texts, *cosines])
    return lines


def _staged(summary: SuiteSummary, row: Row, data_set: str) -> list[Record]:
    """Return the records that know the stages."""
    return [record for record in summary.of(row, data_set).records if record.get("stages")]


def _mean_path(paths: Sequence[list[float] | None]) -> list[float] | None:
    """Return the mean over the paths that are there."""
    there = [path for path in paths if path is not None]
    return [statistics.fmean(values) for values in zip(*there, strict=True)] if there else None
