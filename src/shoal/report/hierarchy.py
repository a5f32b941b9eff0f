"""The tree of clusters and the evidence for their number, where a run has them.

``hierarchy.json`` is a node: ``{"name": …, "clusters": [numbers], "children": [nodes]}``. ``n_clusters_evidence`` in
``run.json`` is a list of records, or an object with such a list as ``candidates``; each has ``n_clusters`` and numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.report.charts import legend, lines
from shoal.report.contents import Contents
from shoal.report.markup import Markup, count, element
from shoal.report.sections import is_number, section, table

_MOST_LINES = 6


def broad_themes(contents: Contents, labels: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the names of the broadest level for the map, each in the middle of its clusters; none without a tree."""
    places = {label["cluster"]: (label["x"], label["y"], label["size"]) for label in labels}
    found = []
    for node in _children(contents.hierarchy):
        own = [places[cluster] for cluster in _members(node) if cluster in places]
        if len(own) > 1 and node.get("name"):
            x, y, sizes = (np.array(column) for column in zip(*own, strict=True))
            middle = {"x": float(np.average(x, weights=sizes)), "y": float(np.average(y, weights=sizes))}
            found.append({"group": True, "cluster": -1, "name": str(node["name"]), "size": int(sizes.sum()), **middle})
    return found


def tree(contents: Contents, colours: NDArray[np.int64]) -> Markup | None:
    """Return the tree of clusters, and the evidence for their number; None if the run has neither."""
    parts = [_evidence(contents), _tree(contents, colours)]
    if not any(parts):
        return None
    return section("tree", "Granularity", None, *parts)


def _tree(contents: Contents, colours: NDArray[np.int64]) -> Markup | None:
    """Return the tree as nested lists."""
    nodes = _children(contents.hierarchy)
    if not nodes:
        return None

    def item(node: Mapping[str, Any]) -> Markup:
        below = _children(node)
        members = [cluster for cluster in _members(node) if 0 <= cluster < len(contents.clusters)]
        size = sum(contents.clusters[cluster].size for cluster in members)
        if not below and len(members) == 1:
            cluster = contents.clusters[members[0]]
            dot = element("i", class_=f"dot c{colours[cluster.id]}")
            link = element("a", element("bdi", cluster.name), href=f"#cluster-{cluster.id}")
            return element("li", dot, link, element("span", f" {cluster.size:,}", class_="muted"))
        leaves = below or [{"clusters": [cluster]} for cluster in members]
        name = element("b", element("bdi", str(node.get("name") or "")))
        return element(
            "li", name, element("span", f" {count(size, 'text')}", class_="muted"), element("ul", map(item, leaves))
        )

    return element("div", element("ul", map(item, nodes)), class_="box tree")


def _evidence(contents: Contents) -> Markup | None:
    """Return the evidence for the number of clusters, as lines and as a table."""
    given = contents.info.get("n_clusters_evidence")
    records = given.get("candidates") if isinstance(given, Mapping) else given
    if not isinstance(records, list):
        return None
    records = [row for row in records if isinstance(row, Mapping) and is_number(row.get("n_clusters"))]
    if not records:
        return None
    records.sort(key=lambda row: row["n_clusters"])
    names = [name for name in records[0] if name != "n_clusters" and all(is_number(row.get(name)) for row in records)]
    series = {
        name: [(row["n_clusters"], row[name] / max(abs(each[name]) for each in records)) for row in records]
        for name in names[:_MOST_LINES]
        if max(abs(row[name]) for row in records) > 0
    }
    reason = given.get("reason") if isinstance(given, Mapping) else None
    chart = None
    if series and len(records) > 1:
        ends = [f"{records[0]['n_clusters']} clusters", f"{records[-1]['n_clusters']}"]
        picture = lines(series, "Evidence for each number of clusters, each line as a part of its highest value", ends)
        chart = element(
            "figure",
            element("figcaption", "Evidence for the number of clusters"),
            picture,
            legend(list(series)),
            class_="box",
        )
    rows = [[f"{row['n_clusters']}", *(f"{row[name]:.3g}" for name in names)] for row in records]
    return element(
        "div",
        element("p", str(reason)) if reason else None,
        chart,
        element(
            "details",
            element("summary", "As a table"),
            table(["clusters", *(name.replace("_", " ") for name in names)], rows, numeric=range(len(names) + 1)),
        ),
    )


def _children(node: Any) -> list[Mapping[str, Any]]:
    """Return the children of a node; none if it is not one."""
    children = node.get("children") if isinstance(node, Mapping) else None
    return [child for child in children if isinstance(child, Mapping)] if isinstance(children, list) else []


def _members(node: Mapping[str, Any]) -> list[int]:
    """Return the clusters of a node, its own or those below it."""
    own = node.get("clusters")
    if isinstance(own, list) and own:
        return [cluster for cluster in own if isinstance(cluster, int)]
    return [cluster for child in _children(node) for cluster in _members(child)]
