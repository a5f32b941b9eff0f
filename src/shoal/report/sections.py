"""The sections below the cards: how sure, what training did, known classes, stages, and how to repeat the run."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.report.charts import bar, heat_map, histogram, legend, lines
from shoal.report.contents import Contents
from shoal.report.markup import Markup, count, element, percent

_BINS = 25
_MAX_CLASSES = 60
_LOW = 0.5
_SIGNS = {
    "gain": "gain over the start (similar words in one cluster)",
    "gain_error": "its standard error",
    "quality": "quality (neighbours together beyond chance)",
    "agreement": "neighbours in one cluster",
    "size_entropy": "evenness of sizes",
    "empty_clusters": "empty clusters",
    "mean_cosine": "mean cosine",
    "effective_rank": "directions used",
}


def section(id: str, title: str, about: str | None, *parts: object) -> Markup:
    """Return a section with its heading and a sentence on it."""
    said = element("p", about, class_="muted") if about else None
    return element("section", element("h2", title), said, parts, id=id)


def table(heads: Sequence[str], rows: Sequence[Sequence[object]], numeric: Sequence[int] = ()) -> Markup:
    """Return a table; the columns in ``numeric`` are right-aligned."""

    def cells(tag: str, row: Sequence[object]) -> list[Markup]:
        scope = "col" if tag == "th" else None
        return [
            element(tag, cell, class_="n" if i in numeric else None, scope=scope, dir=None if i in numeric else "auto")
            for i, cell in enumerate(row)
        ]

    head = element("thead", element("tr", cells("th", heads)))
    body = element("tbody", [element("tr", cells("td", row)) for row in rows])
    return element("div", element("table", head, body), class_="scroll", tabindex=0, role="region", aria_label=heads[0])


def how_sure(contents: Contents, colours: NDArray[np.int64]) -> Markup:
    """Return the confidence over all texts and by cluster, least sure first."""
    sure = contents.confidence[contents.labels >= 0]
    counts, _ = np.histogram(sure, bins=_BINS, range=(0, 1))
    low = int((sure < _LOW).sum())
    rows = []
    for cluster in sorted(contents.clusters, key=lambda cluster: cluster.confidence):
        own = contents.confidence[contents.labels == cluster.id]
        if len(own):
            shade = f"c{colours[cluster.id]}"
            name = element("a", element("bdi", cluster.name), href=f"#cluster-{cluster.id}")
            meter = bar(float(own.mean()), width=120, class_=shade)
            rows.append([name, meter, f"{own.mean():.2f}", f"{np.quantile(own, 0.1):.2f}", f"{(own < _LOW).sum():,}"])
    return section(
        "sure",
        "How sure",
        f"{low:,} of {count(len(sure), 'text')} have a confidence below {_LOW}; the mean is {sure.mean():.2f}."
        if len(sure)
        else None,
        element(
            "div",
            element(
                "figure",
                element("figcaption", "Texts by confidence"),
                histogram(
                    counts.tolist(), ["0", "0.25", "0.5", "0.75", "1"], "Histogram of the confidence of all texts"
                ),
                class_="box",
            ),
            element(
                "div",
                table(["cluster", "", "mean", "lowest tenth", "below 0.5"], rows, numeric=(2, 3, 4)),
                class_="box",
            ),
            class_="grid",
        ),
    )


def training(contents: Contents) -> Markup | None:
    """Return what training did; None if nothing was trained."""
    outcome = contents.info.get("outcome") or {}
    steps = [row for row in contents.history if row.get("event") == "step"]
    evaluations = [row for row in contents.history if row.get("event") == "evaluation"]
    if not steps and not evaluations and not outcome.get("stages"):
        return None
    charts = []
    for stage in dict.fromkeys(row["stage"] for row in steps):
        series = _terms([row for row in steps if row["stage"] == stage])
        if series:
            charts.append(_figure(f"Loss, {stage}", series))
    moved = {
        stage: [
            (row["step"], row["moved"]) for row in evaluations if row["stage"] == stage and is_number(row.get("moved"))
        ]
        for stage in dict.fromkeys(row["stage"] for row in evaluations)
    }
    moved = {stage: line for stage, line in moved.items() if len(line) > 1}
    if moved:
        charts.append(_figure("Share of labels moved since the last evaluation", moved))
    start, end = outcome.get("start") or {}, outcome.get("end") or {}
    rows = [
        [meaning, _value(start.get(name)), _value(end.get(name))] for name, meaning in _SIGNS.items() if name in start
    ]
    verdict = None
    if outcome.get("rolled_back"):
        kept = "" if outcome.get("trained", True) else " Nothing of it was kept: these are the clusters of its start."
        verdict = element("p", f"Training was rolled back: {outcome.get('reason')}.{kept}", class_="box warning")
    return section(
        "training",
        "What training did",
        "Signs that need no labels, before and after. The guard undoes a training whose gain is no more than chance.",
        verdict,
        element(
            "div",
            charts,
            element("div", table(["sign", "start", "end"], rows, numeric=(1, 2)), class_="box") if rows else None,
            class_="grid",
        ),
    )


def known_classes(contents: Contents) -> Markup | None:
    """Return the scores against the known classes and how clusters and classes cross; None without classes."""
    if contents.classes is None:
        return None
    pairs = [
        (int(label), name) for label, name in zip(contents.labels, contents.classes, strict=True) if name and label >= 0
    ]
    frequent = [name for name, _ in Counter(name for _, name in pairs).most_common(_MAX_CLASSES)]
    column = {name: j for j, name in enumerate(frequent)}
    counts = np.zeros((len(contents.clusters), len(frequent)), dtype=np.int64)
    for label, name in pairs:
        if name in column:
            counts[label, column[name]] += 1
    totals = np.bincount([label for label, _ in pairs], minlength=len(contents.clusters))
    # Rows by their main class, columns likewise: a good clustering is a diagonal.
    order = sorted(range(len(contents.clusters)), key=lambda k: (int(counts[k].argmax()), -int(counts[k].max())))
    order = [k for k in order if totals[k]]
    shares = counts[order] / np.maximum(totals[order], 1)[:, None]
    names = [contents.clusters[k].name for k in order]
    titles = [
        [f"{names[i]} × {frequent[j]}: {count(int(counts[k, j]), 'text')}" for j in range(len(frequent))]
        for i, k in enumerate(order)
    ]
    rows = [
        [names[i], frequent[int(counts[k].argmax())], percent(float(shares[i].max())), f"{totals[k]:,}"]
        for i, k in enumerate(order)
    ]
    scores = [
        element("div", element("b", f"{value:.1f}"), _scored(name, contents.info)) for name, value in _scores(contents)
    ]
    left_out = len({name for _, name in pairs}) - len(frequent)
    note = f" The {count(left_out, 'rarest class', 'rarest classes')} are not in the picture." if left_out else ""
    return section(
        "classes",
        "Known classes",
        "The classes had no part in the clustering. Each row is a cluster; the darker, the more of it has that class."
        + note,
        element("div", scores, class_="scores") if scores else None,
        element(
            "figure",
            heat_map(shares.tolist(), names, frequent, titles),
            class_="box",
            tabindex=0,
            aria_label="Clusters by classes",
        ),
        element(
            "details",
            element("summary", "As a table"),
            table(["cluster", "main class", "its share", "texts"], rows, numeric=(2, 3)),
        ),
    )


def made(contents: Contents) -> Markup:
    """Return how the run was made: the command that repeats it, and the facts of ``run.json``."""
    info = contents.info
    environment = info.get("environment") or {}
    seconds = info.get("seconds")
    facts = {
        "Shoal": info.get("shoal_version"),
        "made": info.get("created"),
        "method": info.get("method"),
        "texts": f"{info.get('n_texts', len(contents.texts)):,}",
        "seed": info.get("seed"),
        "seconds": None if seconds is None else f"{seconds:.1f}",
        "source": (info.get("data") or {}).get("source"),
        "sha256 of the texts": (info.get("data") or {}).get("sha256"),
        "without a cluster": ", ".join(f"{n} {kind}" for kind, n in (info.get("dropped") or {}).items()) or None,
        **{name: _plain(value) for name, value in environment.items()},
    }
    rows = [[name, str(value)] for name, value in facts.items() if value is not None]
    parameters = [[name, _plain(value)] for name, value in (info.get("parameters") or {}).items()]
    choice = ((info.get("outcome") or {}).get("choice") or {}).get("reason")
    return section(
        "made",
        "How it was made",
        None,
        element("p", choice) if choice else None,
        element("pre", element("code", info.get("python") or command_of(info))),
        element("details", element("summary", "Facts of the run"), table(["fact", "value"], rows), class_="in-print"),
        element("details", element("summary", "All parameters"), table(["parameter", "value"], parameters))
        if parameters
        else None,
    )


def command_of(info: Mapping[str, Any]) -> str:
    """Return the command that repeats a run.

    Examples
    --------
    >>> command_of({"request": {"source": "my file.csv", "text": "body", "params": {"n_clusters": 5, "words": False}}})
    "shoal fit 'my file.csv' --text body --clusters 5 --set words=false"
    """
    data = info.get("data") or {}
    request = dict(info.get("request") or {})
    if not request:
        request = {name: data.get(f"{name}_column") for name in ("text", "id", "label")}
        request |= {"source": data.get("source", "FILE"), "method": info.get("method")}
        request["params"] = {name: value for name, value in (info.get("parameters") or {}).items() if value is not None}
    params = dict(request.pop("params", None) or {})
    parts = ["shoal fit", shlex.quote(str(request.pop("source")))]
    flags = {"n_clusters": "clusters", "random_state": "seed", "backbone": "backbone"}
    options = {**request, **{flags[name]: params.pop(name) for name in flags if name in params}}
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            parts.append(flag)
        elif isinstance(value, list | tuple):
            parts += [f"{flag} {shlex.quote(str(each))}" for each in value]
        elif value is not None and value is not False:
            parts.append(f"{flag} {shlex.quote(str(value))}")
    parts += [f"--set {shlex.quote(f'{name}={_plain(value)}')}" for name, value in params.items()]
    return " ".join(parts)


def _terms(steps: Sequence[Mapping[str, Any]]) -> dict[str, list[tuple[float, float]]]:
    """Return the terms of the loss over the steps, at most 200 points each."""
    wanted = steps[:: max(1, len(steps) // 200)]
    skipped = {"step", "epoch", "stage", "event", "seconds", "learning_rate", "lr", "tokens"}
    names = [name for name, value in wanted[0].items() if name not in skipped and is_number(value)]
    series = {name: [(row["step"], row[name]) for row in wanted if is_number(row.get(name))] for name in names}
    return {name: line for name, line in series.items() if len(line) > 1}


def _figure(title: str, series: Mapping[str, Sequence[tuple[float, float]]]) -> Markup:
    """Return a chart of lines with its title and legend."""
    last = max(x for line in series.values() for x, _ in line)
    said = "; ".join(f"{name} from {line[0][1]:.3g} to {line[-1][1]:.3g}" for name, line in series.items())
    chart = lines(series, f"{title}: {said}", ["step 0", f"{last:,.0f}"])
    return element("figure", element("figcaption", title), chart, legend(list(series)), class_="box")


def _scores(contents: Contents) -> list[tuple[str, float]]:
    """Return the scores of the run against its classes."""
    return list((contents.info.get("scores") or {}).items())


def _scored(name: str, info: Mapping[str, Any]) -> str:
    """Return the name of a score, and its value before training if that differs."""
    start = (info.get("start_scores") or {}).get(name)
    differs = start is not None and abs(start - info["scores"][name]) >= 0.05
    return f"{name.upper()}{f', {start:.1f} at the start' if differs else ''}"


def is_number(value: object) -> bool:
    """Tell whether a value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and bool(np.isfinite(value))


def _value(value: object) -> str:
    """Return a number with three digits."""
    return "" if value is None else f"{value:.3g}" if isinstance(value, int | float) else str(value)


def _plain(value: object) -> str:
    """Return a value as the command line takes it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
