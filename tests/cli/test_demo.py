"""``shoal demo``: named groups of texts that every Python has."""

from __future__ import annotations

import polars as pl
import pytest

from cli_tickets import made_table
from shoal.demo_texts import DemoText


def test_with_the_fast_method(shoal, tmp_path, monkeypatch):
    table = made_table(60)
    texts = [DemoText(row["body"], row["topic"], row["ticket"]) for row in table.to_dicts()]
    monkeypatch.setattr("shoal.demo_texts.standard_library_texts", lambda: texts)
    answer = shoal("demo", "--method", "tfidf-kmeans", "--out", tmp_path / "run", "--json")
    assert answer.code == 0, answer.err
    assert (answer.json["n_texts"], answer.json["n_clusters"]) == (60, 3)
    assert answer.json["scores"].keys() == answer.json["start_scores"].keys() == {"acc", "nmi", "ari", "purity"}
    found = pl.read_parquet(tmp_path / "run" / "assignments.parquet")
    assert found.columns[:3] == ["text", "module", "name"]
    assert found["text"].to_list() == [text.text for text in texts]
    again = shoal("demo", "--method", "tfidf-kmeans", "--out", tmp_path / "run")
    assert again.code == 7


@pytest.mark.slow
def test_with_the_built_in_model(shoal, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = shoal("demo")
    assert answer.code == 0, answer.err
    assert "clusters of" in answer.out
    accuracy = float(answer.out.split("ACC ")[1].split()[0])
    assert accuracy > 35  # twenty modules: chance is about 10
    suggested = answer.err.rpartition("Next: ")[2].split()
    shown = shoal(*suggested[1:])
    assert (suggested[0], suggested[1], shown.code) == ("shoal", "show", 0)
    assert "keywords" in shown.out
    assert (tmp_path / "runs" / "demo-1" / "run.json").is_file()
    found = pl.read_parquet(tmp_path / "runs" / "demo-1" / "assignments.parquet")
    found[:500].write_csv(tmp_path / "some.csv")  # in other company than in the fit
    again = shoal("predict", "runs/demo-1", "some.csv", "--json").json["predictions"]
    assert [row["cluster"] for row in again] == found["cluster"][:500].to_list()
