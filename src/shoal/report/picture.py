"""The map of a run as a picture, for papers and slides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import DataError, MissingExtraError, ParameterError
from shoal.report.colours import LIGHT, choose_colours, neighbours_on_map
from shoal.report.contents import Contents
from shoal.report.explorer import label_places
from shoal.report.markup import shortened, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = ("svg", "png", "pdf")
_INK = "#17212b"
_NAME_CHARACTERS = 34
# Inches; wide enough for two columns of a paper.
_SIZE = (9.0, 6.4)


def draw_map(contents: Contents, ax: Axes | None = None, *, names: bool = True) -> Axes:
    """Draw the map of a run.

    Parameters
    ----------
    contents : Contents
        The run.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    names : bool, default=True
        Whether to write the names of the clusters; those that would overlap a larger cluster's are omitted.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    DataError
        If no text has a place.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as reason:
        raise MissingExtraError("a picture of the map", "report") from reason
    rows = contents.on_map()
    if not len(rows):
        raise DataError("no text has a place on the map; there is nothing to draw.")
    if ax is None:
        ax = plt.subplots(figsize=_SIZE, layout="constrained")[1]
    colours = choose_colours(neighbours_on_map(contents.places, contents.labels, len(contents.clusters)))
    shades = np.array(LIGHT)[colours[contents.labels[rows]]]
    size = float(np.clip(40_000 / len(rows), 1.5, 26))
    x, y = contents.places[rows].T
    ax.scatter(x, y, s=size, c=shades, alpha=0.8, linewidths=0, rasterized=len(rows) > 5_000)
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_visible(False)
    if names:
        _write_names(ax, contents)
    return ax


def save_map(contents: Contents, path: Path, *, names: bool = True, dpi: int = 200) -> Path:
    """Write the map to a file whose ending is its format.

    Raises
    ------
    ParameterError
        If the ending is not svg, png or pdf.
    """
    if path.suffix.lower().removeprefix(".") not in FORMATS:
        raise ParameterError(f"{path.name!r} has no known format; pass a name that ends with .{', .'.join(FORMATS)}.")
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as reason:
        raise MissingExtraError("a picture of the map", "report") from reason
    figure = Figure(figsize=_SIZE, layout="constrained")
    draw_map(contents, figure.subplots(), names=names)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Neither dates nor random ids: the same run gives the same file.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[path.suffix.lower()[1:]]
    with matplotlib.rc_context({"svg.hashsalt": "shoal"}):
        figure.savefig(path, dpi=dpi, metadata=metadata)
    return path


def _write_names(ax: Axes, contents: Contents) -> None:
    """Write the names of the clusters, larger clusters first, omitting those that would overlap."""
    from matplotlib import patheffects

    figure: Any = ax.figure
    figure.canvas.draw()  # measures what is on it
    taken: list[Any] = []
    halo = [patheffects.withStroke(linewidth=2.5, foreground="white")]
    places = label_places(contents)
    for cluster in sorted(contents.clusters, key=lambda cluster: -cluster.size):
        if not np.isfinite(places[cluster.id, 0]):
            continue
        text = ax.annotate(
            shortened(visible(cluster.name), _NAME_CHARACTERS).replace("$", r"\$"),
            places[cluster.id],
            ha="center",
            va="center",
            fontsize=8,
            weight="bold",
            color=_INK,
            path_effects=halo,
        )
        box = text.get_window_extent()
        if any(box.overlaps(other) for other in taken):
            text.remove()
        else:
            taken.append(box)
