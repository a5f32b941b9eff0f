"""The report of a run: one page that answers where the clusters lie, what is in them, and how sure they are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shoal.cache import write_atomically
from shoal.report import sections
from shoal.report.breakdowns import by_group, over_time
from shoal.report.cards import cards
from shoal.report.colours import choose_colours, neighbours_on_map
from shoal.report.contents import Contents
from shoal.report.explorer import explorer, map_data
from shoal.report.facts import cluster_facts
from shoal.report.hierarchy import tree
from shoal.report.markup import count, element, join
from shoal.report.page import header, page
from shoal.report.stages import stage_maps


@dataclass(frozen=True)
class Report:
    """A page about a run. In a notebook it shows itself.

    Attributes
    ----------
    html : str
        The page.
    """

    html: str

    def save(self, path: str | Path) -> Path:
        """Write the page to a file and return its path."""
        write_atomically(Path(path), self.html.encode("utf-8"))
        return Path(path)

    def _repr_html_(self) -> str:
        """Return the page in a frame, for notebooks."""
        return str(element("iframe", srcdoc=self.html, width="100%", height=900, style="border:0"))


def make_report(contents: Contents) -> Report:
    """Return the report of a run."""
    n_clusters = len(contents.clusters)
    colours = choose_colours(neighbours_on_map(contents.places, contents.labels, n_clusters))
    facts = cluster_facts(contents)
    drawn = len(contents.on_map()) > 0
    stages, stage_data = stage_maps(contents, colours)
    found = {
        "explore": ("Map", explorer(contents, colours) if drawn else None),
        "cards-section": ("Clusters", cards(contents, facts, colours)),
        "tree": ("Granularity", tree(contents, colours)),
        "sure": ("How sure", sections.how_sure(contents, colours)),
        "time": ("Over time", over_time(contents)),
        "groups": ("Groups", by_group(contents)),
        "classes": ("Classes", sections.known_classes(contents)),
        "training": ("Training", sections.training(contents)),
        "stages": ("Stages", stages),
        "made": ("How it was made", sections.made(contents)),
    }
    there = {key: part for key, (_, part) in found.items() if part is not None}
    n_texts = int((contents.labels >= 0).sum())
    title = _title(contents)
    facts_said = f"{count(n_texts, 'text')} in {count(n_clusters, 'cluster')}"
    method = contents.info.get("method")
    body = join(
        header(title, f"{facts_said}, by {method}" if method else facts_said, {key: found[key][0] for key in there}),
        element("main", *there.values()),
        element("footer", f"Made by Shoal {contents.info.get('shoal_version', '')}. This page holds all it shows."),
    )
    data = {"map": map_data(contents, colours) if drawn else None, "stages": stage_data}
    return Report(page(f"{title}: clusters", body, data))


def _title(contents: Contents) -> str:
    """Return what the run is about: the name of its source."""
    source = str((contents.info.get("data") or {}).get("source") or "Texts")
    return "Texts from standard input" if source == "-" else Path(source).name or source
