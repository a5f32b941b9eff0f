"""A suite as a chapter of the page: published figures, ours, the difference, and everything that explains them."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence

from shoal_bench.data_sets import find_data_set
from shoal_bench.report.page import Block, Bullets, Command, Heading, Note, Paragraph, Strong, Table
from shoal_bench.report.remarks import remarks_on
from shoal_bench.report.stages import measures_of, pairs_table, stage_table
from shoal_bench.report.summary import BUILT_IN, Measured, SuiteSummary, backbone_of, published_of
from shoal_bench.suite import Row, suite_names

NOTHING = "-"
# As many as table 4 of DECCRL has.
SHOWN_CLUSTERS = 3
# Further scores of a record, and what their line is called.
OTHER_SCORES = {"fitted_scores": "ours, on the texts fitted", "start_scores": "ours, before training"}
NAMES = {BUILT_IN: "all-MiniLM-L6-v2, built in", "bow": "word counts", "tfidf": "TF-IDF weights"}


def one_decimal(value: float) -> str:
    """Show a score."""
    return f"{value:.1f}"


def suite_chapter(summary: SuiteSummary, pictures: Sequence[Block]) -> list[Block]:
    """Return the chapter of a suite.

    Parameters
    ----------
    summary : SuiteSummary
        The suite and its results.
    pictures : sequence of Picture
        What has been drawn of it.

    Returns
    -------
    list of Block
    """
    suite = summary.suite
    blocks: list[Block] = [Heading(2, f"{suite.title} ({suite.name})"), Paragraph(f"{suite.source}. {suite.remark}")]
    if suite.runnable:
        blocks += [Command(command_of(summary)), Paragraph(f"Tier `{summary.tier.name}`: {summary.tier.summary}.")]
    for metric in suite.metrics:
        table = score_table(summary, metric)
        if table is not None:
            blocks += [Heading(3, metric.upper()), table]
    if suite.kind == "stages" and measures_of(summary):
        blocks += [Heading(3, "After each stage"), stage_table(summary)]
    pairs = pairs_table(summary) if suite.kind == "pairs" else None
    if pairs is not None:
        blocks += [Heading(3, "Pairs"), pairs]
    blocks += [*pictures, *_topic_blocks(summary)]
    if summary.rows:
        blocks += [Heading(3, "Where we fall behind"), *_behind_blocks(summary)]
        blocks += [Heading(3, "What it took"), cost_table(summary), Bullets(_texts_lines(summary))]
    remarks = remarks_on(summary)
    if remarks:
        blocks += [Heading(3, "Remarks"), Bullets(remarks)]
    return blocks


def _topic_blocks(summary: SuiteSummary) -> list[Block]:
    """Return the topics of the largest clusters, of the first run that has any, where the suite is about topics."""
    if summary.suite.kind != "topics":
        return []
    blocks: list[Block] = []
    for row, name in summary.places:
        record = next((record for record in summary.of(row, name).records if record.get("topics")), None)
        if record is not None:
            clusters = sorted(record["topics"]["clusters"], key=lambda cluster: -int(cluster["size"]))
            rows = [
                ["" if number else cluster["name"], ", ".join(topic["words"]), "general" if topic["general"] else ""]
                for cluster in clusters[:SHOWN_CLUSTERS]
                for number, topic in enumerate(cluster["topics"])
            ]
            title = f"Topics of {row.name} on {name}, seed {record['cell']['seed']}"
            blocks += [Heading(3, title), Table(["cluster", "topic", ""], rows, n_names=3)]
    return blocks


def command_of(summary: SuiteSummary) -> str:
    """Return the command that makes the suite's results."""
    name = summary.suite.name
    file = name if name in suite_names() else f"{name}.toml"
    peers = " --peer all" if any(row.peer for row in summary.suite.rows) else ""
    return f"shoal-bench --suite {file} --tier {summary.tier.name}{peers}"


def score_table(summary: SuiteSummary, metric: str) -> Table | None:
    """Return the table of a metric, or None if it would be empty: no figure published, no row to run."""
    names = summary.data_sets
    rows = [line for row in summary.suite.rows for line in _score_lines(summary, row, metric)]
    if not summary.suite.runnable and not any(row.published for row in summary.suite.rows):
        return None
    mean = [f"mean of {len(names)}"] if len(names) > 1 else []
    return Table(["method", "", *names, *mean], rows, n_names=2)


def _score_lines(summary: SuiteSummary, row: Row, metric: str) -> list[list[str]]:
    """Return the lines of a method: published, ours, the difference, and what else was scored."""
    names = summary.data_sets
    cells = [summary.of(row, name) for name in names]
    lines = [_line("published", [published_of(row, name, metric) for name in names])]
    ours = "ours" if row.peer is None else "measured"
    words = {_word_for(cell) for cell in cells} if row.runnable else {"not yet"}
    if not any(cell.records for cell in cells) and len(words) == 1:
        lines.append([Note(f"{ours}: {words.pop()}"), *[""] * (len(names) + (len(names) > 1))])
    else:
        lines.append(_our_line(ours, cells, metric))
        lines.append(_line("difference", [summary.difference(row, name, metric) for name in names], signed))
        for which, label in OTHER_SCORES.items():
            lines.append(_line(label, [_other_mean(cell, which, metric) for cell in cells]))
    return [["" if number else row.name, *line] for number, line in enumerate(filter(None, lines))]


