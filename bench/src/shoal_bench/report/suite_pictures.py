"""Which pictures a suite gets, and the words beneath them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from shoal_bench.report import pictures, stages, training_pictures
from shoal_bench.report.page import Picture
from shoal_bench.report.pictures import panels_size
from shoal_bench.report.ranks import rank_methods
from shoal_bench.report.summary import SuiteSummary
from shoal_bench.report.training_pictures import trained_sets

# A ranking of fewer says nothing.
LEAST_METHODS, LEAST_SETS = 3, 4
SEEDS = "with the standard deviation over the seeds"
RANGE = "the mean of the seeds, and the range between them"


class _Drawing(NamedTuple):
    """A picture to be drawn: the end of its file's name, its title, what the caption says after it, and how."""

    name: str
    title: str
    caption: str
    size: tuple[float, float]
    draw: Callable[..., None]
    options: dict[str, Any]


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
        path = f"{place}/{summary.suite.name}-{drawing.name}.png"
        pictures.save(folder / path, drawing.size, partial(drawing.draw, **drawing.options))
        drawn.append(Picture(path, drawing.title, drawing.title + drawing.caption))
    return drawn


def _time_and_ranks(summary: SuiteSummary) -> Iterator[_Drawing]:
    """Show a score against time, and a critical-difference diagram, if there are methods enough to compare."""
    metric, rows, names = summary.suite.metrics[0], summary.complete_rows, summary.data_sets
    if len(summary.rows) > 1:
        caption = (
            ": left the mean of the methods that were run on every data set, right each data set with the standard "
            "deviation over the seeds; dotted, in a method's colour, its published figure. Time is encoding and fit "
            "per 1,000 texts, because rows on samples and on whole sets differ in size; a hollow mark is without "
            "encoding, whose vectors were in the cache already."
        )
        options = {"summary": summary, "metric": metric}
        title = f"{metric.upper()} against time"
        yield _Drawing("time", title, caption, (12, 4.6), pictures.score_against_time, options)
    if len(rows) >= LEAST_METHODS and len(names) >= LEAST_SETS:
        scores = [[summary.of(row, name).mean(metric) or 0.0 for row in rows] for name in names]
        ranking = rank_methods([row.name for row in rows], scores)
        caption = (
            f" over n = {ranking.n_sets} data sets, 1 is best, of the methods that were run on all of them "
            f"(Demšar 2006). Friedman's test of all being alike: p = {ranking.p_value:.2g}; a thick bar joins methods "
            "that Nemenyi's test does not tell apart at the level 0.05. The tests take the data sets as independent, "
            "and rows may differ in their sample (see below)."
        )
        size = (8.5, 1.2 + 0.16 * len(ranking.groups) + 0.3 * ((len(rows) + 1) // 2))
        title = f"Average ranks by {metric.upper()}"
        yield _Drawing("ranks", title, caption, size, pictures.critical_difference, {"ranking": ranking})


def _bars(summary: SuiteSummary) -> Iterator[_Drawing]:
    """Show the rows side by side."""
    size = 1.6 + 1.25 * max(len(summary.data_sets), 3), 0.6 + 2.3 * len(summary.suite.metrics)
    caption = f", {SEEDS}; dotted a published figure, where there is one."
    yield _Drawing("bars", "The variants side by side", caption, size, pictures.bars, {"summary": summary})


def _strengths(summary: SuiteSummary) -> Iterator[_Drawing]:
    """Show a score by strength, and cosines."""
    metric = summary.suite.metrics[0]
    caption = (
        f" (left, {SEEDS}), and how near augmented texts are to their originals before training, over all strengths "
        "(right; the triangle is the mean)."
    )
    options, size = {"summary": summary, "metric": metric}, (9, 0.8 + 2.5 * len(summary.measured_sets))
    title = f"{metric.upper()} by strength of the augmentation"
    yield _Drawing("strengths", title, caption, size, training_pictures.strengths, options)


def _sweep(summary: SuiteSummary) -> Iterator[_Drawing]:
    """Show the scores by a parameter."""
    caption = f": {summary.suite.title.lower()}; {SEEDS}."
    size = panels_size(len(summary.measured_sets) * len(summary.suite.metrics))
    options = {"summary": summary}
    yield _Drawing("sweep", "The scores by a parameter", caption, size, training_pictures.sweep, options)


def _training(summary: SuiteSummary) -> Iterator[_Drawing]:
    """Show a score through training, if the evaluations have it."""
    metric = summary.suite.metrics[0]
    names = trained_sets(summary, metric)
    if names:
        caption = (
            f", at every evaluation: {RANGE}; dotted is the published figure. Step 0 is the k-means start. Where the "
            "end was judged worse, the result is an earlier state's."
        )
        options, draw = {"summary": summary, "metric": metric}, training_pictures.score_through_training
        title = f"{metric.upper()} through training"
        yield _Drawing("training", title, caption, panels_size(len(names)), draw, options)


def _stages(summary: SuiteSummary) -> Iterator[_Drawing]:
    """Show what the training has come to after each stage."""
    measures = stages.measures_of(summary)
    if measures:
        lines = "one line per row, the mean of the data sets" if len(summary.rows) > 1 else "one line per data set"
        caption = f": {lines}; the mean of the seeds. A stage that was rolled back stands at the state that was kept."
        size, title = panels_size(len(measures)), "The start, and after each stage"
        yield _Drawing("stages", title, caption, size, stages.draw_stages, {"summary": summary})


def _places(summary: SuiteSummary) -> Iterator[_Drawing]:
    """Show where the texts lie after each stage."""
    record = stages.placed_record(summary)
    if record is not None:
        caption = (
            f": {len(record['extras']['places']['classes'])} texts of {record['cell']['data_set']} by t-SNE of their "
            f"vectors, seed {record['cell']['seed']}, coloured by true class. Places in two pictures have nothing to "
            "do with each other."
        )
        size = panels_size(len(record["stages"]), stages.PLACES_IN_A_LINE)
        title = "Texts on a plane after each stage"
        yield _Drawing("places", title, caption, size, stages.draw_places, {"record": record})


def _silhouette(summary: SuiteSummary) -> Iterator[_Drawing]:
    """Show the silhouette through training, if there was any."""
    names = trained_sets(summary, "silhouette")
    if names:
        caption = f": of the clusters found, in the space that they are in at the time; {RANGE}. No label is in it."
        options, draw = {"summary": summary, "metric": "silhouette"}, training_pictures.score_through_training
        title = "Silhouette through training"
        yield _Drawing("silhouette", title, caption, panels_size(len(names)), draw, options)


def _distances(summary: SuiteSummary) -> Iterator[_Drawing]:
    """Show the distances through training, if there was any."""
    names = trained_sets(summary, "intra")
    if names:
        caption = f": solid on the true classes, dashed on the clusters found; {RANGE}."
        size, draw = (8.5, 1.0 + 2.9 * len(names)), training_pictures.distances_through_training
        title = "Distances within and between clusters through training"
        yield _Drawing("distances", title, caption, size, draw, {"summary": summary})


def _maps(summary: SuiteSummary) -> Iterator[_Drawing]:
    """Show the texts through training, for every row and data set that has maps."""
    for place, row in enumerate(summary.rows):
        for name in summary.data_sets:
            looks = training_pictures.mapped_looks(summary, row, name)
            if looks:
                caption = (
                    f": {len(looks[0]['map']['cluster']):,} texts drawn at random, the same in every panel, placed by "
                    "t-SNE on their vectors; colour and mark are the cluster. The first panel is the k-means start."
                )
                options = {"looks": looks, "metric": summary.suite.metrics[0]}
                title = f"{name}: the texts through the training of {row.name}"
                size, draw = panels_size(len(looks)), training_pictures.maps
                yield _Drawing(f"map-{name}-{place}", title, caption, size, draw, options)


_OF_KIND: dict[str, Callable[[SuiteSummary], Iterator[_Drawing]]] = {
    "strengths": _strengths,
    "sweep": _sweep,
    "bars": _bars,
    "curves": _distances,
    "stages": _stages,
    "scatter": _places,
    "maps": _maps,
    "silhouette": _silhouette,
    "pairs": lambda summary: iter(()),
}
