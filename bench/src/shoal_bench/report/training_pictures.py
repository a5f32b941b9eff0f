"""Pictures of what happens while a method trains, from the evaluations that its records hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal_bench.report.pictures import COLOURS, FAINT, MARKERS, legend_above, panels, style, style_of
from shoal_bench.report.summary import SuiteSummary, path_through, published_of
from shoal_bench.suite import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DISTANCES = {"intra": "within clusters", "inter": "to the nearest other cluster"}


def trained_rows(summary: SuiteSummary, name: str = "acc") -> list[Row]:
    """Return the rows whose records follow ``name`` through a training."""
    return [row for row in summary.rows if any(_paths(summary, row, data_set, name) for data_set in summary.data_sets)]


def trained_sets(summary: SuiteSummary, name: str = "acc") -> list[str]:
    """Return the data sets on which a record follows ``name`` through a training."""
    return [each for each in summary.data_sets if any(_paths(summary, row, each, name) for row in summary.rows)]


def score_through_training(figure: Figure, summary: SuiteSummary, metric: str) -> None:
    """Draw a score against the steps of the training, one panel per data set; dotted is the published figure."""
    rows, names = trained_rows(summary, metric), trained_sets(summary, metric)
    grid = panels(figure, len(names))
    for panel, name in zip(grid, names, strict=True):
        panel.set_title(name)
        for row in rows:
            colour, _ = style_of(summary, row)
            _draw_paths(panel, _paths(summary, row, name, metric), colour, "-", row.name)
            published = published_of(row, name, metric)
            if published is not None:
                panel.axhline(published, color=colour, linestyle=":", linewidth=1.3)
    legend_above(figure, grid)
    figure.supxlabel("steps", fontsize=9)
    figure.supylabel(metric.upper(), fontsize=9)


def distances_through_training(figure: Figure, summary: SuiteSummary) -> None:
    """Draw SCCL's figure 4: distances on the true classes (solid) and on the clusters found (dashed)."""
    names = trained_sets(summary, "intra")
    grid = panels(figure, 2 * len(names), 2)
    places = [(name, kind) for name in names for kind in DISTANCES]
    for panel, (name, kind) in zip(grid, places, strict=True):
        panel.set_title(f"{name}: {DISTANCES[kind]}")
        for row in trained_rows(summary, kind):
            colour, _ = style_of(summary, row)
            _draw_paths(panel, _paths(summary, row, name, f"{kind}_true"), colour, "-", f"{row.name}, true classes")
            _draw_paths(panel, _paths(summary, row, name, kind), colour, "--", f"{row.name}, clusters found")
    legend_above(figure, grid)
    figure.supxlabel("steps", fontsize=9)
    figure.supylabel("mean distance", fontsize=9)


def strengths(figure: Figure, summary: SuiteSummary, metric: str) -> None:
    """Draw SCCL's figure 5: a score by strength, and how near augmented texts are to their originals."""
    names = summary.measured_sets
    grid = panels(figure, 2 * len(names), 2)
    for left, right, name in zip(grid[::2], grid[1::2], names, strict=True):
        left.set_title(f"{name}: {metric.upper()} by strength")
        right.set_title(f"{name}: cosine to the augmented text")
        for place, rows in enumerate(_series(summary, name)):
            _draw_series(left, summary, rows, name, metric, place)
            _draw_similarities(right, summary, rows, name, style(place)[0])
        right.set_yticks([])
    legend_above(figure, grid[::2])
    grid[-2].set_xlabel("strength")


def mapped_evaluations(summary: SuiteSummary, row: Row, data_set: str) -> list[Mapping[str, Any]]:
    """Return the evaluations with maps of the first record that has any."""
    traces = (
        [evaluation for evaluation in record.get("trace") or [] if "map" in evaluation]
        for record in summary.of(row, data_set).records
    )
    return next(filter(None, traces), [])


