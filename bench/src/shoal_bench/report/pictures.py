"""The pictures of a suite, by its kind; the words beneath them are in ``prose.toml``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal_bench.report.drawing import (
    COLOURS,
    FAINT,
    INK,
    Album,
    Drawing,
    in_panels,
    log_scale,
    panels,
    point_style,
    style,
)
from shoal_bench.report.ranks import Ranking, rank_methods
from shoal_bench.report.stages import MEASURES, mean_path, measures_of, stage_means, stage_names
from shoal_bench.report.summary import SuiteSummary, path_through, published_of
from shoal_bench.results import Record
from shoal_bench.suite import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# A ranking of fewer says nothing.
LEAST_METHODS, LEAST_SETS = 3, 4
DISTANCES = {"intra": "within clusters", "inter": "to the nearest other cluster"}

Paths = Sequence[Sequence[tuple[int, float]]]


def draw_pictures(summary: SuiteSummary, album: Album) -> list[str]:
    """Draw every picture that a suite's results allow; a training that the album has is not shown again.

    Parameters
    ----------
    summary : SuiteSummary
        The suite and its results.
    album : Album
        Where the pictures go.

    Returns
    -------
    list of str
        The blocks that show them; none if nothing was measured.
    """
    if not summary.rows:
        return []
    suite = summary.suite
    drawings = OF_KIND.get(suite.kind, time_and_ranks)(summary)
    keys = {record["key"] for _, _, records in summary.having("trace") for record in records}
    if suite.kind not in ("strengths", "sweep") and not keys <= album.shown:
        drawings += training(summary)
        album.shown |= keys
    metric = {"metric": suite.metrics[0].upper()}
    return [album.add(suite.name, drawing._replace(words={**metric, **drawing.words})) for drawing in drawings]


def style_of(summary: SuiteSummary, row: Row) -> tuple[str, str]:
    """Return the colour and the marker that a row has in every picture of its suite."""
    return style([other.name for other in summary.rows].index(row.name))


def time_and_ranks(summary: SuiteSummary) -> list[Drawing]:
    """Show a score against time, and a critical-difference diagram, if there are methods enough to compare."""
    metric, rows, names = summary.suite.metrics[0], summary.complete_rows, summary.data_sets
    drawings = []
    if len(summary.rows) > 1:
        drawings.append(Drawing("time", (12, 4.6), partial(score_against_time, summary=summary, metric=metric), {}))
    if len(rows) >= LEAST_METHODS and len(names) >= LEAST_SETS:
        scores = [[summary.of(row, name).mean(metric) or 0.0 for row in rows] for name in names]
        ranking = rank_methods([row.name for row in rows], scores)
        size = (8.5, 1.2 + 0.16 * len(ranking.groups) + 0.3 * ((len(rows) + 1) // 2))
        drawings.append(Drawing("ranks", size, partial(critical_difference, ranking=ranking), {"ranking": ranking}))
    return drawings


def score_against_time(figure: Figure, summary: SuiteSummary, metric: str) -> None:
    """Draw a score against the time per 1,000 texts, the mean over the data sets and every data set."""
    names, rows = summary.measured_sets, summary.complete_rows
    halves: Any = figure.subfigures(1, 2, width_ratios=(1.15, 2))
    middle = halves[0].subplots()
    middle.set(title=f"mean of {len(summary.data_sets)} data sets", ylabel=metric.upper())
    points = []
    for row in rows:
        colour, marker = style_of(summary, row)
        seconds = _mean_time(summary, row, names)
        score = float(np.mean([summary.of(row, name).mean(metric) for name in names]))
        face = "white" if any(summary.lacks_encoding(row, name) for name in names) else colour
        middle.scatter(seconds, score, s=48, facecolor=face, edgecolor=colour, marker=marker, zorder=3)
        points.append((seconds, score, row.name))
    _label(middle, points)
    partial_rows = [row for row in summary.rows if row not in rows]
    for row in partial_rows:
        colour, marker = style_of(summary, row)
        middle.scatter([], [], s=48, color=colour, marker=marker, label=f"{row.name} (not on every set)")
    if partial_rows:
        middle.legend(fontsize=8)
    log_scale(middle, "x", [seconds for seconds, _, _ in points])
    if not points:
        middle.set_axis_off()
        middle.set_title("")
    for panel, name in zip(panels(halves[1], len(names), math.ceil(len(names) / 2)), names, strict=True):
        panel.set_title(name)
        _draw_times(panel, summary, name, metric)
        panel.tick_params(labelsize=8)
    figure.supxlabel("seconds per 1,000 texts, encoding included", fontsize=9)


def _draw_times(panel: Axes, summary: SuiteSummary, data_set: str, metric: str) -> None:
    """Draw the rows of one data set against their times, and their published figures as dotted lines."""
    times = []
    for row in summary.rows:
        measured = summary.of(row, data_set)
        if not measured.records:
            continue
        colour, marker = style_of(summary, row)
        _dot_published(panel, row, data_set, metric, colour, zorder=1)
        times.append(_mean_time(summary, row, [data_set]))
        mean, spread = measured.mean(metric) or 0.0, measured.spread(metric) or 0.0
        face = "white" if summary.lacks_encoding(row, data_set) else colour
        panel.errorbar(times[-1], mean, spread, color=colour, marker=marker, markersize=5, markerfacecolor=face)
    log_scale(panel, "x", times)


def _mean_time(summary: SuiteSummary, row: Row, names: Sequence[str]) -> float:
    """Return the mean seconds that a row takes per 1,000 texts."""
    places = [(summary.whole_seconds(row, name) or 0.0, summary.of(row, name).average("n_texts")) for name in names]
    return float(np.mean([1000 * seconds / (texts or 1.0) for seconds, texts in places]))


def _dot_published(panel: Axes, row: Row, data_set: str, metric: str, colour: str, **options: Any) -> None:
    """Draw a dotted line at the published figure, if there is one."""
    published = published_of(row, data_set, metric)
    if published is not None:
        panel.axhline(published, color=colour, linestyle=":", linewidth=1.3, **options)


def _label(panel: Axes, points: Sequence[tuple[float, float, str]]) -> None:
    """Write names beside points: early ones to the right, late ones to the left, none over another."""
    if not points:
        return
    times, scores, _ = zip(*points, strict=True)
    line = max(max(scores) - min(scores), 1.0) / 16
    middle = math.sqrt(min(times) * max(times))
    for late, place, align in ((False, 7, "left"), (True, -7, "right")):
        below = math.inf
        side = sorted(((score, seconds, name) for seconds, score, name in points if (seconds > middle) == late))
        for score, seconds, name in reversed(side):
            below = min(score, below - line)
            panel.annotate(
                name, (seconds, below), (place, 0), textcoords="offset points", ha=align, va="center", fontsize=8
            )
    panel.margins(x=0.15, y=0.12)


def critical_difference(figure: Figure, ranking: Ranking) -> None:
    """Draw the average ranks on a line; a bar joins methods that the test does not tell apart (Demšar 2006)."""
    n, ranks = len(ranking.names), ranking.ranks
    panel = figure.subplots()
    panel.set_axis_off()
    left_half = math.ceil(n / 2)
    step, first = 0.55, 0.55 + 0.32 * len(ranking.groups)
    panel.plot([1, n], [0, 0], color=INK, linewidth=1.2)
    for place in range(1, n + 1):
        panel.plot([place, place], [0, 0.12], color=INK, linewidth=1)
        panel.annotate(str(place), (place, 0.2), ha="center", va="bottom", color=FAINT)
    for place, (name, rank) in enumerate(zip(ranking.names, ranks, strict=True)):
        best = place < left_half
        depth = -(first + step * (place if best else n - 1 - place))
        side, align = (0.85, "right") if best else (n + 0.15, "left")
        panel.plot([rank, rank, side], [0, depth, depth], color=COLOURS[0] if best else FAINT, linewidth=1.1)
        words, gap = (f"{name}  {rank:.2f}", -4) if best else (f"{rank:.2f}  {name}", 4)
        panel.annotate(words, (side, depth), (gap, 0), textcoords="offset points", ha=align, va="center")
    for level, (start, end) in enumerate(ranking.groups):
        depth = -0.3 - 0.32 * level
        panel.plot([ranks[start] - 0.04, ranks[end] + 0.04], [depth, depth], color=COLOURS[1], linewidth=4)
    above, reach = 0.95, 0.32 * n
    panel.plot([1, 1 + ranking.critical_difference], [above, above], color=INK, linewidth=1.2, marker="|")
    words = f"critical difference {ranking.critical_difference:.2f}"
    panel.annotate(words, (1 + ranking.critical_difference, above), (6, 0), textcoords="offset points", va="center")
    panel.set_xlim(1 - reach, n + reach)
    panel.set_ylim(-(first + step * left_half), above + 0.3)


def bars(summary: SuiteSummary) -> list[Drawing]:
    """Show the rows side by side on every data set, one panel per metric; a short line is the published figure.

    Where some rows lack the tier's number of texts, the others are shown on as many as those, if they have been run so.
    """
    metrics, names, rows = summary.suite.metrics, summary.data_sets, summary.rows
    width = 0.8 / max(len(rows), 1)

    def draw(panel: Axes, metric: str) -> None:
        for place, row in enumerate(rows):
            at = np.arange(len(names)) + (place - (len(rows) - 1) / 2) * width
            cells = [summary.alike(row, name) for name in names]
            heights = np.array([cell.mean(metric) for cell in cells], dtype=float)
            panel.bar(at, heights, 0.9 * width, color=style_of(summary, row)[0], label=row.name)
            errors = np.nan_to_num(np.array([cell.spread(metric) for cell in cells], dtype=float))
            panel.errorbar(at, heights, errors, fmt="none", ecolor=INK, elinewidth=0.8)
            for x, name in zip(at, names, strict=True):
                value = published_of(row, name, metric)
                if value is not None:
                    panel.plot([x - width / 2, x + width / 2], [value, value], color=INK, linestyle=":", linewidth=1.3)
        panel.set_ylabel(metric.upper())
        panel.set_xticks(range(len(names)), names)
        panel.tick_params(axis="x", length=0)
        panel.grid(axis="x", visible=False)
        panel.set_xlim(-0.5, len(names) - 0.5)

    size = 1.6 + 1.25 * max(len(names), 3), 0.6 + 2.3 * len(metrics)
    return in_panels("bars", metrics, draw, lambda metric: "", in_a_line=1, size=size)


def trainings(summary: SuiteSummary, name: str) -> dict[tuple[str, str], Paths]:
    """Return a number through the trainings of all seeds, by row and data set, where the evaluations have it."""
    found = {
        (row.name, data_set): [path for record in records if (path := path_through(record["trace"], name))]
        for row, data_set, records in summary.having("trace")
    }
    return {place: paths for place, paths in found.items() if paths}


def _sets_of(summary: SuiteSummary, found: Mapping[tuple[str, str], Paths]) -> list[str]:
    """Return the data sets of some trainings."""
    return [name for name in summary.data_sets if any(name == data_set for _, data_set in found)]


def training(summary: SuiteSummary, name: str = "training", metric: str = "") -> list[Drawing]:
    """Show a score against the steps of the training, one panel per data set; dotted is the published figure."""
    metric = metric or summary.suite.metrics[0]
    found = trainings(summary, metric)
    rows = [row for row in summary.rows if any(row.name == trained for trained, _ in found)]

    def draw(panel: Axes, data_set: str) -> None:
        for row in rows:
            colour, _ = style_of(summary, row)
            _draw_paths(panel, found.get((row.name, data_set), ()), colour, "-", row.name)
            _dot_published(panel, row, data_set, metric, colour)

    return in_panels(name, _sets_of(summary, found), draw, labels=("steps", metric.upper()))


def distances(summary: SuiteSummary) -> list[Drawing]:
    """Show SCCL's figure 4: distances on the true classes (solid) and on the clusters found (dashed)."""
    found = {name: trainings(summary, name) for kind in DISTANCES for name in (kind, f"{kind}_true")}
    names = _sets_of(summary, found["intra"])

    def draw(panel: Axes, place: tuple[str, str]) -> None:
        data_set, kind = place
        for row in summary.rows:
            colour, _ = style_of(summary, row)
            true, ours = (found[name].get((row.name, data_set), ()) for name in (f"{kind}_true", kind))
            _draw_paths(panel, true, colour, "-", f"{row.name}, true classes")
            _draw_paths(panel, ours, colour, "--", f"{row.name}, clusters found")

    places = [(name, kind) for name in names for kind in DISTANCES]
    size = 8.5, 1.0 + 2.9 * len(names)
    labels = "steps", "mean distance"
    return in_panels(
        "distances",
        places,
        draw,
        lambda place: f"{place[0]}: {DISTANCES[place[1]]}",
        in_a_line=2,
        size=size,
        labels=labels,
    )


