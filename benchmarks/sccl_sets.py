"""SCCL beside its k-means start and the paper's figures, on the eight short-text sets.

    python benchmarks/sccl_sets.py --out results.jsonl                    # every set, the defaults
    python benchmarks/sccl_sets.py --sets tweet agnews --out results.jsonl --set preset=paper-offline
    python benchmarks/sccl_sets.py --method kmeans --out kmeans.jsonl     # another method on the same texts
    python benchmarks/sccl_sets.py --table results.jsonl                  # the table of what is there

The sets are looked for in the folder named by SHOAL_DATA. A set of more than --texts texts is cut to a fixed sample
(the first of numpy's RandomState(0).permutation). Labels are read for the scores only. A set that is already in
--out is not run again.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import time
from pathlib import Path

import numpy as np

from shoal import Corpus
from shoal.cli.settings import parse_assignments
from shoal.methods import find_method
from shoal.metrics import scores

DATA = Path(os.environ.get("SHOAL_DATA", "../shared/data"))
SETS = {
    "agnews": 4,
    "searchsnippets": 8,
    "stackoverflow": 20,
    "biomedical": 20,
    "googlenews_ts": 152,
    "googlenews_t": 152,
    "googlenews_s": 152,
    "tweet": 89,
}


def run(name: str, n_texts: int, method_name: str, params: dict) -> dict:
    corpus = Corpus.read(DATA / f"{name}.tsv.gz", text="text", label="label")
    rows = np.sort(np.random.RandomState(0).permutation(len(corpus))[:n_texts])
    texts, labels = ([values[i] for i in rows] for values in (corpus.texts, corpus.labels))
    method = find_method(method_name)
    preset = method.presets.get(params.pop("preset", ""), {})
    started = time.perf_counter()
    model = method(**{**preset, "n_clusters": SETS[name], **params}).fit(texts)
    seconds = time.perf_counter() - started
    outcome = getattr(model, "outcome_", {})
    return {
        "set": name,
        "method": method_name,
        "n_texts": len(texts),
        "n_clusters": SETS[name],
        "start": scores(labels, model.start_labels_),
        "end": scores(labels, model.labels_),
        "rolled_back": outcome.get("rolled_back", False),
        "reason": outcome.get("reason", ""),
        "steps": sum(row.get("event") == "step" for row in model.history_),
        "seconds": round(seconds, 1),
        "params": {key: value for key, value in model.get_params().items() if key != "log_to"},
    }


def published() -> dict[str, dict[str, float]]:
    """Return the paper's own SCCL figures."""
    figures: dict[str, dict[str, float]] = {}
    with (DATA / "published.tsv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            if row["source"] == "sccl_zhang2021" and row["method"] == "SCCL":
                figures.setdefault(row["dataset"], {})[row["metric"]] = float(row["value"])
    return figures


def table(file: Path) -> None:
    results = {row["set"]: row for row in map(json.loads, file.read_text().splitlines())}
    paper = published()
    print("| set | texts | start ACC / NMI | SCCL ACC / NMI | published ACC / NMI | steps | seconds | kept |")
    print("|---|---|---|---|---|---|---|---|")
    for name in SETS:
        if name in results:
            row, theirs = results[name], paper.get(name, {})
            pairs = [f"{row[when]['acc']:.1f} / {row[when]['nmi']:.1f}" for when in ("start", "end")]
            kept = "rolled back: " + row["reason"] if row["rolled_back"] else "end"
            figures = f"{theirs.get('acc', float('nan')):.1f} / {theirs.get('nmi', float('nan')):.1f}"
            ours = f"| {name} | {row['n_texts']} | {' | '.join(pairs)} "
            print(f"{ours}| {figures} | {row['steps']} | {row['seconds']:.0f} | {kept} |")
    means = [np.mean([row[when]["acc"] for row in results.values()]) for when in ("start", "end")]
    print(f"| mean of {len(results)} | | {means[0]:.1f} | {means[1]:.1f} | | | | |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    parser.add_argument("--texts", type=int, default=5000)
    parser.add_argument("--method", default="sccl", help="another method on the same texts")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args()
    if options.table is not None:
        table(options.table)
        return
    done = options.out.read_text() if options.out is not None and options.out.exists() else ""
    for name in options.sets:
        if f'"set": "{name}"' in done:
            print(f"{name} is done")
            continue
        result = run(name, options.texts, options.method, parse_assignments(options.set))
        print(json.dumps({key: result[key] for key in ("set", "start", "end", "steps", "seconds", "rolled_back")}))
        if options.out is not None:
            with options.out.open("a") as stream:
                stream.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
