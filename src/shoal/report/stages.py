"""A map per stage of the training, side by side: the same texts, before each stage and at the end."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.clustering import NO_CLUSTER
from shoal.report.colours import DARK, LIGHT, choose_colours, neighbours_on_map
from shoal.report.contents import Contents, Stage
from shoal.report.explorer import points
from shoal.report.markup import Markup, count, element
from shoal.report.places import place
from shoal.report.sections import section

# Small maps need few points.
_MOST_POINTS = 2_000


def stage_maps(contents: Contents, colours: NDArray[np.int64]) -> tuple[Markup | None, list[dict[str, Any]]]:
    """Return the section of the stages and the data of its maps; None without snapshots."""
    present = np.flatnonzero(contents.labels != NO_CLUSTER)
    stages = [stage for stage in contents.stages if len(stage.labels) == len(present) > 0]
    if not stages:
        return None, []
    rng = np.random.default_rng(0)
    chosen = np.sort(rng.choice(len(present), min(_MOST_POINTS, len(present)), replace=False))
    data, previous = [], None
    for stage in stages:
        previous = place(stage.vectors[chosen], start=previous, label=f"Map {stage.name}")
        data.append(_data(stage, chosen, previous))
    final = contents.places[present[chosen]]
    if np.isfinite(final[:, 0]).all():
        palette = {
            "light": [LIGHT[colours[k]] for k in range(len(colours))],
            "dark": [DARK[colours[k]] for k in range(len(colours))],
        }
        data.append({**points(final, contents.labels[present[chosen]]), "palette": palette, "name": "at the end"})
    figures = [
        element(
            "figure",
            element("figcaption", str(each["name"])),
            element("canvas", id=f"stage-{i}", role="img", aria_label=f"Map {each['name']}"),
            class_="box stage",
        )
        for i, each in enumerate(data)
    ]
    about = f"The same {count(len(chosen), 'text')}, with the vectors and clusters of each stage."
    return section("stages", "Stages", about, element("div", figures, class_="grid")), data


def _data(stage: Stage, chosen: NDArray[np.int64], places: NDArray[np.float64]) -> dict[str, Any]:
    """Return what the script needs of a stage; its clusters have other numbers, and so colours of their own."""
    labels = stage.labels[chosen]
    colours = choose_colours(neighbours_on_map(places, labels, int(stage.labels.max()) + 1))
    palette = {"light": [LIGHT[colour] for colour in colours], "dark": [DARK[colour] for colour in colours]}
    return {**points(places, labels), "palette": palette, "name": stage.name}