def _draw_paths(panel: Axes, paths: Paths, colour: str, dashes: str, name: str) -> None:
    """Draw the mean over the seeds, and the range between them; a seed that stopped early keeps its last value."""
    if not paths:
        return
    steps = sorted({step for path in paths for step, _ in path})
    values = np.array([np.interp(steps, *np.transpose(path)) for path in paths])
    panel.plot(steps, values.mean(axis=0), color=colour, linestyle=dashes, linewidth=1.6, label=name)
    if len(paths) > 1:
        panel.fill_between(steps, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.15, linewidth=0)


def strengths(summary: SuiteSummary) -> list[Drawing]:
    """Show SCCL's figure 5: a score by strength, and how near augmented texts are to their originals."""
    metric, names = summary.suite.metrics[0], summary.measured_sets

    def draw(panel: Axes, place: tuple[str, bool]) -> None:
        data_set, by_strength = place
        for number, rows in enumerate(_series(summary, data_set)):
            if by_strength:
                _draw_series(panel, summary, rows, data_set, metric, number)
            else:
                _draw_similarities(panel, summary, rows, data_set, style(number)[0])
        if not by_strength:
            panel.set_yticks([])
        elif data_set == names[-1]:
            panel.set_xlabel("strength")

    def title(place: tuple[str, bool]) -> str:
        return f"{place[0]}: " + (f"{metric.upper()} by strength" if place[1] else "cosine to the augmented text")

    places = [(name, by_strength) for name in names for by_strength in (True, False)]
    return in_panels("strengths", places, draw, title, in_a_line=2, size=(9, 0.8 + 2.5 * len(names)))


