"""``shoal show``: the clusters of a run: names, sizes, keywords and, if the method finds any, topics."""

from __future__ import annotations

from pathlib import Path

import typer

from shoal.cli.tables import Json

EXAMPLES = """
Examples:

    shoal show runs/tickets-deccrl-1

    shoal show runs/tickets-deccrl-1 --json
"""


def show(
    run: Path = typer.Argument(..., help="A run folder of `shoal fit`."),
    json: Json = False,
) -> None:
    """Show the clusters of a run, largest first: names, sizes, keywords, and topics if the method finds any."""
    from shoal.cli.console import print_clusters, print_json, print_table
    from shoal.run_folder import RunFolder

    folder = RunFolder.open(run)
    info = folder.read_info()
    clusters = sorted(folder.read_clusters(), key=lambda cluster: -cluster.size)
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
