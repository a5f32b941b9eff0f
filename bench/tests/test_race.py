"""The race: both on the same vectors, one after the other; what is printed is what was measured."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from made_data import write_data_set
from shoal_bench import peers
from shoal_bench.cli import app
from shoal_bench.results import new_record
from shoal_bench.runner import Runner


def test_seconds_memory_and_their_ratios(tmp_path, monkeypatch):
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path))
    write_data_set(tmp_path, "topics", [("a", "one"), ("b", "two"), ("a", "three")])
    monkeypatch.setattr(peers, "ensure_environment", lambda peer: None)

    def run(self, tasks):
        for task, seconds, memory in zip(tasks, (2.0, 8.0), (300.0, 1200.0), strict=True):
            facts = {"seconds": seconds, "peak_memory_mb": memory, "scores": {"acc": 50.0}, "n_texts": 3}
            self.results.append(new_record(task.key, cell=task.cell.as_dict(), **facts))

    monkeypatch.setattr(Runner, "run", run)
    done = CliRunner().invoke(app, ["race", "--data-set", "topics", "--threads", "1", "--json"])
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)["rows"]
    assert (row["shoal, s"], row["bertopic, s"], row["ratio"], row["of memory"]) == (2.0, 8.0, 0.25, 0.25)
