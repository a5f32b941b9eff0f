"""``shoal-bench race``: the default method and a foreign tool on the same vectors, one after the other in one run."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import typer

from shoal.cli.console import print_json, print_table
from shoal.errors import ShoalError
from shoal_bench.cli.speed import tell
from shoal_bench.results import OK, Results

OURS = "shoal"
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

    Each has a process of its own, one after the other. The vectors are made before the clock starts. Nothing is kept:
    every call measures again.
    """
    from shoal_bench.cell import Cell
    from shoal_bench.data_sets import find_data_set
    from shoal_bench.peers import ensure_environment, find_peer
    from shoal_bench.runner import Runner, Task

    ensure_environment(find_peer(peer))
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="shoal-race-") as folder:
        results = Results(Path(folder) / "race.jsonl", tell)
        runner = Runner(results, threads=threads or os.cpu_count() or 1)
        for name in data_set:
            known = find_data_set(name)
            n_texts = None if texts is None or texts >= known.n_texts else texts
            params = {"n_clusters": known.n_classes}
            tasks = [
                Task(Cell(method, params, name, n_texts, seed, other), known.sha256, row, "cheap", known.n_texts)
                for method, other, row in ((OURS, None, OURS), (None, peer, peer))
            ]
            runner.run(tasks)
            ours, theirs = (results.by_key()[task.key] for task in tasks)
            for record in (ours, theirs):
                if record["status"] != OK:
                    raise ShoalError(f"{record['cell']['peer'] or OURS} failed on {name}: {record['reason']}")
            rows.append(
                {
                    "data set": name,
                    "texts": ours["n_texts"],
                    f"{OURS}, s": ours["seconds"],
                    f"{peer}, s": theirs["seconds"],
                    "ratio": round(ours["seconds"] / theirs["seconds"], 2),
                    f"{OURS}, MB": ours["peak_memory_mb"],
                    f"{peer}, MB": theirs["peak_memory_mb"],
                    "of memory": round(ours["peak_memory_mb"] / theirs["peak_memory_mb"], 2),
                    f"{OURS}, ACC": round(ours["scores"]["acc"], 1),
                    f"{peer}, ACC": round(theirs["scores"]["acc"], 1),
                }
            )
    if json:
        print_json({"threads": runner.threads, "rows": rows})
    else:
        columns = list(rows[0])
        print_table(f"{OURS} and {peer}", columns, [[str(row[name]) for name in columns] for row in rows], columns[1:])
