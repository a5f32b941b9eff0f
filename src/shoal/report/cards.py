"""One card per cluster: what it is about, what is doubtful in it, and what is next to it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.clustering import Cluster
from shoal.report.charts import bar
from shoal.report.contents import Contents
from shoal.report.facts import Facts, Keyword, Near
from shoal.report.markup import Markup, count, element, join, percent, shortened

_QUOTE = 400
# Fewer copies are what any corpus has.
_NOTABLE_COPIES = 0.05


def cards(contents: Contents, facts: list[Facts], colours: NDArray[np.int64]) -> Markup:
    """Return the section with all cards, largest cluster first."""
    by_size = sorted(contents.clusters, key=lambda cluster: -cluster.size)
    orders = {
        "size": "largest first",
        "sure": "surest first",
        "unsure": "least sure first",
        "copies": "most copies first",
        "name": "by name",
    }
    return element(
        "section",
        element("h2", "Clusters"),
        element("p", "Bars: the share of a cluster’s texts that contain the keyword.", class_="muted"),
        element(
            "div",
            element(
                "label",
                element("span", "Filter", class_="spoken"),
                element("input", id="filter", type="search", placeholder="Filter the clusters", autocomplete="off"),
            ),
            element(
                "label",
                "Sort",
                element("select", [element("option", name, value=key) for key, name in orders.items()], id="sort"),
            ),
            element("span", count(len(by_size), "cluster"), id="cards-said", role="status", class_="muted"),
            class_="controls",
        ),
        element("div", [_card(contents, cluster, facts[cluster.id], colours) for cluster in by_size], id="cards"),
        id="cards-section",
    )


def _card(contents: Contents, cluster: Cluster, facts: Facts, colours: NDArray[np.int64]) -> Markup:
    """Return one card."""
    n_texts = max(1, int((contents.labels >= 0).sum()))
    copies = f" · {percent(facts.copies)} near-duplicates" if facts.copies >= _NOTABLE_COPIES else ""
    return element(
        "article",
        element(
            "header",
            element(
                "div",
                element("h3", cluster.name, dir="auto"),
                element(
                    "p",
                    f"{count(cluster.size, 'text')} · {percent(cluster.size / n_texts, 1)} · "
                    f"confidence {cluster.confidence:.2f}{copies}",
                    class_="facts",
                ),
            ),
            element(
                "button",
                "On the map",
                type="button",
                class_="quiet",
                data_isolate=cluster.id,
                aria_label=f"Show {cluster.name} on the map",
            ),
        ),
        element("p", cluster.summary, class_="summary", dir="auto") if cluster.summary else None,
        join(element("h4", "Keywords"), element("ul", map(_keyword, facts.keywords), class_="keywords"))
        if facts.keywords
        else None,
        _topics(cluster),
        join(element("h4", "Most typical"), quotes(cluster.examples)) if cluster.examples else None,
        element(
            "details",
            element("summary", "Least sure"),
            element(
                "ul",
                [
                    element(
                        "li",
                        element("p", shortened(contents.texts[i], _QUOTE), dir="auto"),
                        element("p", _doubt(contents, i), class_="muted facts"),
                    )
                    for i in facts.unsure
                ],
                class_="quotes",
            ),
        )
        if facts.unsure
        else None,
        element(
            "details",
            element("summary", "Nearest clusters"),
            element("ul", [_near(contents, near, colours) for near in facts.nearest], class_="near"),
        )
        if facts.nearest
        else None,
        class_=f"card c{colours[cluster.id]}",
        id=f"cluster-{cluster.id}",
        data_size=cluster.size,
        data_confidence=f"{cluster.confidence:.4f}",
        data_copies=f"{facts.copies:.4f}",
        data_name=cluster.name,
    )


def quotes(texts: tuple[str, ...]) -> Markup:
    """Return texts as a list."""
    return element("ul", [element("li", shortened(text, _QUOTE), dir="auto") for text in texts], class_="quotes")


def _keyword(keyword: Keyword) -> Markup:
    """Return a keyword with the share of texts that have it."""
    return element(
        "li",
        element("bdi", keyword.word),
        bar(keyword.here),
        element("span", percent(keyword.here), class_="n", title=f"{percent(keyword.elsewhere, 1)} of all other texts"),
    )


def _topics(cluster: Cluster) -> Markup | None:
    """Return the topics of a cluster, if the method finds any."""
    if not cluster.topics:
        return None
    items = [
        element(
            "li",
            element(
                "span",
                f"{percent(topic.share)}{', shared by many clusters' if topic.general else ''}: ",
                class_="muted",
            ),
            element("bdi", " ".join(topic.words)),
        )
        for topic in cluster.topics
    ]
    return join(element("h4", "Topics"), element("ul", items, class_="quotes"))


def _doubt(contents: Contents, row: int) -> str:
    """Say how sure the cluster of a text is, and what else it could be."""
    sure = f"confidence {contents.confidence[row]:.2f}"
    second = int(contents.second[row])
    return sure if second < 0 else f"{sure}, or else: {contents.clusters[second].name}"


def _near(contents: Contents, near: Near, colours: NDArray[np.int64]) -> Markup:
    """Return a near cluster and what tells the two apart."""
    other = contents.clusters[near.cluster]
    return element(
        "li",
        element("i", class_=f"dot c{colours[other.id]}"),
        element("a", element("bdi", other.name), href=f"#cluster-{other.id}"),
        element("span", f" second choice of {percent(near.share)}", class_="muted"),
        element("p", "here rather: ", element("bdi", ", ".join(near.here))) if near.here else None,
        element("p", "there rather: ", element("bdi", ", ".join(near.there))) if near.there else None,
    )
