"""``write_pages``: results in, ``benchmarks.md`` and its pictures out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from shoal.cache import write_atomically
from shoal.errors import DataError
from shoal_bench.report.drawing import Album
from shoal_bench.report.page import NOTHING, PROSE, bullets, command, inline, section, table
from shoal_bench.report.pictures import draw_pictures
from shoal_bench.report.speed_chapter import speed_chapter
from shoal_bench.report.suite_chapter import suite_chapter
from shoal_bench.report.summary import SuiteSummary, summarise
from shoal_bench.results import OK, Record, Results
from shoal_bench.suite import load_suite, suite_names


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
    records, known = found.records(), found.by_key()
    if not records:
        raise DataError(f"there are no results in {results}; run: shoal-bench --suite sccl-table1 --tier quick")
    summaries = _in_reading_order([summarise(load_suite(name), known) for name in suites or suite_names()])
    album = Album(folder)
    made_by = inline(f"writes this page from `{results.name}`; the command in each chapter makes its results.")
    words = {name: inline(text) for name, text in PROSE["page"].items()}
    introduction = words["introduction"], words["missing"], command("shoal-bench report"), made_by
    blocks = section(1, "Benchmarks", *introduction, _overview(summaries))
    for summary in summaries:
        blocks += suite_chapter(summary, draw_pictures(summary, album))
    blocks += speed_chapter(records, album)
    blocks += section(2, "A record", words["record"]) + section(2, "Machine and versions", _provenance(records))
    page = folder / "benchmarks.md"
    write_atomically(page, ("\n\n".join(blocks) + "\n").encode())
    return [page, *album.files]


def _in_reading_order(summaries: Sequence[SuiteSummary]) -> list[SuiteSummary]:
    """Put suites with results first, papers with most results before others, tables before figures."""
    results: Counter[str] = Counter()
    for summary in summaries:
        results[summary.suite.paper] += sum(len(cell.records) for cell in summary.measured.values())

    def place(summary: SuiteSummary) -> tuple[Any, ...]:
        suite = summary.suite
        return not summary.rows, -results[suite.paper], suite.paper, suite.kind != "table", suite.name

    return sorted(summaries, key=place)


def _overview(summaries: Sequence[SuiteSummary]) -> str:
    """Return one line per suite: what is measured, and how it stands to the published figures."""
    lines = []
    for summary in summaries:
        suite = summary.suite
        found = [summary.beneath(row, metric) for row in summary.rows for metric in suite.metrics]
        n_compared = sum(compared for _, compared in found)
        share = f"{sum(len(beneath) for beneath, _ in found)} of {n_compared}" if n_compared else NOTHING
        tier = summary.tier.name if summary.rows else NOTHING
        lines.append([suite.name, suite.source, tier, f"{len(summary.rows)} of {len(suite.rows)}", share])
    return table(["suite", "from", "tier", "rows measured", "figures beneath the published"], lines, n_names=3)


def _provenance(records: Sequence[Record]) -> str:
    """Say on which machines, with which versions and when the results came about."""
    good = [record for record in records if record["status"] == OK]
    machines = ("{cpu}, {cores} cores, {memory_gb} GB, {system}".format(**record["machine"]) for record in good)
    names = sorted({name for record in good for name in record["versions"]})
    versions = (f"{name} {_several(record['versions'].get(name) for record in good)}" for name in names)
    days = sorted(record["when"][:10] for record in good)
    items = [
        f"Machine: {_several(machines, '; ')}.",
        f"Threads of a process: {_several(str(record['threads']) for record in good)}.",
        f"Versions: {'; '.join(versions)}.",
    ]
    return bullets([*items, *(f"{len(good)} results, measured from {day} to {days[-1]}." for day in days[:1])])


def _several(values: Iterable[str | None], comma: str = ", ") -> str:
    """Return the distinct values in order."""
    return comma.join(sorted({value for value in values if value is not None}))
