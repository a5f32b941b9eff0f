"""The table of fits without K: means over seeds, and what all rows come to, by hand."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from shoal_bench.cli import app
from shoal_bench.results import Results
from shoal_bench.unknown_k import GIVEN, OURS, PEER, as_markdown, compared, summary


def record(data_set, n_clusters, seed, acc, found, peer=None, fifths=(0.1, 0.2, 0.3, 0.4, 0.5), **others):
    cell = {"method": None if peer else "shoal", "params": {"n_clusters": n_clusters}, "data_set": data_set}
    made = {
        "schema": 1,
        "key": f"{data_set}{n_clusters}{seed}{peer}",
        "status": "ok",
        "cell": {**cell, "n_texts": None, "seed": seed, "peer": peer},
        "settings": {"topics": "found", "outliers": "kept"} if peer else {},
        "scores": {"acc": acc, "nmi": acc / 2},
        "n_found": found,
    }
    if not peer:
        made |= {"levels": {"coarse": 2, "medium": found, "fine": 2 * found}}
        made |= {
            "reliability": {
                "accuracy": list(fifths),
                "purity": [0.1, 0.3, 0.5, 0.7, 0.9],
                "confidence": [0.5] * 5,
                "error": 0.2,
            }
        }
    return {**made, **others}


DIPS = (0.1, 0.2, 0.3, 0.5, 0.4)
RECORDS = [
    record("agnews", "auto", 0, 80.0, 8),
    record("agnews", "auto", 1, 90.0, 8, fifths=DIPS),
    record("agnews", 4, 0, 88.0, 4),
    record("agnews", 4, 0, 40.0, 139, peer="bertopic"),
    record("trec6", "auto", 0, 50.0, 6),
]


def test_results_of_other_defaults_do_not_count():
    older = record("agnews", 4, 1, 99.0, 4, settings={"n_neighbors": 7})
    assert compared([*RECORDS, older]) == compared(RECORDS)


def test_rows_are_means_over_seeds():
    agnews, trec = compared(RECORDS)
    assert (agnews["data_set"], agnews["classes"], trec["data_set"]) == ("agnews", 4, "trec6")
    assert agnews[OURS] == {"n": 2, "acc": 85.0, "nmi": 42.5, "found": 8.0}
    assert agnews[GIVEN]["acc"] == 88.0
    assert agnews[PEER]["found"] == 139
    assert (agnews["factor"], agnews["near"]) == (2.0, 2.0)
    assert (agnews["accuracy_rises"], agnews["purity_rises"]) == (1, 2)
    assert agnews["accuracy"] == pytest.approx([0.1, 0.2, 0.3, 0.45, 0.45])
    assert GIVEN not in trec


def test_what_all_rows_come_to():
    total = summary(compared(RECORDS))
    assert (total["median_distance"], total["largest_distance"]) == (0.5, 1.0)
    assert (total["near_levels"], total["data_sets"]) == (1, 2)
    assert (total["accuracy_rising"], total["purity_rising"]) == (1, 2)
    assert total[f"short sets, {OURS} (beside {PEER})"] == {"data_sets": 1, "acc": 85.0, "nmi": 42.5}
    assert total[f"short sets, {PEER} (beside {PEER})"]["acc"] == 40.0


@pytest.mark.parametrize(
    "other",
    [
        {"status": "failed"},
        {"kind": "speed", "cell": None},
        {"cell": {**RECORDS[0]["cell"], "n_texts": 2000}},
        {"cell": {**RECORDS[0]["cell"], "params": {"n_clusters": "auto", "words": False}}},
        {"cell": {**RECORDS[0]["cell"], "train_share": 0.8}},
    ],
)
def test_other_fits_are_no_part_of_it(other):
    assert compared([{**RECORDS[0], **other}]) == []


def test_the_command_prints_what_the_results_have(tmp_path):
    file = Results(tmp_path / "results.jsonl")
    assert "has no fit without K" in str(CliRunner().invoke(app, ["unknown-k", "--results", str(file.file)]).exception)
    for each in RECORDS:
        file.append(each)
    printed = CliRunner().invoke(app, ["unknown-k", "--results", str(file.file)]).output
    assert printed == as_markdown(compared(RECORDS)) + "\n"
    assert "| agnews | 4 | 8 | 2, 8, 16 | 85.0 / 42.5 | 88.0 / 44.0 (1 seed) | 139 | 40.0 / 20.0 (1 seed) |" in printed
    told = json.loads(CliRunner().invoke(app, ["unknown-k", "--results", str(file.file), "--json"]).output)
    assert told["summary"]["data_sets"] == 2
