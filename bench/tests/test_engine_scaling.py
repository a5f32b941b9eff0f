"""Scaling is measured on a real cluster, and a plan follows from its constants."""

from __future__ import annotations

import pytest

from shoal_bench.engine_scaling import measure_scaling, planned_hours
from tiny_backbone import tiny_backbone


@pytest.mark.slow
def test_a_measurement(tmp_path, monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    texts = [f"text {i} of {word}" for i in range(60) for word in ("fish", "ships", "the sea")]
    (record,), moved = measure_scaling(texts, [2], backbone=tiny_backbone(tmp_path / "bert"))
    facts = record.as_dict()
    assert (facts["workers"], facts["n_texts"]) == (2, 180)
    assert all(value > 0 for name, value in facts.items() if name != "driver_seconds")
    assert 32 * 4 < moved["encode_bytes"] < 32 * 4 + 40
    assert moved["predict_bytes"] > len("text 1 of fish")


def test_the_slower_of_workers_and_driver_decides():
    many = planned_hours(36_000_000, 100, 10, per_second=100, driver_seconds=1e-3, start_seconds=0)
    assert many == {"workers_hours": 0.1, "driver_hours": 10.0, "hours": 10.0, "core_hours": 10_000.0}
