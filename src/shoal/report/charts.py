"""Small charts as SVG: every figure is also in words, for those who do not see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.report.markup import Markup, element, shortened

_WIDTH, _HEIGHT = 520, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 12, 28


def bar(share: float, *, width: int = 74, height: int = 6, class_: str | None = None) -> Markup:
    """Return a bar of which ``share`` is filled."""
    filled = round(width * max(0.0, min(1.0, share)), 1)
    return element(
        "svg",
        element("rect", width=width, height=height, rx=height / 2, class_="rail"),
        element("rect", width=filled, height=height, rx=height / 2),
        class_="bar" + (f" {class_}" if class_ else ""),
        width=width,
        height=height,
        viewBox=f"0 0 {width} {height}",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


def histogram(counts: Sequence[int], ticks: Sequence[str], described: str) -> Markup:
    """Return a histogram; ``ticks`` are spread evenly below it."""
    most = max([*counts, 1])
    step = (_WIDTH - _LEFT - _RIGHT) / max(1, len(counts))
    bars = [
        element(
            "rect",
            element("title", f"{number:,}"),
            x=round(_LEFT + i * step + 1, 1),
            y=round(_bottom() - _tall(number / most), 1),
            width=round(max(1.0, step - 2), 1),
            height=round(_tall(number / most), 1),
            class_="mark",
        )
        for i, number in enumerate(counts)
    ]
    return _chart(described, _frame(most, ticks), bars)


def lines(series: Mapping[str, Sequence[tuple[float, float]]], described: str, x_ticks: Sequence[str]) -> Markup:
    """Return lines, one colour each, with their names at the side."""
    points = [point for line in series.values() for point in line]
    low_x, high_x = min(x for x, _ in points), max(x for x, _ in points)
    low_y, high_y = min(0.0, *(y for _, y in points)), max(y for _, y in points)

    def at(x: float, y: float) -> str:
        across = (x - low_x) / max(high_x - low_x, 1e-12)
        up = (y - low_y) / max(high_y - low_y, 1e-12)
        return f"{_LEFT + across * (_WIDTH - _LEFT - _RIGHT):.1f},{_bottom() - _tall(up):.1f}"

    drawn = [
        element(
            "polyline", element("title", name), points=" ".join(at(*point) for point in line), class_=f"line c{i % 12}"
        )
        for i, (name, line) in enumerate(series.items())
    ]
    return _chart(described, _frame(high_y, x_ticks), drawn)


def legend(names: Sequence[str]) -> Markup:
    """Return the names of the lines of a chart with their colours."""
    dots = [element("span", element("i", class_=f"dot c{i % 12}"), name, "  ") for i, name in enumerate(names)]
    return element("p", dots, class_="muted")


def heat_map(
    values: Sequence[Sequence[float]], rows: Sequence[str], columns: Sequence[str], titles: Sequence[Sequence[str]]
) -> Markup:
    """Return a table of squares; the darker, the larger a value from 0 to 1."""
    side = 22 if len(columns) <= 40 else 13
    left, top = 250, 128
    width, height = left + side * len(columns) + 70, top + side * len(rows) + 8
    cells = [
        element(
            "rect",
            element("title", titles[i][j]),
            x=left + j * side,
            y=top + i * side,
            width=side - 1,
            height=side - 1,
            rx=2,
            class_="cell",
            fill_opacity=round(0.06 + 0.94 * value, 3),
        )
        for i, row in enumerate(values)
        for j, value in enumerate(row)
        if value > 0.005
    ]
    names = [
        element(
            "text",
            element("title", name),
            shortened(name, 36),
            x=left - 8,
            y=top + i * side + side * 0.68,
            text_anchor="end",
            class_="ink",
        )
        for i, name in enumerate(rows)
    ]
    heads = [
        element(
            "text",
            element("title", name),
            shortened(name, 22),
            transform=f"translate({left + j * side + side * 0.7:.1f} {top - 8}) rotate(-50)",
        )
        for j, name in enumerate(columns)
    ]
    return element(
        "svg",
        cells,
        names,
        heads,
        class_="chart wide",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_label=f"{len(rows)} clusters by {len(columns)} classes; the same figures are in the table below",
    )


def _frame(most: float, ticks: Sequence[str]) -> list[Markup]:
    """Return the axes of a chart."""
    across = _WIDTH - _LEFT - _RIGHT
    marks = [
        element("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=y, y2=y, class_="axis")
        for y in (_bottom(), _bottom() - _tall(1))
    ]
    labels = [
        element("text", _figure(most), x=_LEFT - 6, y=_TOP + 8, text_anchor="end"),
        element("text", "0", x=_LEFT - 6, y=_bottom(), text_anchor="end"),
    ]
    anchors = ["start", *["middle"] * (len(ticks) - 2), "end"] if len(ticks) > 1 else ["start"]
    for i, (tick, anchor) in enumerate(zip(ticks, anchors, strict=True)):
        x = round(_LEFT + across * i / max(1, len(ticks) - 1), 1)
        labels.append(element("text", tick, x=x, y=_HEIGHT - 8, text_anchor=anchor))
    return [*marks, *labels]


def _chart(described: str, *parts: object) -> Markup:
    """Return a picture with a description."""
    return element(
        "svg",
        parts,
        class_="chart",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        width=_WIDTH,
        height=_HEIGHT,
        role="img",
        aria_label=described,
    )


def _bottom() -> int:
    """Return where the axis is."""
    return _HEIGHT - _BOTTOM


def _tall(share: float) -> float:
    """Return the height of a share of the chart."""
    return share * (_HEIGHT - _TOP - _BOTTOM)


def _figure(value: float) -> str:
    """Return a number as short as it can be read."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"