def _line(label: str, values: Sequence[float | None], show: Callable[[float], str] = one_decimal) -> list[str]:
    """Return a line of figures, and their mean if there are several; nothing if there is no figure at all."""
    if all(value is None for value in values):
        return []
    shown = [NOTHING if value is None else show(value) for value in values]
    return [label, *shown, *_mean_of(values, show)]


def _our_line(label: str, cells: Sequence[Measured], metric: str) -> list[str]:
    """Return ours on every data set; the number of seeds stands in front if it is the same everywhere."""
    counts = {len(cell.records) for cell in cells if cell.records}
    means = [cell.mean(metric) for cell in cells]
    figures: list[str] = []
    for cell, mean in zip(cells, means, strict=True):
        if mean is None:
            figures.append(Note(_word_for(cell)))
        else:
            spread = cell.spread(metric)
            count = f" (n = {len(cell.records)})" if len(counts) > 1 else ""
            figures.append(Strong(one_decimal(mean) + (f" ± {spread:.1f}" if spread is not None else "") + count))
    label += f", n = {counts.pop()}" if len(counts) == 1 else ""
    return [label, *figures, *_mean_of(means, lambda mean: Strong(one_decimal(mean)))]


def _word_for(cell: Measured) -> str:
    """Say why there is no figure."""
    return str(cell.troubles[-1]["status"]) if cell.troubles else "not run"


def _other_mean(cell: Measured, which: str, metric: str) -> float | None:
    """Return the mean over the seeds of one of the ``OTHER_SCORES``."""
    scores = [record[which] for record in cell.records if record.get(which)]
    return statistics.fmean(score[metric] for score in scores) if scores else None


def _mean_of(values: Sequence[float | None], show: Callable[[float], str]) -> list[str]:
    """Return the mean over several data sets, or that one of them is missing; nothing of a single one."""
    there = [value for value in values if value is not None]
    mean = show(statistics.fmean(there)) if len(there) == len(values) else NOTHING
    return [mean] if len(values) > 1 else []


def signed(value: float) -> str:
    """Show a difference.

    Examples
    --------
    >>> signed(1.26), signed(-0.5), signed(-0.04)
    ('+1.3', '-0.5', '0.0')
    """
    return f"{value:+.1f}" if round(value, 1) else "0.0"


def behind(summary: SuiteSummary, row: Row, metric: str) -> dict[str, float]:
    """Return how far a row is beneath the published figures, the worst first; what rounds to nothing is not beneath."""
    differences = {name: summary.difference(row, name, metric) for name in summary.data_sets}
    beneath = {name: value for name, value in differences.items() if value is not None and round(value, 1) < 0}
    return dict(sorted(beneath.items(), key=lambda item: item[1]))


def _behind_blocks(summary: SuiteSummary) -> list[Block]:
    """List the rows that are beneath their paper's figures, by how much, and why as far as is known."""
    items = []
    for row in summary.rows:
        parts = []
        for metric in summary.suite.metrics:
            compared = sum(summary.difference(row, name, metric) is not None for name in summary.data_sets)
            beneath = behind(summary, row, metric)
            if beneath:
                by = ", ".join(f"{name} {signed(value)}" for name, value in beneath.items())
                parts.append(f"{metric.upper()} on {len(beneath)} of {compared} ({by})")
        if parts:
            why = f" Why: {row.why_behind.strip()}" if row.why_behind else " Why is not known."
            items.append(f"{row.name}: beneath the published {'; '.join(parts)}.{why}")
    if items:
        return [Bullets(items)]
    return [Paragraph("No figure of ours is beneath a published one here.")]


def cost_table(summary: SuiteSummary) -> Table:
    """Return backbones, seconds and memory of the measured rows, as means over data sets and seeds."""
    rows = []
    for row in summary.rows:
        cells = [(name, summary.of(row, name)) for name in summary.data_sets if summary.of(row, name).records]
        backbone = backbone_of(cells[0][1].records[0])
        encoding = [summary.encode_seconds(row, name) for name, _ in cells]
        rows.append(
            [
                row.name,
                NAMES.get(backbone, backbone),
                row.published_backbone or NOTHING,
                _cost(cell.average("seconds") for _, cell in cells),
                _cost(encoding),
                _cost((cell.average("peak_memory_mb") for _, cell in cells), least=0),
            ]
        )
    columns = ["method", "backbone here", "published backbone", "fit, seconds", "encoding, seconds", "peak memory, MB"]
    return Table(columns, rows, n_names=3)


def _cost(values: Iterable[float | None], least: float = 100) -> str:
    """Show a mean, from ``least`` on without decimals; encoding within the fit, or not needed, has none."""
    there = [value for value in values if value is not None]
    if not there:
        return NOTHING
    mean = statistics.fmean(there)
    return f"{mean:,.0f}" if mean >= least else f"{mean:.1f}"


def _texts_lines(summary: SuiteSummary) -> list[str]:
    """Say how many texts each row clustered; rows with the same numbers share a line."""
    groups: dict[str, list[str]] = {}
    for row in summary.rows:
        parts = []
        for name in summary.data_sets:
            records = summary.of(row, name).records
            if records:
                whole = "all " if records[0]["cell"]["n_texts"] is None else ""
                of = "" if whole else f" of {find_data_set(name).n_texts:,}"
                parts.append(f"{name} {whole}{records[0]['n_texts']:,}{of}")
        groups.setdefault(", ".join(parts), []).append(row.name)
    return [f"Texts ({'; '.join(names)}): {texts}." for texts, names in groups.items()]
