"""Summaries: the right records in the right places, and their arithmetic."""

from __future__ import annotations

import pytest

from shoal_bench.data_sets import find_data_set
from shoal_bench.report.remarks import remarks_on
from shoal_bench.report.suite_chapter import score_table
from shoal_bench.report.summary import path_through, summarise
from shoal_bench.tiers import find_tier


def known(records):
    return {record["key"]: record for record in records}


def row_of(suite, name):
    return next(row for row in suite.rows if row.name == name)


def test_mean_and_sample_deviation_over_the_seeds(made_suite, made_records):
    summary = summarise(made_suite, known(made_records))
    cell = summary.of(row_of(made_suite, "Gamma"), "agnews")
    assert cell.mean("acc") == 82
    assert cell.spread("acc") == 2
    assert summary.difference(row_of(made_suite, "Gamma"), "agnews", "acc") == pytest.approx(-3.5)


def test_one_seed_has_no_deviation(made_suite, made_records):
    records = [record for record in made_records if record["cell"]["seed"] == 1]
    cell = summarise(made_suite, known(records)).of(row_of(made_suite, "Beta"), "tweet")
    assert (cell.mean("acc"), cell.spread("acc")) == (62, None)


def test_nothing_published_or_nothing_measured_gives_no_difference(made_suite, made_records):
    summary = summarise(made_suite, known(made_records))
    assert summary.difference(row_of(made_suite, "Beta"), "agnews", "acc") is None
    assert summary.difference(row_of(made_suite, "Delta"), "agnews", "acc") is None


def test_rows_with_results_and_rows_on_every_set(made_suite, made_records):
    summary = summarise(made_suite, known(made_records))
    assert [row.name for row in summary.rows] == ["Alpha | <i>k-means</i>", "Beta", "Gamma", "Epsilon"]
    assert [row.name for row in summary.complete_rows] == ["Alpha | <i>k-means</i>", "Beta", "Gamma"]


def test_the_tier_with_most_texts_is_shown(made_suite, made_records):
    assert summarise(made_suite, {}).tier.name == "standard"
    # the cheap rows of standard are cells of paper too: the tie goes to the tier that is more complete
    cheap = [record for record in made_records if record["cell"]["method"] == "bow-kmeans"]
    assert summarise(made_suite, known(cheap)).tier.name == "standard"
    assert summarise(made_suite, known(made_records)).tier.name == "standard"


def test_results_of_quick_fill_the_gaps_of_standard(made_suite, make_record):
    large = [cell for row, cell in made_suite.cells(find_tier("standard")) if row.name == "Gamma"][:1]
    small = [cell for row, cell in made_suite.cells(find_tier("quick")) if row.name == "Gamma"][:2]
    records = [make_record(cell, scores={"acc": 1.0}) for cell in (*large, *small)]
    assert summarise(made_suite, known(records[1:])).tier.name == "quick", "nothing else was run"
    summary = summarise(made_suite, known(records))
    assert summary.tier.name == "standard"
    found = {name: summary.of(row_of(made_suite, "Gamma"), name) for name in {cell.data_set for cell in small}}
    assert all(cell.records for cell in found.values())
    assert found[large[0].data_set].other_size is None


def test_a_suite_may_name_the_tier_that_is_shown(made_suite, make_record):
    cells = [next(made_suite.cells(find_tier(name)))[1] for name in ("quick", "standard")]
    records = known([make_record(cell, scores={"acc": 1.0}) for cell in cells])
    assert summarise(made_suite, records).tier.name == "standard"
    assert summarise(made_suite.model_copy(update={"shown_tier": "quick"}), records).tier.name == "quick"


def test_a_result_without_what_the_suite_asks_for_beside_the_scores_does_not_count(made_suite, make_record):
    rows = tuple(
        row.model_copy(update={"extras": ("pairs",)}) if row.name == "Beta" else row for row in made_suite.rows
    )
    suite = made_suite.model_copy(update={"rows": rows})
    (cell, *_) = [cell for row, cell in suite.cells(find_tier("quick")) if row.name == "Beta"]
    without, whole = (make_record(cell, scores={"acc": 1.0}, extras=extras) for extras in ({}, {"pairs": []}))
    assert not summarise(suite, known([without])).rows
    (large, *_) = [cell for row, cell in suite.cells(find_tier("standard")) if row.name == "Beta"]
    broken = summarise(suite, known([make_record(large, status="failed", reason="made up")]))
    assert broken.of(row_of(suite, "Beta"), large.data_set).troubles, "a failure is shown whatever it lacks"
    assert [row.name for row in summarise(suite, known([whole])).rows] == ["Beta"]