def sweep(summary: SuiteSummary) -> list[Drawing]:
    """Show DECCRL's figure 4: every score by the rows' x, one panel per data set and score."""

    def draw(panel: Axes, place: tuple[str, str]) -> None:
        for number, rows in enumerate(_series(summary, place[0])):
            _draw_series(panel, summary, rows, *place, number)

    places = [(name, metric) for metric in summary.suite.metrics for name in summary.measured_sets]
    words = {"what": summary.suite.title.lower()}
    return in_panels("sweep", places, draw, lambda place: f"{place[0]}: {place[1].upper()}", words=words)


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
    """Draw one curve of a score over the rows' x, all on as many texts where they have been run on as many."""
    if rows:
        x, measured = [row.x or 0.0 for row in rows], [summary.alike(row, data_set) for row in rows]
        means, spreads = [one.mean(metric) or 0.0 for one in measured], [one.spread(metric) or 0.0 for one in measured]
        colour, marker = style(place)
        panel.errorbar(x, means, spreads, color=colour, marker=marker, capsize=2, label=rows[0].series)
        panel.set_xticks(x)


def _draw_similarities(panel: Axes, summary: SuiteSummary, rows: Sequence[Row], data_set: str, colour: str) -> None:
    """Draw the distribution of the cosines over all strengths of a series; the triangle marks the mean."""
    records = [record for row in rows for record in summary.of(row, data_set).having("pair_similarity")]
    found = [record["pair_similarity"] for record in records]
    if not found:
        return
    counts = np.sum([one["counts"] for one in found], axis=0)
    edges = np.linspace(0, 1, len(counts) + 1)
    panel.stairs(counts / counts.sum(), edges, color=colour, fill=True, alpha=0.35)
    panel.stairs(counts / counts.sum(), edges, color=colour)
    mean = sum(one["mean"] * one["n"] for one in found) / sum(one["n"] for one in found)
    panel.plot(mean, 0, marker="^", color=colour, markeredgecolor=FAINT, markersize=8, clip_on=False, zorder=4)
    panel.set_xlim(0, 1)


