"""The race: both on the same vectors, one after the other; what is printed is what was measured."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from made_data import write_data_set
from shoal_bench import peers
from shoal_bench.cli import app

TOPICS = {
    "bread": ["sourdough bread in a hot oven", "knead the bread dough", "a loaf of rye bread", "bake bread with yeast"],
    "train": [
        "the night train to the coast",
        "a late train at the station",
        "train tickets",
        "the express train stops",
    ],
}


@pytest.mark.slow
def test_seconds_memory_and_their_ratios(tmp_path, monkeypatch):
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path))
    write_data_set(tmp_path, "topics", [(topic, text) for topic, texts in TOPICS.items() for text in texts])
    monkeypatch.setattr(peers, "ensure_environment", lambda peer: None)
    really = peers.run_peer
    given = []

    def run_peer(cell, texts, labels, vectors, threads):
        given.append((cell["params"], cell["seed"], texts, vectors, threads))
        if cell["peer"] == "shoal":
            return really(cell, texts, labels, vectors, threads)  # in a process of its own
        return {"labels": [0] * len(texts), "seconds": 8.0, "peak_memory_mb": 1200.0}

    monkeypatch.setattr(peers, "run_peer", run_peer)
    done = CliRunner().invoke(app, ["race", "--data-set", "topics", "--threads", "1", "--json"])
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)["rows"]
    assert row["texts"] == 8
    assert row["shoal, ACC"] == 100
    assert row["bertopic, ACC"] == 50
    # Seconds and megabytes have one digit after the point, ratios two.
    assert row["ratio"] == pytest.approx(row["shoal, s"] / 8, abs=0.05 / 8 + 0.006)
    assert row["of memory"] == pytest.approx(row["shoal, MB"] / 1200, abs=0.05 / 1200 + 0.006)
    assert 0 < row["shoal, s"] < 60
    assert 50 < row["shoal, MB"] < 1200
    (ours, theirs) = given
    assert ours[:3] == theirs[:3]
    assert ours[4] == theirs[4] == 1
    np.testing.assert_array_equal(ours[3], theirs[3])
