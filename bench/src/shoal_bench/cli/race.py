"""``shoal-bench race``: the default method and a foreign tool on the same vectors, one after the other in one run."""

from __future__ import annotations

import os
from typing import Any

import typer

from shoal.cli.console import print_json, print_table

EXAMPLES = "\n\n    ".join(
    (
        "\nExamples:",
        "shoal-bench race",
        "shoal-bench race --data-set tweet --peer top2vec --threads 1",
    )
)


def race(
    data_set: list[str] = typer.Option(["stackoverflow", "googlenews_ts"], help="A data set; may be repeated."),
    peer: str = typer.Option("bertopic", help="The foreign tool."),
    threads: int | None = typer.Option(None, min=1, help="Threads of each.  [default: the cores]"),
    texts: int | None = typer.Option(None, min=1, help="A sample of this many texts instead of all."),
    seed: int = typer.Option(0, min=0, help="The seed of both."),
    json: bool = typer.Option(False, help="Print the result as one JSON object."),
) -> None:
    """Fit the default method and a foreign tool on the same texts and vectors, and compare seconds and memory.

    Each has a process of its own, one after the other, which reads the texts and their vectors from a file: neither has
    an encoder in memory, or in its time. Nothing is kept: every call measures again.
    """
    from shoal.methods import find_method
    from shoal_bench.data_sets import find_data_set
    from shoal_bench.measure import all_scores, encoded_by, with_outliers_as_cluster
    from shoal_bench.peers import OURS, ensure_environment, find_peer, run_peer

    ensure_environment(find_peer(peer))
    threads = threads or os.cpu_count() or 1
    rows: list[dict[str, Any]] = []
    for name in data_set:
        data = find_data_set(name).load().sample(texts)
        encoded = encoded_by(find_method(OURS.name).defaults(), data.texts)
        vectors = None if encoded is None else encoded.content.vectors
        cell = {"params": {"n_clusters": len(set(data.labels))}, "seed": seed}
        ours, theirs = (
            run_peer({**cell, "peer": tool}, data.texts, data.labels, vectors, threads) for tool in (OURS.name, peer)
        )
        row: dict[str, Any] = {"data set": name, "texts": len(data.texts)}
        for what, key, ratio in (("s", "seconds", "ratio"), ("MB", "peak_memory_mb", "of memory")):
            counted = ours[key] is not None  # not every system counts memory
            row[f"{OURS.name}, {what}"] = round(ours[key], 1) if counted else None
            row[f"{peer}, {what}"] = round(theirs[key], 1) if counted else None
            row[ratio] = round(ours[key] / theirs[key], 2) if counted else None
        for tool, answer in ((OURS.name, ours), (peer, theirs)):
            found = with_outliers_as_cluster(answer["labels"])
            row[f"{tool}, ACC"] = round(all_scores(data.labels, found)["acc"], 1)
        rows.append(row)
    if json:
        print_json({"threads": threads, "rows": rows})
    else:
        columns = list(rows[0])
        print_table(
            f"{OURS.name} and {peer}", columns, [[str(row[name]) for name in columns] for row in rows], columns[1:]
        )
