"""Remarks: what a reader must know beside the figures."""

from __future__ import annotations

from shoal_bench.report.remarks import remarks_on
from shoal_bench.report.summary import summarise


def test_results_with_other_defaults_than_todays_are_named(made_suite, made_records):
    known = {record["key"]: record for record in made_records}
    assert not [line for line in remarks_on(summarise(made_suite, known)) if "defaults" in line]
    record = next(record for record in made_records if record["cell"]["method"] == "sccl")
    aged = {**record, "settings": {**record["settings"], "eta": 77.0}}
    lines = remarks_on(summarise(made_suite, {**known, aged["key"]: aged}))
    assert "Gamma: some results have other defaults than today's (eta)." in lines


def test_a_failure_is_told_once_with_the_sets_it_befell(made_suite, made_records):
    failed = [
        {**record, "status": "failed", "reason": "ValueError: made up"}
        if record["cell"]["method"] == "kmeans"
        else record
        for record in made_records
    ]
    lines = remarks_on(summarise(made_suite, {record["key"]: record for record in failed}))
    assert "Beta, failed: ValueError: made up (agnews, tweet, trec6, yelp)." in lines


def test_the_coherence_of_topics_is_told(made_suite, made_records):
    npmi = {"topics": -0.1, "telling": None, "largest": 0.25, "c_tf_idf": -0.2}
    told = [
        {**record, "topics": {"npmi": npmi, "clusters": []}}
        if (record["cell"]["method"], record["cell"]["data_set"]) == ("sccl", "tweet")
        else record
        for record in made_records
    ]
    (line,) = [line for line in remarks_on(summarise(made_suite, {r["key"]: r for r in told})) if "NPMI" in line]
    assert line.startswith("Gamma on tweet")
    assert "-0.100 for all topics, nan for those that are not general, 0.250" in line
    assert line.endswith("-0.200 for class-based TF-IDF.")
