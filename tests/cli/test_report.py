"""``shoal report``: the page of a run, made again from the run folder alone."""

from __future__ import annotations

import json
import shutil

import polars as pl
import pytest

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


def test_names_by_a_language_model_are_recorded_in_the_run(shoal, fit, tickets, tmp_path, monkeypatch):
    from naming.test_llm import Model, said

    monkeypatch.setenv("SHOAL_LLM_KEY", "secret")
    with Model(lambda _: said('{"name": "Some name", "summary": "A sentence <b>about</b> it."}')) as model:
        options = ("--names-by", "llm", "--llm-url", model.url, "--llm-model", "tiny")
        _, run = fit(tickets, "--text", "body", "--clusters", 3, *options)
    clusters = shoal("show", run, "--json").json["clusters"]
    assert [cluster["name"].partition(",")[0] for cluster in clusters] == ["Some name"] * 3
    assert len({cluster["name"] for cluster in clusters}) == 3
    info = json.loads((run / "run.json").read_text())
    assert (info["naming"]["by"], info["naming"]["model"], info["naming"]["n_named"]) == ("llm", "tiny", 3)
    assert len(info["naming"]["built_in_names"]) == 3
    html = (run / "report.html").read_text()
    assert "A sentence &lt;b&gt;about&lt;/b&gt; it." in html
    assert not any(b"secret" in file.read_bytes() for file in run.rglob("*") if file.is_file())


def test_a_language_model_needs_its_address(shoal, tickets, tmp_path):
    call = ("fit", tickets, "--text", "body", *FAST, "--clusters", 3, "--out", tmp_path / "no")
    assert "needs an address and a model" in shoal(*call, "--names-by", "llm").err
    assert "is unknown" in shoal(*call, "--names-by", "magic").err
    assert "pass --names-by llm" in shoal(*call, "--llm-model", "tiny").err
    assert not (tmp_path / "no").exists()
    answer = shoal(*call, "--names-by", "llm", "--llm-url", "http://127.0.0.1:9/v1", "--llm-model", "tiny")
    assert answer.code == 0
    assert "named 0 of 3 clusters, the others have built-in names" in answer.err


def test_the_map_is_drawn_again_with_fewer_texts(shoal, fit, tickets):
    _, run = fit(tickets, "--text", "body", "--clusters", 3)
    assert shoal("report", run, "--map-texts", 12).code == 0
    assert len(pl.read_parquet(run / "map.parquet")) == 12
    assert "A sample of 12 of 30 texts" in (run / "report.html").read_text(encoding="utf-8")
    answer = shoal("report", run, "--map-by", "pca")
    assert answer.code == 4
    assert "a map by 'pca' is unknown" in answer.err


@pytest.mark.slow
def test_a_map_by_umap(shoal, fit, tickets):
    _, run = fit(tickets, "--text", "body", "--clusters", 3, "--no-report")
    assert shoal("report", run, "--map-by", "umap").code == 0
    assert len(pl.read_parquet(run / "map.parquet")) == 30
