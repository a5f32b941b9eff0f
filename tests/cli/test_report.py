"""``shoal report``: the page of a run, made again from the run folder alone."""

from __future__ import annotations

import shutil

import polars as pl

from cli_tickets import FAST


def test_a_lost_report_is_made_again_and_the_run_stays_whole(shoal, fit, tickets):
    _, run = fit(tickets, "--text", "body", "--clusters", 3)
    before = (run / "report.html").read_bytes()
    (run / "report.html").unlink()
    answer = shoal("report", run, "--json")
    assert answer.code == 0, answer.err
    assert answer.json["bytes"] == len(before)
    assert (run / "report.html").read_bytes() == before
    assert shoal("show", run).code == 0


def test_a_run_may_be_moved(shoal, fit, tickets, tmp_path):
    _, run = fit(tickets, "--text", "body", "--clusters", 3)
    tickets.unlink()
    shutil.move(run, tmp_path / "elsewhere")
    assert shoal("report", tmp_path / "elsewhere", "--out", tmp_path / "page.html").code == 0
    assert (tmp_path / "page.html").stat().st_size > 20_000


def test_without_a_report_at_first(shoal, fit, tickets):
    result, run = fit(tickets, "--text", "body", "--clusters", 3, "--no-report")
    assert result["report"] is None
    assert not (run / "report.html").exists()
    assert not (run / "map.parquet").exists()
    assert shoal("report", run).code == 0
    places = pl.read_parquet(run / "map.parquet")
    assert places.columns == ["row", "x", "y"]
    assert len(places) == 30


def test_a_missing_column_is_named_before_the_fit(shoal, tickets, tmp_path):
    for option in ("--date", "--group-by"):
        answer = shoal(
            "fit", tickets, "--text", "body", *FAST, "--clusters", 3, option, "when", "--out", tmp_path / "no"
        )
        assert answer.code == 3
        assert "when" in answer.err
    answer = shoal(
        "fit", tickets, "--text", "body", *FAST, "--clusters", 3, "--date", "topic", "--out", tmp_path / "no"
    )
    assert answer.code == 3
    assert "has dates in 0 of 30 cells" in answer.err
    assert not (tmp_path / "no").exists()


def test_own_stop_words_are_in_no_name(shoal, fit, tickets, tmp_path):
    _, run = fit(tickets, "--text", "body", "--clusters", 3)
    word = shoal("show", run, "--json").json["clusters"][0]["keywords"][0]
    (tmp_path / "words.txt").write_text(f"{word.upper()}\n", encoding="utf-8")
    for given in (f"{word},other", tmp_path / "words.txt"):
        _, other = fit(tickets, "--text", "body", "--clusters", 3, "--stop-words", given, "--overwrite", out="other")
        for cluster in shoal("show", other, "--json").json["clusters"]:
            assert word not in cluster["keywords"]
            assert word not in cluster["name"].split(", ")
