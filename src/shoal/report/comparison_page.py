"""The page that compares two runs: a picture of how texts flowed between clusters, and what became of each."""

from __future__ import annotations

import numpy as np

from shoal.report.colours import choose_colours
from shoal.report.comparison import Change, Comparison
from shoal.report.markup import Markup, count, element, join, percent, shortened
from shoal.report.page import header, page
from shoal.report.report import Report
from shoal.report.sections import section, table

_WIDTH, _NAMES, _BAR, _GAP = 1100, 300, 14, 6
# Thinner flows are left out of the picture.
_THIN = 0.01
_MEANING = {
    "stayed": "most of its texts are in one new cluster, and most of that is from it",
    "split": "new clusters are mostly from it",
    "merged": "most of each is in one new cluster",
    "gone": "its texts are scattered",
    "new": "no old cluster makes up most of it",
}


def compare_report(comparison: Comparison, before: str, after: str) -> Report:
    """Return the page that compares two runs, which are called ``before`` and ``after``."""
    kinds = [change.kind for change in comparison.changes]
    said = ", ".join(f"{kinds.count(kind)} {kind}" for kind in _MEANING if kind in kinds)
    scores = [element("div", element("b", f"{value:.1f}"), name) for name, value in comparison.agreement.items()]
    only = (comparison.n_before - comparison.n_shared, comparison.n_after - comparison.n_shared)
    note = f" {only[0]:,} texts are only in {before}, {only[1]:,} only in {after}." if any(only) else ""
    body = join(
        header(
            f"{before} → {after}",
            f"{count(comparison.n_shared, 'text')}: {said}",
            {"flow": "Flow", "changes": "Changes"},
        ),
        element(
            "main",
            section(
                "flow",
                "Flow",
                "Each band is the texts that were in the cluster on the left and are in the one on the right; flows of "
                f"less than a hundredth of both are left out.{note}",
                element("div", scores, class_="scores"),
                element("figure", flow_picture(comparison), class_="box", tabindex=0, aria_label="Flow of texts"),
            ),
            section(
                "changes",
                "Changes",
                "; ".join(f"{kind}: {meaning}" for kind, meaning in _MEANING.items()) + ".",
                element(
                    "div",
                    table(
                        ["change", "before", "after", "texts", "in both"],
                        [_row(comparison, each) for each in comparison.changes],
                        (3, 4),
                    ),
                    class_="box",
                ),
            ),
        ),
    )
    return Report(page(f"{before} → {after}", body))


def flow_picture(comparison: Comparison) -> Markup:
    """Return the flow of texts between clusters as SVG."""
    counts = comparison.counts
    left = sorted(
        np.flatnonzero(counts.sum(axis=1)).tolist(), key=lambda i: (int(counts[i].argmax()), -int(counts[i].sum()))
    )
    place = {i: number for number, i in enumerate(left)}
    # New clusters stand where their texts come from: fewer bands cross.
    right = sorted(
        np.flatnonzero(counts.sum(axis=0)).tolist(),
        key=lambda j: float(np.average([place[i] for i in left], weights=counts[left, j])),
    )
    height = max(320, 22 * max(len(left), len(right)))
    scale = (height - _GAP * (max(len(left), len(right)) - 1)) / counts.sum()
    tops = [
        _tops([int(counts[i].sum()) for i in left], scale, height),
        _tops([int(counts[:, j].sum()) for j in right], scale, height),
    ]
    start = dict(zip(left, tops[0], strict=True))
    end = dict(zip(right, tops[1], strict=True))
    colours = choose_colours((counts @ counts.T) * (1 - np.eye(len(counts), dtype=np.int64)))
    bands, at_left, at_right = [], dict(start), dict(end)
    x0, x1 = _NAMES + _BAR, _WIDTH - _NAMES - _BAR
    for i in left:
        for j in right:
            n = int(counts[i, j])
            thick = n * scale
            y0, y1 = at_left[i], at_right[j]
            at_left[i] += thick
            at_right[j] += thick
            if not n or n < _THIN * max(counts[i].sum(), counts[:, j].sum()):
                continue
            middle = (x0 + x1) / 2
            path = (
                f"M{x0} {y0:.1f}C{middle} {y0:.1f} {middle} {y1:.1f} {x1} {y1:.1f}V{y1 + thick:.1f}"
                f"C{middle} {y1 + thick:.1f} {middle} {y0 + thick:.1f} {x0} {y0 + thick:.1f}Z"
            )
            title = f"{comparison.before[i].name} → {comparison.after[j].name}: {count(n, 'text')}"
            bands.append(element("path", element("title", title), d=path, class_=f"flow c{colours[i]}"))
    names = [
        *(
            _bar(comparison.before[i].name, _NAMES, start[i], counts[i].sum() * scale, f"own c{colours[i]}", "end")
            for i in left
        ),
        *(_bar(comparison.after[j].name, x1, end[j], counts[:, j].sum() * scale, "ink", "start") for j in right),
    ]
    return element(
        "svg",
        bands,
        names,
        viewBox=f"0 0 {_WIDTH} {height}",
        class_="chart wide",
        width=_WIDTH,
        height=height,
        role="img",
        aria_label="Flow of texts between the clusters of both runs; the table below says the same",
    )


def _tops(sizes: list[int], scale: float, height: float) -> list[float]:
    """Return where each bar begins, all of them in the middle of the picture."""
    gap = (height - sum(sizes) * scale) / max(1, len(sizes) - 1) if len(sizes) > 1 else 0.0
    return [number * gap + scale * sum(sizes[:number]) for number in range(len(sizes))]


def _bar(name: str, x: float, y: float, tall: float, kind: str, anchor: str) -> Markup:
    """Return a cluster's bar with its name beside it."""
    at = x - 8 if anchor == "end" else x + _BAR + 8
    label = element(
        "text",
        element("title", name),
        shortened(name, 40),
        x=at,
        y=round(y + tall / 2 + 4, 1),
        text_anchor=anchor,
        class_="ink",
    )
    return join(
        element("rect", x=x, y=round(y, 1), width=_BAR, height=round(max(tall, 1.0), 1), rx=2, class_=kind), label
    )


def _row(comparison: Comparison, change: Change) -> list[object]:
    """Return the line of a change in the table."""
    before = [element("div", element("bdi", comparison.before[k].name)) for k in change.before]
    after = [element("div", element("bdi", comparison.after[k].name)) for k in change.after]
    return [change.kind, before, after, f"{change.n_texts:,}", percent(change.share)]