def maps(summary: SuiteSummary) -> list[Drawing]:
    """Show MLM + DEC's figure 2: the texts at every evaluation, by cluster, of the first run that has maps."""
    metric, rows = summary.suite.metrics[0], [row.name for row in summary.rows]

    def draw(panel: Axes, evaluation: Mapping[str, Any]) -> None:
        x, y, clusters = (np.asarray(evaluation["map"][name]) for name in ("x", "y", "cluster"))
        for cluster in np.unique(clusters):
            ours = clusters == cluster
            panel.scatter(x[ours], y[ours], s=5, linewidths=0, **point_style(cluster))
        panel.set(xticks=[], yticks=[])

    drawings = []
    for row, name, records in summary.having("trace"):
        traces = ([evaluation for evaluation in record["trace"] if "map" in evaluation] for record in records)
        evaluations = next(filter(None, traces), [])
        before = evaluations[0]["epoch"] if evaluations else 0  # a stage before this one may have had some

        def title(evaluation: Mapping[str, Any], before: int = before) -> str:
            passed = evaluation["epoch"] - before
            return f"{f'epoch {passed}' if passed else 'start'}: {metric.upper()} {evaluation[metric]:.1f}"

        words = {"data_set": name, "row": row.name, "n": len(evaluations[0]["map"]["cluster"]) if evaluations else 0}
        drawings += in_panels("map", evaluations, draw, title, words=words, file=f"map-{name}-{rows.index(row.name)}")
    return drawings


