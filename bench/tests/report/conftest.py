"""Results that are made up from beginning to end, and a suite to go with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shoal_bench.data_sets import find_data_set
from shoal_bench.suite import Suite, load_suite
from shoal_bench.tiers import find_tier

SUITE = """
title = "A made-up table"
source = "Nobody (1999), table <9>"
data_sets = ["agnews", "tweet", "trec6", "yelp"]
quick_data_sets = ["tweet"]
remark = "All of this is made up; `paper` means nothing."

[[rows]]
name = "Alpha | <i>k-means</i>"
method = "bow-kmeans"
published_backbone = "counts"
[rows.published]
acc = { agnews = 70.0, tweet = 50.0 }
nmi = { agnews = 11.0 }

[[rows]]
name = "Beta"
method = "kmeans"

[[rows]]
name = "Gamma"
method = "sccl"
cost = "expensive"
why_behind = "Too few made-up steps."
[rows.published]
acc = { agnews = 85.5, tweet = 60.0, trec6 = 33.4, yelp = 44.4 }

[[rows]]
name = "Delta"
[rows.published]
acc = { agnews = 91.7 }

[[rows]]
name = "Epsilon"
peer = "bertopic"

[[rows]]
name = "Zeta"
method = "tfidf-kmeans"
"""

# Three seeds each: Gamma on agnews has the mean 82 and the sample standard deviation 2.
ACC = {
    "bow-kmeans": {"agnews": (71, 72, 73), "tweet": (48, 48, 48), "trec6": (20, 21, 22), "yelp": (30, 31, 32)},
    "kmeans": {"agnews": (76, 76.5, 77), "tweet": (61, 62, 63), "trec6": (40, 41, 42), "yelp": (35, 36, 37)},
    "sccl": {"agnews": (80, 82, 84), "tweet": (66, 67, 68), "trec6": (30, 30, 30), "yelp": (45, 46, 47)},
}


def made_record(cell, **facts):
    """Return a record of a fit that never was."""
    data_set = find_data_set(cell.data_set)
    return {
        "schema": 1,
        "key": cell.key(data_set.sha256),
        "cell": cell.as_dict(),
        "settings": cell.settings(),
        "data_sha256": data_set.sha256,
        "n_texts": cell.n_texts or data_set.n_texts,
        "n_clusters": data_set.n_classes,
        "status": "ok",
        "reason": "",
        "start_scores": None,
        "n_found": data_set.n_classes,
        "outliers": 0.0,
        "seconds": 10.0,
        "encode_seconds": None,
        "peak_memory_mb": 500.0,
        "threads": 2,
        "outcome": None,
        "trace": [],
        "pair_similarity": None,
        "versions": {"shoal": "0.0.7", "python": "3.11.1"},
        "machine": {"cpu": "Abacus", "cores": 2, "memory_gb": 8.0, "system": "Linux x86_64"},
        "when": f"2001-02-0{1 + cell.seed}T00:00:00+00:00",
        **facts,
    }


def made_scores(acc):
    return {"acc": float(acc), "nmi": acc - 60.0, "ari": 1.0, "purity": 2.0}


def made_training(acc):
    """Return what a training leaves in a record that ends at ``acc``."""
    evaluations = [
        {"stage": "one", "step": step, "acc": acc - 4.0 + step / 10, "nmi": 9.0, "intra": 1.0, "inter": 0.5}
        for step in (0, 20, 40)
    ]
    evaluations = [{**look, "intra_true": 1.2, "inter_true": 0.4} for look in evaluations]
    outcome = {"rolled_back": acc == 30, "reason": "made up"}
    return {"start_scores": made_scores(acc - 4), "trace": evaluations, "outcome": outcome, "seconds": 300.0}


@pytest.fixture(scope="session")
def made_suite_file(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("made-suite") / "made.toml"
    file.write_text(SUITE, encoding="utf-8")
    return file


@pytest.fixture(scope="session")
def made_suite(made_suite_file) -> Suite:
    return load_suite(str(made_suite_file))


@pytest.fixture(scope="session")
def made_records(made_suite) -> list[dict]:
    """The standard tier, but for Zeta, which nobody ran; Epsilon failed on all sets but agnews."""
    records = []
    for row, cell in made_suite.cells(find_tier("standard")):
        if row.name == "Zeta":
            continue
        if row.name == "Epsilon":
            good = cell.data_set == "agnews"
            found = {"scores": made_scores(55), "n_found": 139, "outliers": 0.29}
            trouble = {"status": "unavailable", "reason": "needs <b>a hub</b> | and *more*."}
            records.append(made_record(cell, **(found if good else trouble)))
            continue
        acc = ACC[cell.method][cell.data_set][cell.seed]
        facts = {"scores": made_scores(acc)}
        if cell.method == "sccl":
            facts |= {"fitted_scores": made_scores(acc + 1), **made_training(acc)}
        if cell.method == "kmeans" and cell.seed == 0 and cell.data_set != "yelp":
            facts["encode_seconds"] = 40.0
        records.append(made_record(cell, **facts))
    return records


@pytest.fixture(scope="session")
def make_record():
    return made_record


@pytest.fixture(scope="session")
def write_results():
    def write(file: Path, records) -> Path:
        file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return file

    return write
