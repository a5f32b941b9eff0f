"""The map with its controls and panel, and the data its script works on."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.report.charts import bar
from shoal.report.colours import DARK, LIGHT
from shoal.report.contents import Contents
from shoal.report.hierarchy import broad_themes
from shoal.report.markup import Markup, count, element, shortened, visible
from shoal.report.places import Places

# The page holds the beginning of each text; all of them together at most this many characters.
_TEXT_CHARACTERS = 280
_ALL_CHARACTERS = 7_000_000


def explorer(contents: Contents, colours: NDArray[np.int64]) -> Markup:
    """Return the map, its controls and the list of clusters."""
    n_placed, n_texts = len(contents.on_map()), int((contents.labels >= 0).sum())
    sample = f"A sample of {n_placed:,} of {n_texts:,} texts" if n_placed < n_texts else count(n_placed, "text")
    return element(
        "section",
        element("h2", "Map", class_="spoken"),
        element(
            "div",
            element(
                "label",
                element("span", "Search", class_="spoken"),
                element("input", id="search", type="search", placeholder="Search the texts", autocomplete="off"),
            ),
            element(
                "label",
                "Confidence",
                element("input", id="least", type="range", min=0, max=100, step=1, value=0),
                element("output", id="least-said", for_="least"),
            ),
            class_="controls",
        ),
        element(
            "div",
            element(
                "div",
                element(
                    "canvas",
                    id="map",
                    tabindex=0,
                    role="application",
                    aria_label=f"Map of {count(n_placed, 'text')} in {count(len(contents.clusters), 'cluster')}. "
                    "Arrow keys move, plus and minus zoom, 0 shows all, Escape clears. "
                    "The list beside it selects clusters.",
                ),
                element("div", id="tip", hidden=True),
                element(
                    "div",
                    _tool("zoom-in", "+", "Zoom in"),
                    _tool("zoom-out", "−", "Zoom out"),
                    _tool("zoom-all", "All", "Show the whole map"),
                    element("button", "Lasso", type="button", class_="tool", id="lasso", aria_pressed="false"),
                    class_="tools",
                ),
                element("p", sample, class_="note"),
                class_="frame",
            ),
            element(
                "div",
                element("p", id="said", role="status", class_="spoken"),
                element("div", id="found", hidden=True),
                _list(contents, colours),
                class_="panel",
                tabindex=0,
                role="region",
                aria_label="Clusters and texts found",
            ),
            class_="explorer",
        ),
        id="explore",
    )


def map_data(contents: Contents, colours: NDArray[np.int64]) -> dict[str, Any]:
    """Return what the script of the map needs."""
    rows = contents.on_map()
    length = max(40, min(_TEXT_CHARACTERS, _ALL_CHARACTERS // max(1, len(rows))))
    clustered = contents.confidence[contents.labels >= 0]
    per_cent = np.bincount(np.clip((clustered * 100 + 1e-9).astype(np.int64), 0, 100), minlength=101)
    labels = [
        {"cluster": cluster.id, "name": visible(cluster.name), "size": cluster.size, "x": x, "y": y}
        for cluster, (x, y) in zip(contents.clusters, label_places(contents), strict=True)
        if np.isfinite(x)
    ]
    return {
        **points(contents.places[rows], contents.labels[rows]),
        "confidence": _packed(np.floor(contents.confidence[rows] * 1e4 + 1e-6), np.uint16),
        "second": _packed(contents.second[rows], np.int16),
        "texts": [visible(shortened(contents.texts[i], length)) for i in rows],
        "atLeast": per_cent[::-1].cumsum()[::-1].tolist(),
        "labels": labels + broad_themes(contents, labels),
        "palette": {"light": LIGHT, "dark": DARK},
        "clusters": [
            {
                "name": visible(cluster.name),
                "size": cluster.size,
                "confidence": round(cluster.confidence, 4),
                "colour": int(colours[cluster.id]),
                "keywords": [visible(word) for word in cluster.keywords],
            }
            for cluster in contents.clusters
        ],
    }


def points(places: Places, labels: NDArray[np.int64]) -> dict[str, str]:
    """Return places and clusters, packed."""
    x, y = (np.round((np.clip(axis, -1, 1) + 1) * 32767.5) for axis in places.T)
    return {"x": _packed(x, np.uint16), "y": _packed(y, np.uint16), "cluster": _packed(labels, np.uint16)}


def label_places(contents: Contents) -> Places:
    """Return where the name of each cluster stands: at the member nearest to the middle of the cluster."""
    found = np.full((len(contents.clusters), 2), np.nan)
    rows = contents.on_map()
    labels, places = contents.labels[rows], contents.places[rows]
    for cluster in np.unique(labels):
        own = places[labels == cluster]
        middle = np.median(own, axis=0)
        found[cluster] = own[np.square(own - middle).sum(axis=1).argmin()].round(4)
    return found


def _list(contents: Contents, colours: NDArray[np.int64]) -> Markup:
    """Return the clusters, largest first, as buttons."""
    most = max((cluster.size for cluster in contents.clusters), default=1)
    items = [
        element(
            "li",
            element(
                "button",
                element("i", class_=f"dot c{colours[cluster.id]}"),
                element("bdi", cluster.name),
                element("span", f"{cluster.size:,}", class_="n"),
                bar(cluster.size / max(1, most), width=200, height=3, class_=f"c{colours[cluster.id]}"),
                type="button",
                data_cluster=cluster.id,
                aria_pressed="false",
            ),
        )
        for cluster in sorted(contents.clusters, key=lambda cluster: -cluster.size)
    ]
    title = element("h3", count(len(items), "cluster"))
    return element("div", element("div", title, class_="panel-head"), element("ul", items), id="clusters")


def _tool(id: str, sign: str, meaning: str) -> Markup:
    """Return a button on the map."""
    return element("button", sign, type="button", class_="tool", id=id, aria_label=meaning, title=meaning)


def _packed(values: NDArray[Any], kind: type[np.integer[Any]]) -> str:
    """Return whole numbers as base64, little-endian as every browser's are."""
    return base64.b64encode(values.astype(np.dtype(kind).newbyteorder("<")).tobytes()).decode("ascii")
