"""``write_pages``: results in, ``benchmarks.md`` and its pictures out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from shoal.cache import write_atomically
from shoal.errors import DataError
from shoal_bench.report.page import PROSE, Block, Bullets, Command, Heading, Paragraph, Picture, Table, to_markdown
from shoal_bench.report.speed_chapter import speed_chapter
from shoal_bench.report.suite_chapter import behind, suite_chapter
from shoal_bench.report.suite_pictures import draw_pictures
from shoal_bench.report.summary import SuiteSummary, summarise
from shoal_bench.results import OK, Record, Results
from shoal_bench.suite import load_suite, suite_names

PICTURES = "pictures"


def write_pages(results: Path, folder: Path, suites: Sequence[str] = ()) -> list[Path]:
    """Write the pages of the bench.

    The same results give the same bytes.

    Parameters
    ----------
    results : Path
        The jsonl file of ``shoal-bench``.
    folder : Path
        Where ``benchmarks.md`` goes; the pictures go to ``pictures`` in it.
    suites : sequence of str, optional
        Names or files of the suites to show; by default all that come with Shoal.

    Returns
    -------
    list of Path
        The files written, the page first.

    Raises
    ------
    DataError
        If there are no results.
    """
    found = Results(results)
    records = found.records()
    if not records:
        raise DataError(f"there are no results in {results}; run: shoal-bench --suite sccl-table1 --tier quick")
    known = found.by_key()
    summaries = [summarise(load_suite(name), known) for name in suites or suite_names()]
    summaries.sort(key=_reading_order(summaries))
    blocks: list[Block] = [
        Heading(1, "Benchmarks"),
        Paragraph(PROSE["page"]["introduction"]),
        Paragraph(PROSE["page"]["missing"]),
        Command("shoal-bench report"),
        Paragraph(f"writes this page from `{results.name}`; the command in each chapter makes its results."),
        _overview(summaries),
    ]
    shown: set[str] = set()
    for summary in summaries:
        blocks += suite_chapter(summary, draw_pictures(summary, folder, PICTURES, shown))
    blocks += speed_chapter(records, folder, PICTURES)
    blocks += [
        Heading(2, "A record"),
        Paragraph(PROSE["page"]["record"]),
        Heading(2, "Machine and versions"),
        _provenance(records),
    ]
    page = folder / "benchmarks.md"
    write_atomically(page, to_markdown(blocks).encode())
    return [page, *(folder / block.path for block in blocks if isinstance(block, Picture))]


def _reading_order(summaries: Sequence[SuiteSummary]) -> Callable[[SuiteSummary], tuple[Any, ...]]:
    """Put suites with results first, papers with most results before others, tables before figures."""
    results: Counter[str] = Counter()
    for summary in summaries:
        results[summary.suite.paper] += sum(len(cell.records) for cell in summary.measured.values())

    def place(summary: SuiteSummary) -> tuple[Any, ...]:
        suite = summary.suite
        return not summary.rows, -results[suite.paper], suite.paper, suite.kind != "table", suite.name

    return place


def _overview(summaries: Sequence[SuiteSummary]) -> Table:
    """Return one line per suite: what is measured, and how it stands to the published figures."""
    rows = []
    for summary in summaries:
        suite = summary.suite
        compared = below = 0
        for row in summary.rows:
            for metric in suite.metrics:
                compared += sum(summary.difference(row, name, metric) is not None for name in summary.data_sets)
                below += len(behind(summary, row, metric))
        tier, share = summary.tier.name if summary.rows else "-", f"{below} of {compared}" if compared else "-"
        rows.append([suite.name, suite.source, tier, f"{len(summary.rows)} of {len(suite.rows)}", share])
    columns = ["suite", "from", "tier", "rows measured", "figures beneath the published"]
    return Table(columns, rows, n_names=3)


def _provenance(records: Sequence[Record]) -> Bullets:
    """Say on which machines, with which versions and when the results came about."""
    good = [record for record in records if record["status"] == OK]
    machines = (
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gb']} GB, {machine['system']}"
        for machine in (record["machine"] for record in good)
    )
    names = sorted({name for record in good for name in record["versions"]})
    versions = (f"{name} {_several(record['versions'].get(name) for record in good)}" for name in names)
    days = sorted(record["when"][:10] for record in good)
    items = [
        f"Machine: {_several(machines, '; ')}.",
        f"Threads of a process: {_several(str(record['threads']) for record in good)}.",
        f"Versions: {'; '.join(versions)}.",
    ]
    if days:
        items.append(f"{len(good)} results, measured from {days[0]} to {days[-1]}.")
    return Bullets(items)


def _several(values: Iterable[str | None], comma: str = ", ") -> str:
    """Return the distinct values in order."""
    return comma.join(sorted({value for value in values if value is not None}))
