"""``shoal map`` and ``shoal compare``."""

from __future__ import annotations

import pytest


@pytest.mark.slow
def test_a_picture_of_a_run(shoal, fit, tickets, tmp_path):
    _, run = fit(tickets, "--text", "body", "--clusters", 3, "--no-report")
    answer = shoal("map", run, "--out", tmp_path / "new" / "map.svg")
    assert answer.code == 0, answer.err
    assert (tmp_path / "new" / "map.svg").read_text().startswith("<?xml")
    assert shoal("map", run, "--out", tmp_path / "map.gif").code == 4


def test_two_runs_are_compared(shoal, fit, tickets, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fit(tickets, "--text", "body", "--clusters", 3, "--no-report", out="three")
    fit(tickets, "--text", "body", "--clusters", 2, "--no-report", out="two")
    answer = shoal("compare", "three", "two", "--json")
    assert answer.code == 0, answer.err
    found = answer.json
    assert found["n_texts"] == {"shared": 30, "before": 30, "after": 30}
    assert {"merged"} <= {change["kind"] for change in found["changes"]}
    assert found["page"] == "three-two.html"
    assert (tmp_path / "three-two.html").is_file()
    assert shoal("compare", "three", "two").code == 3  # the page exists
    said = shoal("compare", "three", "two", "--overwrite")
    assert "merged" in said.out
    assert "ARI" in said.out
    assert "30 texts are in both runs" in said.err