def test_quick_is_shown_when_nothing_else_was_run(made_suite, make_record):
    cells = {cell.data_set: cell for row, cell in made_suite.cells(find_tier("quick")) if row.name == "Beta"}
    records = [make_record(cells["tweet"], scores={"acc": 1.0})]
    summary = summarise(made_suite, known(records))
    assert summary.tier == find_tier("quick")
    assert summary.data_sets == ("tweet",)
    asked_for = [*records, make_record(cells["yelp"], scores={"acc": 2.0})]
    more = summarise(made_suite, known(asked_for))
    assert set(more.data_sets) == {"tweet", "yelp"}, "what was asked for by name is shown too"
    assert more.of(row_of(made_suite, "Beta"), "yelp").mean("acc") == 2.0


def test_encoding_is_charged_to_all_who_use_the_vectors_and_not_to_who_trains(made_suite, made_records):
    summary = summarise(made_suite, known(made_records))
    beta, gamma, epsilon = (row_of(made_suite, name) for name in ("Beta", "Gamma", "Epsilon"))
    assert summary.whole_seconds(beta, "tweet") == 50
    assert summary.whole_seconds(epsilon, "agnews") == 50
    assert summary.whole_seconds(gamma, "tweet") == 300
    assert summary.whole_seconds(row_of(made_suite, "Alpha | <i>k-means</i>"), "tweet") == 10


def test_vectors_from_the_cache_are_noticed(made_suite, made_records):
    summary = summarise(made_suite, known(made_records))
    beta = row_of(made_suite, "Beta")
    assert summary.lacks_encoding(beta, "yelp")
    assert not summary.lacks_encoding(beta, "tweet")
    assert not summary.lacks_encoding(row_of(made_suite, "Gamma"), "yelp")
    assert not summary.lacks_encoding(row_of(made_suite, "Alpha | <i>k-means</i>"), "yelp")


def test_steps_are_counted_on_through_stages():
    trace = [{"step": 0, "acc": 1.0}, {"step": 8, "acc": None}, {"step": 0, "acc": 2.0}, {"step": 5, "acc": 3.0}]
    assert path_through(trace, "acc") == [(0, 1.0), (8, 2.0), (13, 3.0)]
    assert path_through(trace, "missing") == []


def test_a_mean_has_records_of_one_kind_of_defaults_only(made_suite, made_records):
    first = next(record for record in made_records if record["cell"]["method"] == "sccl")
    aged = {**first, "settings": {**first["settings"], "eta": 77.0}}
    known = {record["key"]: record for record in made_records} | {aged["key"]: aged}
    row = next(row for row in made_suite.rows if row.method == "sccl")
    cell, before = (
        summarise(made_suite, records).of(row, first["cell"]["data_set"])
        for records in (known, {record["key"]: record for record in made_records})
    )
    others = [record for record in before.records if record["key"] != first["key"]]
    assert list(cell.records) == (others or [aged])


def test_the_largest_other_number_of_texts_stands_where_the_tiers_was_not_run(made_suite, make_record):
    tier, row = find_tier("standard"), row_of(made_suite, "Gamma")
    first, second = (find_data_set(name) for name in made_suite.data_sets[:2])
    records = [
        make_record(row.cell(data_set, tier, seed, n_texts), scores={"acc": float(n_texts + seed)}, n_texts=n_texts)
        for data_set, seed, n_texts in ((first, 0, 100), (first, 0, 300), (first, 1, 300), (second, 0, 300))
    ]
    records.append(make_record(row.cell(second, tier, 0), scores={"acc": 77.0}))
    summary = summarise(made_suite, known(records))
    assert (summary.of(row, first.name).mean("acc"), summary.of(row, first.name).other_size) == (300.5, 300)
    assert (summary.of(row, second.name).mean("acc"), summary.of(row, second.name).other_size) == (77.0, None)
    assert "300.5 ± 0.7 (n = 2) (300 texts)" in score_table(summary, "acc")
    assert f"{row.name}: run with `--texts 300` on {first.name}." in remarks_on(summary)
    assert "ours, 300 texts | 300.5 | 300.0" in score_table(summary, "acc"), "the other set can be compared"


def test_rows_can_be_compared_on_as_many_texts(made_suite, make_record):
    tier, beta, gamma = find_tier("standard"), row_of(made_suite, "Beta"), row_of(made_suite, "Gamma")
    first, second = (find_data_set(name) for name in made_suite.data_sets[:2])
    records = [
        make_record(row.cell(data_set, tier, 0, n_texts), scores={"acc": acc}, n_texts=n_texts or data_set.n_texts)
        for row, data_set, n_texts, acc in (
            (beta, first, None, 80.0),
            (beta, first, 300, 70.0),
            (gamma, first, 300, 60.0),
            (beta, second, None, 50.0),
            (gamma, second, 300, 40.0),
        )
    ]
    summary = summarise(made_suite, known(records))
    assert summary.of(beta, first.name).mean("acc") == 80.0
    assert [summary.alike(row, first.name).mean("acc") for row in (beta, gamma)] == [70.0, 60.0]
    assert [summary.alike(row, second.name).mean("acc") for row in (beta, gamma)] == [50.0, 40.0], "nobody ran it so"