def stages(summary: SuiteSummary) -> list[Drawing]:
    """Show every measure over the stages: one line per data set; of several rows one per row, their mean."""
    names, several = stage_names(summary), len(summary.rows) > 1

    def draw(panel: Axes, measure: str) -> None:
        means = {row.name: stage_means(summary, row, measure) for row in summary.rows}
        lines = {row: mean_path(list(own.values())) for row, own in means.items()}
        for place, (name, path) in enumerate((lines if several else means[summary.rows[0].name]).items()):
            if path is not None:
                colour, marker = style(place)
                panel.plot(range(len(path)), path, color=colour, marker=marker, markersize=4, label=name)
        panel.set_xticks(range(len(names)), names, rotation=30, ha="right")

    lines = "one line per row, the mean of the data sets" if several else "one line per data set"
    return in_panels("stages", measures_of(summary), draw, MEASURES.__getitem__, words={"lines": lines})


def places(summary: SuiteSummary) -> list[Drawing]:
    """Show where texts lie at the start and after each stage, coloured by their true class; a drawing per row."""
    drawings: list[Drawing] = []
    for row, _, records in summary.having("stages"):
        record = next((record for record in records if (record.get("extras") or {}).get("places")), None)
        if record is not None:
            drawings += _places_of(record, row, f"places-{len(drawings) + 1}" if drawings else "")
    return drawings


def _places_of(record: Record, row: Row, file: str) -> list[Drawing]:
    """Show where texts lie through one training."""
    found = record["extras"]["places"]
    classes = np.array(found["classes"])

    def draw(panel: Axes, stage: tuple[str, Any]) -> None:
        at = np.array(stage[1])
        for place, name in enumerate(sorted(set(classes.tolist()))):
            x, y = at[classes == name].T
            panel.scatter(x, y, s=7, linewidths=0, label=name, **point_style(place))
        panel.set(xticks=[], yticks=[])

    names = [stage["stage"] for stage in record["stages"]]
    after = list(zip(names, found["stages"], strict=True))
    words = {"n": len(classes), "row": row.name, **record["cell"]}
    return in_panels("places", after, draw, lambda stage: stage[0], in_a_line=3, columns=7, words=words, file=file)


OF_KIND: dict[str, Callable[[SuiteSummary], list[Drawing]]] = {
    "strengths": strengths,
    "sweep": sweep,
    "bars": bars,
    "curves": distances,
    "stages": stages,
    "scatter": places,
    "maps": maps,
    "silhouette": partial(training, name="silhouette", metric="silhouette"),
    "pairs": lambda summary: [],
}
