"""Which pictures a suite gets, and the words beneath them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from shoal_bench.report import pictures, stages, training_pictures
from shoal_bench.report.page import Picture
from shoal_bench.report.ranks import rank_methods
from shoal_bench.report.summary import SuiteSummary

# A ranking of fewer says nothing.
LEAST_METHODS, LEAST_SETS = 3, 4


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
    artist = _Artist(summary, folder, place)
    if summary.suite.kind == "strengths":
        artist.strengths()
    elif summary.suite.kind == "sweep":
        artist.sweep()
    elif summary.suite.kind == "bars":
        artist.bars()
    elif summary.suite.kind == "curves":
        artist.distances()
    elif summary.suite.kind == "stages":
        artist.stages()
    elif summary.suite.kind == "scatter":
        artist.places()
    elif summary.suite.kind == "maps":
        artist.maps()
    elif summary.suite.kind == "silhouette":
        artist.silhouette()
    elif summary.suite.kind != "pairs":
        artist.time()
        artist.ranks()
    keys = {record["key"] for cell in summary.measured.values() for record in cell.records if record.get("trace")}
    if summary.suite.kind not in ("strengths", "sweep") and not keys <= shown:
        artist.training()
        shown |= keys
    return artist.drawn


class _Artist:
    """Draws the pictures of one suite and keeps what goes onto the page."""

    def __init__(self, summary: SuiteSummary, folder: Path, place: str) -> None:
        self.summary = summary
        self.folder = folder
        self.place = place
        self.metric = summary.suite.metrics[0]
        self.drawn: list[Picture] = []

    def _add(self, name: str, title: str, caption: str, size: tuple[float, float], draw: partial[None]) -> None:
        """Draw one."""
        path = f"{self.place}/{self.summary.suite.name}-{name}.png"
        pictures.save(self.folder / path, size, draw)
        self.drawn.append(Picture(path, title, caption))

    def time(self) -> None:
        """Draw a score against time, if there are methods to compare."""
        if len(self.summary.rows) < 2:
            return
        title = f"{self.metric.upper()} against time"
        caption = (
            f"{title}: left the mean of the methods that were run on every data set, right each data set with the "
            "standard deviation over the seeds; dotted, in a method's colour, its published figure. Time is encoding "
            "and fit for 1,000 texts, because rows on samples and on whole sets differ in size; a hollow mark is "
            "without encoding, whose vectors were in the cache already."
        )
        draw = partial(pictures.score_against_time, summary=self.summary, metric=self.metric)
        self._add("time", title, caption, (12, 4.6), draw)

    def ranks(self) -> None:
        """Draw a critical-difference diagram, if there is enough to rank."""
        rows, names = self.summary.complete_rows, self.summary.data_sets
        if len(rows) < LEAST_METHODS or len(names) < LEAST_SETS:
            return
        scores = [[self.summary.of(row, name).mean(self.metric) or 0.0 for row in rows] for name in names]
        ranking = rank_methods([row.name for row in rows], scores)
        title = f"Average ranks by {self.metric.upper()}"
        caption = (
            f"{title} over n = {ranking.n_sets} data sets, 1 is best, of the methods that were run on all of them "
            f"(Demšar 2006). Friedman's test of all being alike: p = {ranking.p_value:.2g}; a thick bar joins methods "
            "that Nemenyi's test does not tell apart at the level 0.05. The tests take the data sets as independent, "
            "and rows may differ in their sample (see below)."
        )
        size = (8.5, 1.2 + 0.16 * len(ranking.groups) + 0.3 * ((len(rows) + 1) // 2))
        self._add("ranks", title, caption, size, partial(pictures.critical_difference, ranking=ranking))

    def bars(self) -> None:
        """Draw the rows side by side."""
        title = "The variants side by side"
        caption = f"{title}, with the standard deviation over the seeds; dotted a published figure, where there is one."
        width = 1.6 + 1.25 * max(len(self.summary.data_sets), 3)
        size = (width, 0.6 + 2.3 * len(self.summary.suite.metrics))
        self._add("bars", title, caption, size, partial(pictures.bars, summary=self.summary))

    def strengths(self) -> None:
        """Draw a score by strength, and cosines."""
        title = f"{self.metric.upper()} by strength of the augmentation"
        caption = (
            f"Left: {title}, with the standard deviation over the seeds. Right: how near augmented texts are to their "
            "originals before training, over all strengths; the triangle is the mean."
        )
        size = (9, 0.8 + 2.5 * len(self.summary.measured_sets))
        draw = partial(training_pictures.strengths, summary=self.summary, metric=self.metric)
        self._add("strengths", title, caption, size, draw)

    def sweep(self) -> None:
        """Draw the scores by a parameter."""
        title = "The scores by a parameter"
        caption = f"{title}: {self.summary.suite.title.lower()}; with the standard deviation over the seeds."
        n_panels = len(self.summary.measured_sets) * len(self.summary.suite.metrics)
        draw = partial(training_pictures.sweep, summary=self.summary)
        self._add("sweep", title, caption, pictures.panels_size(n_panels), draw)

    def training(self) -> None:
        """Draw a score through training, if the looks at the corpus have it."""
        if not training_pictures.trained_sets(self.summary, self.metric):
            return
        title = f"{self.metric.upper()} through training"
        caption = (
            f"{title}, at every look at the corpus: the mean of the seeds, and the range between them; dotted is the "
            "published figure. Step 0 is the k-means start. Where the end was judged worse, the result is an earlier "
            "state's."
        )
        size = pictures.panels_size(len(training_pictures.trained_sets(self.summary, self.metric)))
        draw = partial(training_pictures.score_through_training, summary=self.summary, metric=self.metric)
        self._add("training", title, caption, size, draw)

    def stages(self) -> None:
        """Draw what the training has come to after each stage."""
        measures = stages.measures_of(self.summary)
        if not measures:
            return
        title = "The start, and after each stage"
        lines = "a line a row, the mean of the data sets" if len(self.summary.rows) > 1 else "a line a data set"
        caption = (
            f"{title}: {lines}; the mean of the seeds. A stage that was rolled back stands at the state that was kept."
        )
        draw = partial(stages.draw_stages, summary=self.summary)
        self._add("stages", title, caption, pictures.panels_size(len(measures)), draw)

    def places(self) -> None:
        """Draw where the texts lie after each stage."""
        record = stages.placed_record(self.summary)
        if record is None:
            return
        title = "Texts on a plane after each stage"
        shown = len(record["extras"]["places"]["classes"])
        caption = (
            f"{title}: {shown} texts of {record['cell']['data_set']} by t-SNE of their vectors, seed "
            f"{record['cell']['seed']}, coloured by true class. Places in two pictures have nothing to do with each "
            "other."
        )
        size = pictures.panels_size(len(record["stages"]), stages.PLACES_IN_A_LINE)
        self._add("places", title, caption, size, partial(stages.draw_places, record=record))

    def silhouette(self) -> None:
        """Draw the silhouette through training, if there was any."""
        names = training_pictures.trained_sets(self.summary, "silhouette")
        if not names:
            return
        title = "Silhouette through training"
        caption = (
            f"{title}: of the clusters found, in the space that they are in at the time; the mean of the seeds, and "
            "the range between them. No label is in it."
        )
        draw = partial(training_pictures.score_through_training, summary=self.summary, metric="silhouette")
        self._add("silhouette", title, caption, pictures.panels_size(len(names)), draw)

    def distances(self) -> None:
        """Draw the distances through training, if there was any."""
        if not training_pictures.trained_rows(self.summary, "intra"):
            return
        title = "Distances within and between clusters through training"
        caption = (
            f"{title}: solid on the true classes, dashed on the clusters found; the mean of the seeds, and the range "
            "between them."
        )
        size = (8.5, 1.0 + 2.9 * len(training_pictures.trained_sets(self.summary, "intra")))
        draw = partial(training_pictures.distances_through_training, summary=self.summary)
        self._add("distances", title, caption, size, draw)

    def maps(self) -> None:
        """Draw the texts through training, for every row and data set that has maps."""
        for place, row in enumerate(self.summary.rows):
            for name in self.summary.data_sets:
                looks = training_pictures.mapped_looks(self.summary, row, name)
                if looks:
                    self._map(f"map-{name}-{place}", f"{name}: the texts through the training of {row.name}", looks)

    def _map(self, file: str, title: str, looks: Sequence[Mapping[str, Any]]) -> None:
        """Draw the texts of one training."""
        caption = (
            f"{title}: {len(looks[0]['map']['cluster']):,} texts drawn at random, the same in every panel, placed by "
            "t-SNE on their vectors; colour and mark are the cluster. The first panel is the k-means start."
        )
        draw = partial(training_pictures.maps, looks=looks, metric=self.metric)
        self._add(file, title, caption, pictures.panels_size(len(looks)), draw)
