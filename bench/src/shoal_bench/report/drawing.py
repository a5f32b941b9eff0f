"""Drawing: small, clean, told apart by anyone's eyes, and the same bytes from the same results."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from shoal.cache import write_atomically
from shoal_bench.report.page import PROSE, Note, inline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which people with any kind of colour vision tell apart, without the yellow
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#333333")
MARKERS = "osD^vPX*"
INK, FAINT = "#22313f", "#6b7782"  # as in bench.mplstyle
PANELS_IN_A_LINE = 4

Size = tuple[float, float]
Item = TypeVar("Item")


class Drawing(NamedTuple):
    """A picture to be drawn.

    Attributes
    ----------
    name : str
        Its name in ``prose.toml``, which has its title and caption.
    size : (float, float)
        Width and height in inches.
    draw : callable
        Gets the empty figure.
    words : mapping
        What title and caption mention.
    file : str
        The end of its file's name, if that is not ``name``.
    """

    name: str
    size: Size
    draw: Callable[[Figure], None]
    words: Mapping[str, Any]
    file: str = ""


class Album:
    """The pictures of a page.

    Parameters
    ----------
    folder : Path
        The folder of the page.
    place : str
        Where in it the pictures go.

    Attributes
    ----------
    files : list of Path
        What has been drawn.
    shown : set of str
        Keys of the records whose training is in a picture.
    """

    def __init__(self, folder: Path, place: str = "pictures") -> None:
        self.folder, self.place = folder, place
        self.files: list[Path] = []
        self.shown: set[str] = set()

    def add(self, of: str, drawing: Drawing) -> str:
        """Draw a picture of something, write it as PNG, and return the block that shows it."""
        from matplotlib import rc_context
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        content, path = io.BytesIO(), f"{self.place}/{of}-{drawing.file or drawing.name}.png"
        with rc_context(fname=Path(__file__).with_name("bench.mplstyle")):
            figure = Figure(figsize=drawing.size, dpi=120, layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08))
            drawing.draw(figure)
            figure.savefig(content, format="png", metadata={"Software": None})
        self.files.append(self.folder / path)
        write_atomically(self.files[-1], content.getvalue())
        title, caption = (PROSE[drawing.name][part].format(**drawing.words) for part in ("title", "caption"))
        return f"![{inline(title)}]({path})\n\n{inline(Note(title + caption))}"


def in_panels(
    name: str,
    items: Sequence[Item],
    draw: Callable[[Axes, Item], object],
    title: Callable[[Item], str] = str,
    *,
    in_a_line: int = PANELS_IN_A_LINE,
    size: Size | None = None,
    labels: tuple[str, str] = ("", ""),
    columns: int = 4,
    words: Mapping[str, Any] | None = None,
    file: str = "",
) -> list[Drawing]:
    """Return the picture that shows each of some items in a panel, one legend above all; none of no items.

    Parameters
    ----------
    name, size, words, file
        See :class:`Drawing`; the size is by default that of the panels.
    items : sequence
        What is shown.
    draw, title : callable
        Draws an item into its panel; what stands above it.
    in_a_line : int
        Panels beside each other.
    labels : (str, str)
        Beneath all panels, and to their left.
    columns : int
        Of the legend, at most; fewer if its labels are long for the width.
    """

    def draw_all(figure: Figure) -> None:
        grid = panels(figure, len(items), in_a_line)
        for panel, item in zip(grid, items, strict=True):
            panel.set_title(title(item))
            draw(panel, item)
        handles = [handle for panel in grid for handle in panel.get_legend_handles_labels()[0]]
        entries = {str(handle.get_label()): handle for handle in handles}
        if entries:
            fitting = columns_that_fit(list(entries), figure.get_figwidth(), columns)
            figure.legend(list(entries.values()), list(entries), loc="outside upper left", ncols=fitting)
        for label, put in zip(labels, (figure.supxlabel, figure.supylabel), strict=True):
            if label:
                put(label, fontsize=9)

    fitting = 2.7 * min(len(items), in_a_line) + 0.6, 2.2 * math.ceil(len(items) / in_a_line) + 0.8
    return [Drawing(name, size or fitting, draw_all, words or {}, file)] if items else []


def panels(figure: Figure, n: int, in_a_line: int) -> list[Axes]:
    """Return ``n`` panels in lines, filled from the left."""
    width = min(n, in_a_line)
    grid = figure.subplots(math.ceil(n / width), width, squeeze=False).ravel().tolist()
    for unused in grid[n:]:
        unused.set_visible(False)
    return grid[:n]


def columns_that_fit(labels: Sequence[str], width: float, most: int) -> int:
    """Return how many columns of a legend fit into so many inches, at least one.

    Examples
    --------
    >>> columns_that_fit(["ajax", "oracle"], 6.0, 7), columns_that_fit(["culture-arts-entertainment"], 6.0, 7)
    (6, 2)
    """
    widest = 0.45 + 0.075 * max(map(len, labels))  # the mark and the gaps, and a letter of the size of bench.mplstyle
    return max(1, min(most, int(width / widest)))


def style(place: int) -> tuple[str, str]:
    """Return the colour and the marker of the curve at a place."""
    return COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]


def point_style(place: int) -> dict[str, Any]:
    """Return the colour and the marker of points: a marker for each round of the colours.

    Examples
    --------
    >>> point_style(0) == point_style(7) | {"marker": "o"}, point_style(7)["marker"]
    (True, 's')
    """
    return {"color": style(place)[0], "marker": MARKERS[place // len(COLOURS) % len(MARKERS)]}


def log_scale(panel: Axes, which: Literal["x", "y"], values: Sequence[float]) -> None:
    """Give a panel's axis a logarithmic scale with plain numbers, enough of them for the values' range."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    shown = [value for value in values if value > 0]  # a time may round to zero, which has no logarithm
    if not shown:
        return
    panel.set(**{f"{which}scale": "log"})
    axis = panel.xaxis if which == "x" else panel.yaxis
    span = max(shown) / min(shown)
    if span == 1:  # by itself matplotlib shows a power of ten around one point, and all numbers in it
        panel.set(**{f"{which}lim": (shown[0] / 2, shown[0] * 2)})
    axis.set_major_locator(LogLocator(subs=(1,) if span > 30 else (1, 2, 5) if span > 4 else (1, 1.5, 2, 3, 4, 6, 8)))
    axis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axis.set_minor_formatter(NullFormatter())
