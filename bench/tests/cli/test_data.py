"""``shoal-bench data``: what the data sets are like."""

from __future__ import annotations

from made_data import write_data_set


def test_statistics_of_a_set_of_ones_own(shoal_bench, tmp_path, monkeypatch):
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path))
    write_data_set(tmp_path, "mine", [("a", "red fish"), ("a", "Red sea"), ("b", "one")])
    found = shoal_bench("data", "mine", "--json").json["data_sets"]["mine"]
    assert found == {"vocabulary": 4, "n_texts": 3, "words": 5 / 3, "n_classes": 2, "ratio": 2.0}
    shown = shoal_bench("data", "mine").out
    assert "largest by smallest" in shown
    assert "1.7" in shown