def maps(figure: Figure, evaluations: Sequence[Mapping[str, Any]], metric: str) -> None:
    """Draw MLM + DEC's figure 2: the texts at every evaluation, by cluster."""
    for panel, evaluation in zip(panels(figure, len(evaluations)), evaluations, strict=True):
        panel.set_title(f"epoch {evaluation['epoch']}: {metric.upper()} {evaluation[metric]:.1f}")
        x, y, clusters = (np.asarray(evaluation["map"][name]) for name in ("x", "y", "cluster"))
        for cluster in np.unique(clusters):
            ours = clusters == cluster
            marker = MARKERS[cluster // len(COLOURS) % len(MARKERS)]
            panel.scatter(x[ours], y[ours], s=5, color=COLOURS[cluster % len(COLOURS)], marker=marker, linewidths=0)
        panel.set_xticks([])
        panel.set_yticks([])


def sweep(figure: Figure, summary: SuiteSummary) -> None:
    """Draw DECCRL's figure 4: every score by the rows' x, one panel per data set and score."""
    places = [(name, metric) for metric in summary.suite.metrics for name in summary.measured_sets]
    grid = panels(figure, len(places))
    for panel, (name, metric) in zip(grid, places, strict=True):
        panel.set_title(f"{name}: {metric.upper()}")
        for place, rows in enumerate(_series(summary, name)):
            _draw_series(panel, summary, rows, name, metric, place)
    legend_above(figure, grid)


def _series(summary: SuiteSummary, data_set: str) -> list[list[Row]]:
    """Return the rows of every curve that have a result on a data set, by their x."""
    curves: dict[str, list[Row]] = {row.series: [] for row in summary.rows if row.series and row.x is not None}
    for row in summary.rows:
        if row.series in curves and summary.of(row, data_set).records:
            curves[row.series].append(row)
    return [sorted(rows, key=lambda row: row.x or 0.0) for rows in curves.values()]


def _draw_series(
    panel: Axes, summary: SuiteSummary, rows: Sequence[Row], data_set: str, metric: str, place: int
) -> None:
    """Draw one curve of a score over the rows' x."""
    if rows:
        x, measured = [row.x or 0.0 for row in rows], [summary.of(row, data_set) for row in rows]
        means, spreads = [one.mean(metric) or 0.0 for one in measured], [one.spread(metric) or 0.0 for one in measured]
        colour, marker = style(place)
        panel.errorbar(x, means, spreads, color=colour, marker=marker, capsize=2, label=rows[0].series)
        panel.set_xticks(x)


def _draw_similarities(panel: Axes, summary: SuiteSummary, rows: Sequence[Row], data_set: str, colour: str) -> None:
    """Draw the distribution of the cosines over all strengths of a series; the triangle marks the mean."""
    found = [
        record["pair_similarity"]
        for row in rows
        for record in summary.of(row, data_set).records
        if record.get("pair_similarity")
    ]
    if not found:
        return
    counts = np.sum([one["counts"] for one in found], axis=0)
    edges = np.linspace(0, 1, len(counts) + 1)
    panel.stairs(counts / counts.sum(), edges, color=colour, fill=True, alpha=0.35)
    panel.stairs(counts / counts.sum(), edges, color=colour)
    mean = sum(one["mean"] * one["n"] for one in found) / sum(one["n"] for one in found)
    panel.plot(mean, 0, marker="^", color=colour, markeredgecolor=FAINT, markersize=8, clip_on=False, zorder=4)
    panel.set_xlim(0, 1)


def _paths(summary: SuiteSummary, row: Row, data_set: str, name: str) -> list[list[tuple[int, float]]]:
    """Return a number through the trainings of all seeds."""
    traces = (record.get("trace") or [] for record in summary.of(row, data_set).records)
    return [path for path in (path_through(trace, name) for trace in traces) if path]


def _draw_paths(panel: Axes, paths: Sequence[Sequence[tuple[int, float]]], colour: str, dashes: str, name: str) -> None:
    """Draw the mean over the seeds, and the range between them; a seed that stopped early keeps its last value."""
    if not paths:
        return
    steps = sorted({step for path in paths for step, _ in path})
    values = np.array([np.interp(steps, [step for step, _ in path], [value for _, value in path]) for path in paths])
    panel.plot(steps, values.mean(axis=0), color=colour, linestyle=dashes, linewidth=1.6, label=name)
    if len(paths) > 1:
        panel.fill_between(steps, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.15, linewidth=0)
