"""A suite as a chapter of the page: published figures, ours, the difference, and everything that explains them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from shoal_bench.data_sets import find_data_set
from shoal_bench.report.page import NOTHING, Note, Strong, bullets, command, figure, inline, section, signed, table
from shoal_bench.report.remarks import UNTRAINED, remarks_on, untrained
from shoal_bench.report.stages import pairs_table, stage_table
from shoal_bench.report.summary import BUILT_IN, Measured, SuiteSummary, backbone_of, mean, published_of
from shoal_bench.suite import Row, suite_names

# As many as table 4 of DECCRL has.
SHOWN_CLUSTERS = 3
# Further scores of a record, and what their line is called.
OTHER_SCORES = {
    "fitted_scores": "ours, on the texts fitted",
    "start_scores": "ours, before training",
    "undone_scores": "ours, at the end that the guard undid",
}
NAMES = {BUILT_IN: "all-MiniLM-L6-v2, built in", "bow": "word counts", "tfidf": "TF-IDF weights"}


def suite_chapter(summary: SuiteSummary, pictures: Sequence[str]) -> list[str]:
    """Return the chapter of a suite.

    Parameters
    ----------
    summary : SuiteSummary
        The suite and its results.
    pictures : sequence of str
        The blocks that show what has been drawn of it.

    Returns
    -------
    list of str
    """
    suite, tier = summary.suite, summary.tier
    blocks = section(2, f"{suite.title} ({suite.name})", inline(f"{suite.source}. {suite.remark}"))
    if suite.runnable:
        file = suite.name if suite.name in suite_names() else f"{suite.name}.toml"
        peers = " --peer all" if any(row.peer for row in suite.rows) else ""
        blocks.append(command(f"shoal-bench --suite {file} --tier {tier.name}{peers}"))
        blocks.append(inline(f"Tier `{tier.name}`: {tier.summary}."))
    if suite.runnable or any(row.published for row in suite.rows):
        for metric in suite.metrics:
            blocks += section(3, metric_name(metric), score_table(summary, metric))
    if suite.kind == "stages":
        blocks += section(3, "After each stage", stage_table(summary))
    if suite.kind == "pairs":
        blocks += section(3, "Pairs", pairs_table(summary))
    blocks += pictures
    if suite.kind == "topics":
        blocks += _topic_blocks(summary)
    if summary.rows:
        blocks += section(3, "Where we fall behind", _beneath_words(summary))
        blocks += section(3, "What it took", cost_table(summary), bullets(_texts_lines(summary)))
    return blocks + section(3, "Remarks", bullets(remarks_on(summary)))


def _topic_blocks(summary: SuiteSummary) -> list[str]:
    """Return the topics of the largest clusters, of the first run that has any."""
    blocks = []
    for row, name, (record, *_) in summary.having("topics"):
        clusters = sorted(record["topics"]["clusters"], key=lambda cluster: -int(cluster["size"]))
        lines = [
            ["" if number else cluster["name"], ", ".join(topic["words"]), "general" if topic["general"] else ""]
            for cluster in clusters[:SHOWN_CLUSTERS]
            for number, topic in enumerate(cluster["topics"])
        ]
        title = f"Topics of {row.name} on {name}, seed {record['cell']['seed']}"
        blocks += section(3, title, table(["cluster", "topic", ""], lines, n_names=3))
    return blocks


def metric_name(metric: str) -> str:
    """Name a metric for people.

    Examples
    --------
    >>> metric_name("acc"), metric_name("nmi_geometric")
    ('ACC', 'NMI, geometric')
    """
    name, _, kind = metric.partition("_")
    return f"{name.upper()}, {kind}" if kind else name.upper()


def score_table(summary: SuiteSummary, metric: str) -> str:
    """Return the table of a metric."""
    names = summary.data_sets
    lines = [line for row in summary.suite.rows for line in _score_lines(summary, row, metric)]
    several = [f"mean of {len(names)}"] if len(names) > 1 else []
    return table(["method", "", *names, *several], lines, n_names=2)


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
            lines.append(_line(label, [cell.mean(metric, which) for cell in cells]))
        for size in sorted({size for cell in cells for size in cell.samples}):
            samples = [cell if cell.other_size == size else cell.samples.get(size, Measured()) for cell in cells]
            lines.append(_line(f"{ours}, {size:,} texts", [cell.mean(metric) for cell in samples]))
    return [["" if number else row.name, *line] for number, line in enumerate(filter(None, lines))]


def _line(label: str, values: Sequence[float | None], show: Callable[[float | None], str] = figure) -> list[str]:
    """Return a line of figures, and their mean if there are several; nothing if there is no figure at all."""
    if all(value is None for value in values):
        return []
    return [label, *map(show, values), *_mean_of(values, show)]


def _mean_of(values: Sequence[float | None], show: Callable[[float | None], str]) -> list[str]:
    """Return the mean over several data sets, or that one of them is missing; nothing of a single one."""
    return [show(None if None in values else mean(values))] if len(values) > 1 else []


def _our_line(label: str, cells: Sequence[Measured], metric: str) -> list[str]:
    """Return ours on every data set; the number of seeds stands in front if it is the same everywhere."""
    counts = {len(cell.records) for cell in cells if cell.records}
    means = [cell.mean(metric) for cell in cells]
    figures: list[str] = []
    for cell, own in zip(cells, means, strict=True):
        spread = cell.spread(metric)
        deviation = "" if spread is None else f" ± {spread:.1f}"
        count = f" (n = {len(cell.records)})" if len(counts) > 1 else ""
        size = "" if cell.other_size is None else f" ({cell.other_size:,} texts)"
        start = f" {UNTRAINED}" if cell.records and all(map(untrained, cell.records)) else ""
        figures.append(Note(_word_for(cell)) if own is None else Strong(figure(own) + deviation + count + size + start))
    label += f", n = {counts.pop()}" if len(counts) == 1 else ""
    return [label, *figures, *_mean_of(means, lambda value: figure(value) if value is None else Strong(figure(value)))]


def _word_for(cell: Measured) -> str:
    """Say why there is no figure."""
    return str(cell.troubles[-1]["status"]) if cell.troubles else "not run"


def _beneath_words(summary: SuiteSummary) -> str:
    """List the rows that are beneath their paper's figures, by how much, and why as far as is known."""
    items = []
    for row in summary.rows:
        parts = []
        for metric in summary.suite.metrics:
            beneath, n_compared = summary.beneath(row, metric)
            if beneath:
                by = ", ".join(f"{name} {signed(value)}" for name, value in beneath.items())
                parts.append(f"{metric_name(metric)} on {len(beneath)} of {n_compared} ({by})")
        if parts:
            why = f" Why: {row.why_behind.strip()}" if row.why_behind else " Why is not known."
            items.append(f"{row.name}: beneath the published {'; '.join(parts)}.{why}")
    return bullets(items) or "No figure of ours is beneath a published one here."


