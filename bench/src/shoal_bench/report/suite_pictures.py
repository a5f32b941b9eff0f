"""Which pictures a suite gets; the words beneath them are in ``prose.toml``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from shoal_bench.report import pictures, stages, training_pictures
from shoal_bench.report.page import PROSE, Picture
from shoal_bench.report.pictures import panels_size
from shoal_bench.report.ranks import rank_methods
from shoal_bench.report.summary import SuiteSummary
from shoal_bench.report.training_pictures import trained_sets

# A ranking of fewer says nothing.
LEAST_METHODS, LEAST_SETS = 3, 4


class _Drawing(NamedTuple):
    """A picture to be drawn: its name in ``prose.toml``, its size, how, what its words mention, and its file's end."""

    name: str
    size: tuple[float, float]
    draw: Callable[..., None]
    words: Mapping[str, Any]
    file: str = ""


def draw_pictures(summary: SuiteSummary, folder: Path, place: str, shown: set[str]) -> list[Picture]:
    """Draw every picture that a suite's results allow.

    Parameters
    ----------
    summary : SuiteSummary
        The suite and its results.
    folder : Path
        The folder of the page.
    place : str
        Where in it the pictures go.
    shown : set of str
        Keys of the records whose training is in a picture already; those drawn here are added.

    Returns
    -------
    list of Picture
        In the order they should be shown; none if nothing was measured.
    """
    if not summary.rows:
        return []
    drawings = list(_OF_KIND.get(summary.suite.kind, _time_and_ranks)(summary))
    keys = {record["key"] for cell in summary.measured.values() for record in cell.records if record.get("trace")}
    if summary.suite.kind not in ("strengths", "sweep") and not keys <= shown:
        drawings += _training(summary)
        shown |= keys
    drawn = []
    for drawing in drawings:
        path = f"{place}/{summary.suite.name}-{drawing.file or drawing.name}.png"
        pictures.save(folder / path, drawing.size, drawing.draw)
        words = {"metric": summary.suite.metrics[0].upper(), **drawing.words}
        title, caption = (PROSE[drawing.name][part].format(**words) for part in ("title", "caption"))
        drawn.append(Picture(path, title, title + caption))
    return drawn


def _time_and_ranks(summary: SuiteSummary) -> Iterator[_Drawing]:
    """Show a score against time, and a critical-difference diagram, if there are methods enough to compare."""
    metric, rows, names = summary.suite.metrics[0], summary.complete_rows, summary.data_sets
    if len(summary.rows) > 1:
        draw = partial(pictures.score_against_time, summary=summary, metric=metric)
        yield _Drawing("time", (12, 4.6), draw, {})
    if len(rows) >= LEAST_METHODS and len(names) >= LEAST_SETS:
        scores = [[summary.of(row, name).mean(metric) or 0.0 for row in rows] for name in names]
        ranking = rank_methods([row.name for row in rows], scores)
        size = (8.5, 1.2 + 0.16 * len(ranking.groups) + 0.3 * ((len(rows) + 1) // 2))
        draw = partial(pictures.critical_difference, ranking=ranking)
        yield _Drawing("ranks", size, draw, {"ranking": ranking})


def _bars(summary: SuiteSummary) -> Iterator[_Drawing]:
    """Show the rows side by side."""
    size = 1.6 + 1.25 * max(len(summary.data_sets), 3), 0.6 + 2.3 * len(summary.suite.metrics)
    yield _Drawing("bars", size, partial(pictures.bars, summary=summary), {})


def _strengths(summary: SuiteSummary) -> Iterator[_Drawing]:
    """Show a score by strength, and cosines."""
    draw = partial(training_pictures.strengths, summary=summary, metric=summary.suite.metrics[0])
    yield _Drawing("strengths", (9, 0.8 + 2.5 * len(summary.measured_sets)), draw, {})


def _sweep(summary: SuiteSummary) -> Iterator[_Drawing]:
    """Show the scores by a parameter."""
    size = panels_size(len(summary.measured_sets) * len(summary.suite.metrics))
    what = summary.suite.title.lower()
    yield _Drawing("sweep", size, partial(training_pictures.sweep, summary=summary), {"what": what})


def _training(summary: SuiteSummary, name: str = "training", metric: str | None = None) -> Iterator[_Drawing]:
    """Show a score through training, if the evaluations have it."""
    metric = metric or summary.suite.metrics[0]
    names = trained_sets(summary, metric)
    if names:
        draw = partial(training_pictures.score_through_training, summary=summary, metric=metric)
        yield _Drawing(name, panels_size(len(names)), draw, {})


def _stages(summary: SuiteSummary) -> Iterator[_Drawing]:
    """Show what the training has come to after each stage."""
    measures = stages.measures_of(summary)
    if measures:
        lines = "one line per row, the mean of the data sets" if len(summary.rows) > 1 else "one line per data set"
        draw = partial(stages.draw_stages, summary=summary)
        yield _Drawing("stages", panels_size(len(measures)), draw, {"lines": lines})


def _places(summary: SuiteSummary) -> Iterator[_Drawing]:
    """Show where the texts lie after each stage."""
    record = stages.placed_record(summary)
    if record is not None:
        size = panels_size(len(record["stages"]), stages.PLACES_IN_A_LINE)
        words = {"n": len(record["extras"]["places"]["classes"]), **record["cell"]}
        yield _Drawing("places", size, partial(stages.draw_places, record=record), words)


def _distances(summary: SuiteSummary) -> Iterator[_Drawing]:
    """Show the distances through training, if there was any."""
    names = trained_sets(summary, "intra")
    if names:
        draw = partial(training_pictures.distances_through_training, summary=summary)
        yield _Drawing("distances", (8.5, 1.0 + 2.9 * len(names)), draw, {})


def _maps(summary: SuiteSummary) -> Iterator[_Drawing]:
    """Show the texts through training, for every row and data set that has maps."""
    for place, row in enumerate(summary.rows):
        for name in summary.data_sets:
            evaluations = training_pictures.mapped_evaluations(summary, row, name)
            if evaluations:
                draw = partial(training_pictures.maps, evaluations=evaluations, metric=summary.suite.metrics[0])
                words = {"data_set": name, "row": row.name, "n": len(evaluations[0]["map"]["cluster"])}
                yield _Drawing("map", panels_size(len(evaluations)), draw, words, f"map-{name}-{place}")


_OF_KIND: dict[str, Callable[[SuiteSummary], Iterator[_Drawing]]] = {
    "strengths": _strengths,
    "sweep": _sweep,
    "bars": _bars,
    "curves": _distances,
    "stages": _stages,
    "scatter": _places,
    "maps": _maps,
    "silhouette": partial(_training, name="silhouette", metric="silhouette"),
    "pairs": lambda summary: iter(()),
}
