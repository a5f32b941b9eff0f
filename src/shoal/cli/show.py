"""``shoal show``: the clusters of a run: names, sizes, keywords and, if the method finds any, topics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from shoal.cli.tables import Json

if TYPE_CHECKING:
    from shoal.clustering import Cluster

EXAMPLES = """
Examples:

    shoal show runs/tickets-deccrl-1

    shoal show runs/tickets-shoal-1 --cluster 3

    shoal show runs/tickets-deccrl-1 --json
"""


def show(
    run: Path = typer.Argument(..., help="A run folder of `shoal fit`."),
    cluster: int | None = typer.Option(None, help="The number of one cluster: its keywords and typical texts."),
    json: Json = False,
) -> None:
    """Show the clusters of a run, largest first: names, sizes, keywords, and topics if the method finds any."""
    from shoal.cli.console import print_clusters, print_json, print_table
    from shoal.errors import ParameterError
    from shoal.run_folder import RunFolder

    folder = RunFolder.open(run)
    info = folder.read_info()
    clusters = sorted(folder.read_clusters(), key=lambda cluster: -cluster.size)
    if cluster is not None:
        chosen = [each for each in clusters if each.id == cluster]
        if not chosen:
            raise ParameterError(f"--cluster {cluster} but the clusters of {run} are 0 to {len(clusters) - 1}.")
        if not json:
            _print_one(chosen[0], sum(each.size for each in clusters))
            return
        clusters = chosen
    if json:
        facts = {name: info.get(name) for name in ("method", "n_texts", "n_clusters")}
        print_json({"run": str(run), **facts, "clusters": [cluster.as_json() for cluster in clusters]})
        return
    print_clusters(clusters, sum(cluster.size for cluster in clusters), keywords_by=info.get("method"))
    topics = [
        [
            cluster.name if number == 0 else "",
            f"{100 * topic.share:.0f} %",
            " ".join(topic.words),
            "general" if topic.general else "",
        ]
        for cluster in clusters
        for number, topic in enumerate(cluster.topics)
    ]
    if topics:
        print_table("Topics (general: shared by many clusters)", ["cluster", "share", "words", ""], topics, ["share"])


def _print_one(cluster: Cluster, n_texts: int) -> None:
    """Print one cluster: its name and size, keywords, and the texts nearest its centre."""
    from shoal.cli.console import print_table

    facts = [
        ["texts", f"{cluster.size} of {n_texts} ({100 * cluster.size / max(n_texts, 1):.1f} %)"],
        ["mean confidence", f"{100 * cluster.confidence:.0f} %"],
        ["keywords", ", ".join(cluster.keywords)],
        *([["summary", cluster.summary]] if cluster.summary else []),
    ]
    print_table(f"Cluster {cluster.id}: {cluster.name}", ["", ""], facts)
    print_table("Nearest the centre", ["text"], [[" ".join(text.split())] for text in cluster.examples])
