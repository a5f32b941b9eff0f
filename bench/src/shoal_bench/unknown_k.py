"""What was found without K, from the results: the number, the scores, and what confidence is worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal.metrics import rises
from shoal_bench.cell import changed_defaults
from shoal_bench.data_sets import DATA_SETS, find_data_set
from shoal_bench.results import OK, Record

OURS, GIVEN, PEER = "K unknown", "K given", "BERTopic"
# The short-text sets that papers compare on.
SHORT = (
    "agnews",
    "searchsnippets",
    "stackoverflow",
    "biomedical",
    "googlenews_ts",
    "googlenews_t",
    "googlenews_s",
    "tweet",
)
# What fifths of confidence are scored by.
FIFTHS = ("accuracy", "purity")
# A level is right if it differs from the number of classes by this factor at the most.
NEAR = 1.5


def kind_of(record: Record) -> str | None:
    """Return which of the compared fits a record is; None if it is another, of a sample, or of other defaults."""
    cell = record.get("cell") or {}
    if not cell or record["status"] != OK or cell["n_texts"] is not None or cell.get("train_share"):
        return None
    if changed_defaults(record):
        return None
    if cell["peer"] == "bertopic":
        found = record.get("settings") or {}
        return PEER if found.get("topics", "found") == "found" and found.get("outliers", "kept") == "kept" else None
    if cell["method"] == "shoal" and set(cell["params"]) == {"n_clusters"}:
        return GIVEN if isinstance(cell["params"]["n_clusters"], int) else OURS
    return None


def compared(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return one row per data set that was fitted without K: means over the seeds of what its records say.

    Parameters
    ----------
    records : sequence of Record
        The last record of each cell.

    Returns
    -------
    list of dict
        ``data_set``, ``classes``; for each of the compared fits its ``n`` (seeds), ``acc``, ``nmi``, ``found``; of ours
        also ``levels``, ``factor`` (found / classes), ``near`` (of the nearest level), ``accuracy`` and ``purity`` by
        fifths of confidence, in how many seeds every fifth rises, and the ``error`` of calibration.
    """
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        if kind := kind_of(record):
            groups.setdefault((record["cell"]["data_set"], kind), []).append(record)
    names = [*SHORT, *(name for name in DATA_SETS if name not in SHORT)]
    return [_row(name, groups) for name in names if (name, OURS) in groups]


def _row(name: str, groups: dict[tuple[str, str], list[Record]]) -> dict[str, Any]:
    """Return the row of one data set."""
    classes = find_data_set(name).n_classes
    fits = {kind: _means(groups[name, kind]) for kind in (OURS, GIVEN, PEER) if (name, kind) in groups}
    ours = groups[name, OURS]
    factors = [max(level / classes, classes / level) for level in ours[0]["levels"].values()]
    told = [record["reliability"] for record in ours]
    return {
        "data_set": name,
        "classes": classes,
        **fits,
        "levels": sorted(ours[0]["levels"].values()),
        "factor": fits[OURS]["found"] / classes,
        "near": min(factors),
        **{name: np.mean([each[name] for each in told], axis=0).tolist() for name in FIFTHS},
        **{f"{name}_rises": sum(rises(each[name]) for each in told) for name in FIFTHS},
        "error": float(np.mean([each["error"] for each in told])),
    }


def _means(records: Sequence[Record]) -> dict[str, float]:
    """Return the means over the seeds."""
    scores = {name: float(np.mean([record["scores"][name] for record in records])) for name in ("acc", "nmi")}
    return {"n": len(records), **scores, "found": float(np.mean([record["n_found"] for record in records]))}


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what all rows come to; means of scores are over the short-text sets that have both fits."""
    distances = [abs(float(np.log2(row["factor"]))) for row in rows]
    result: dict[str, Any] = {
        "data_sets": len(rows),
        "median_distance": float(np.median(distances)),
        "largest_distance": max(distances),
        "near_levels": sum(row["near"] <= NEAR for row in rows),
        **{f"{name}_rising": sum(row[f"{name}_rises"] == row[OURS]["n"] for row in rows) for name in FIFTHS},
        "calibration_error": float(np.mean([row["error"] for row in rows])),
    }
    for kind in (GIVEN, PEER):
        both = [row for row in rows if row["data_set"] in SHORT and kind in row]
        for of in (OURS, kind):
            means = {name: float(np.mean([row[of][name] for row in both])) for name in ("acc", "nmi")} if both else {}
            result[f"short sets, {of} (beside {kind})"] = {"data_sets": len(both), **means}
    return result


def as_markdown(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table, with a sentence on what they come to."""
    heads = ["set", "classes", "found", "levels", f"ACC / NMI, {OURS}", GIVEN, f"{PEER}: topics", "ACC / NMI"]
    heads += ["ACC by fifths of confidence", "purity by fifths", "calibration error"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for row in rows:
        cells = [row["data_set"], row["classes"], f"{row[OURS]['found']:.0f}", ", ".join(map(str, row["levels"]))]
        cells += [_scores(row, OURS), _scores(row, GIVEN), f"{row[PEER]['found']:.0f}" if PEER in row else "–"]
        cells += [_scores(row, PEER), *(_fifths(row, name) for name in FIFTHS), f"{row['error']:.2f}"]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    total = summary(rows)
    lines += [
        "",
        f"{total['data_sets']} sets. |log2(found / classes)|: median {total['median_distance']:.2f}, largest "
        f"{total['largest_distance']:.2f}. A level within a factor of {NEAR} of the classes: {total['near_levels']}. "
        f"Every fifth rises with every seed: {total['accuracy_rising']} by ACC, {total['purity_rising']} by purity. "
        f"Mean calibration error: {total['calibration_error']:.3f}.",
    ]
    for kind in (GIVEN, PEER):
        ours, other = (total[f"short sets, {of} (beside {kind})"] for of in (OURS, kind))
        if ours["data_sets"]:
            lines.append(
                f"Mean of {ours['data_sets']} short-text sets, ACC / NMI: {OURS} {ours['acc']:.1f} / {ours['nmi']:.1f}"
                f", {kind} {other['acc']:.1f} / {other['nmi']:.1f}."
            )
    return "\n".join(lines)


def _fifths(row: dict[str, Any], name: str) -> str:
    """Return the fifths, marked unless they rise with every seed."""
    mark = "" if row[f"{name}_rises"] == row[OURS]["n"] else f" (rises with {row[f'{name}_rises']} of {row[OURS]['n']})"
    return ", ".join(f"{100 * value:.0f}" for value in row[name]) + mark


def _scores(row: dict[str, Any], kind: str) -> str:
    """Return the scores of one fit, and its seeds if they are fewer than ours."""
    if kind not in row:
        return "–"
    fit = row[kind]
    seeds = "" if fit["n"] == row[OURS]["n"] else f" ({fit['n']} seed{'s' * (fit['n'] > 1)})"
    return f"{fit['acc']:.1f} / {fit['nmi']:.1f}{seeds}"
