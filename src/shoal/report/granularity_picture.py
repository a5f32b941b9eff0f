"""A picture of the evidence for the number of clusters; needs matplotlib, the extra ``report``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.errors import MissingExtraError, ParameterError
from shoal.report.picture import FORMATS


def save_curve(choice: Mapping[str, Any], path: Path) -> Path:
    """Draw agreement, modularity and the smallest cluster over the number of clusters, with the levels marked.

    Parameters
    ----------
    choice : mapping
        ``curve`` and ``levels``, as ``NClusters.as_dict`` gives them.
    path : Path
        The file to write.
    """
    if path.suffix.lower().removeprefix(".") not in FORMATS:
        raise ParameterError(f"{path.name!r} has no known format; pass a name that ends with .{', .'.join(FORMATS)}.")
    if not choice["curve"]:
        raise ParameterError(
            "there is no evidence to draw: the number was given, or there are too few texts; pass auto or a range."
        )
    try:
        from matplotlib.figure import Figure
    except ImportError as reason:
        raise MissingExtraError("a picture of the evidence", "report") from reason
    points = [point for point in choice["curve"] if point["n_clusters"] >= 2]
    numbers = [point["n_clusters"] for point in points]
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(numbers, [point["agreement"] for point in points], "o-", label="meaning and words agree (beyond chance)")
    axes.plot(numbers, [point["modularity"] for point in points], "s-", ms=4, label="neighbours explained (modularity)")
    axes.plot(numbers, [point["smallest"] for point in points], ":", label="share of the smallest group")
    axes.set_xscale("log")
    axes.set(xlabel="number of clusters", ylim=(0, 1))
    for level, number in choice["levels"].items():
        axes.axvline(number, color="0.6", lw=3 if level == "medium" else 1, zorder=0)
        axes.annotate(f"{level}: {number}", (number, 1.0), xytext=(0, 4), textcoords="offset points", ha="center")
    axes.set_xticks(ticks := [2, 5, 10, 20, 50, 100, 200, 500], labels=[str(tick) for tick in ticks])
    axes.set_xlim(min(numbers) * 0.9, max(numbers) * 1.1)
    axes.legend(frameon=False, loc="lower center", fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    return path
