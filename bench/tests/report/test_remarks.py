"""Remarks: what a reader must know beside the figures."""

from __future__ import annotations

from shoal_bench.report.remarks import remarks_on
from shoal_bench.report.suite_chapter import score_table
from shoal_bench.report.summary import summarise


def test_results_with_other_defaults_than_todays_are_named(made_suite, made_records):
    known = {record["key"]: record for record in made_records}
    assert not [line for line in remarks_on(summarise(made_suite, known)) if "defaults" in line]
    aged = {
        record["key"]: {**record, "settings": {**record["settings"], "eta": 77.0}}
        for record in made_records
        if record["cell"]["method"] == "sccl"
    }
    lines = remarks_on(summarise(made_suite, {**known, **aged}))
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


def test_a_row_that_cannot_run_here_has_the_command_that_runs_it_elsewhere(made_suite, made_records):
    missing = [
        {**record, "status": "unavailable", "reason": "'roberta-base' cannot be loaded."}
        if record["cell"]["method"] == "kmeans"
        else record
        for record in made_records
    ]
    lines = remarks_on(summarise(made_suite, {record["key"]: record for record in missing}))
    (line,) = [line for line in lines if line.startswith("Beta, unavailable: 'roberta-base' cannot be loaded (")]
    assert f"`shoal-bench --suite {made_suite.name} --tier " in line
    assert line.endswith("--row Beta`.")


def test_figures_of_a_start_are_marked_as_such(made_suite, made_records):
    stage = {"stage": "joint", "start": {"gain": 0.0}, "kept_step": 0, "rolled_back": True}
    outcome = {"rolled_back": True, "reason": "made up", "stages": [stage]}
    undone = [
        {**record, "outcome": outcome} if record["cell"]["method"] == "sccl" else record for record in made_records
    ]
    summary = summarise(made_suite, {record["key"]: record for record in undone})
    assert [line for line in remarks_on(summary) if line.startswith("Gamma: (start) marks")]
    assert "(start)" in score_table(summary, "acc")
    untouched = summarise(made_suite, {record["key"]: record for record in made_records})
    assert "(start)" not in score_table(untouched, "acc")