def cost_table(summary: SuiteSummary) -> str:
    """Return backbones, seconds and memory of the measured rows, as means over data sets and seeds."""
    lines = []
    for row in summary.rows:
        cells = {name: cell for name in summary.data_sets if (cell := summary.of(row, name)).records}
        backbone = backbone_of(next(iter(cells.values())).records[0])
        names = [row.name, NAMES.get(backbone, backbone), row.published_backbone or NOTHING]
        costs = [
            _cost(cell.average("seconds") for cell in cells.values()),
            _cost(summary.encode_seconds(row, name) for name in cells),
            _cost((cell.average("peak_memory_mb") for cell in cells.values()), least=0),
        ]
        lines.append([*names, *costs])
    columns = ["method", "backbone here", "published backbone", "fit, seconds", "encoding, seconds", "peak memory, MB"]
    return table(columns, lines, n_names=3)


def _cost(values: Iterable[float | None], least: float = 100) -> str:
    """Show a mean, from ``least`` on without decimals; encoding within the fit, or not needed, has none."""
    cost = mean(values)
    return figure(cost, 0 if cost is not None and cost >= least else 1)


def _texts_lines(summary: SuiteSummary) -> list[str]:
    """Say how many texts each row clustered; rows with the same numbers share a line."""
    groups: dict[str, list[str]] = {}
    for row in summary.rows:
        parts = []
        for name in summary.data_sets:
            for record in summary.of(row, name).records[:1]:
                whole = record["cell"]["n_texts"] is None
                of = "" if whole else f" of {find_data_set(name).n_texts:,}"
                parts.append(f"{name} {'all ' if whole else ''}{record['n_texts']:,}{of}")
        groups.setdefault(", ".join(parts), []).append(row.name)
    return [f"Texts ({'; '.join(names)}): {texts}." for texts, names in groups.items()]
