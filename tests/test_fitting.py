"""A run folder from Python: the same as from the command line, which is not needed for it."""

from __future__ import annotations

import pytest

import shoal
from cli_tickets import ADDED, assignments, made_table
from shoal.errors import ParameterError, RunFolderError
from shoal.fitting import FitJob, resume_fit, start_fit


@pytest.fixture
def job(tmp_path):
    """Return a job on thirty tickets of three topics, one of them empty."""
    made_table(empty=(4,)).write_csv(tmp_path / "tickets.csv")
    return FitJob(
        str(tmp_path / "tickets.csv"), text="body", label="topic", method="tfidf-kmeans", params={"n_clusters": 3}
    )


def test_a_run_is_written_and_described(job, tmp_path):
    result = start_fit(job, tmp_path / "run")
    assert (result.run, result.method, result.n_texts, len(result.clusters)) == (tmp_path / "run", job.method, 30, 3)
    assert result.dropped == {"empty": 1}
    assert result.scores["acc"] > 60
    assert result.outcome["stages"] == []
    table = assignments(result.run)
    assert table.columns == ["ticket", "body", "topic", "day", *ADDED]
    assert table["cluster"].null_count() == 1
    model = shoal.load(result.run)
    assert model.predict(table["body"].to_list()).tolist() == table["cluster"].fill_null(-1).to_list()


def test_a_run_is_not_replaced_unless_asked(job, tmp_path):
    start_fit(job, tmp_path / "run")
    with pytest.raises(RunFolderError, match="overwrite"):
        start_fit(job, tmp_path / "run")
    assert start_fit(job, tmp_path / "run", overwrite=True).n_texts == 30


def test_what_does_not_work_leaves_nothing_behind(job, tmp_path):
    with pytest.raises(ParameterError, match="n_init=0 but it must be a whole number >= 1"):
        start_fit(FitJob(job.source, text="body", method=job.method, params={"n_init": 0}), tmp_path / "run")
    assert [file.name for file in tmp_path.iterdir()] == ["tickets.csv"]
    with pytest.raises(RunFolderError, match="there is no interrupted run"):
        resume_fit(tmp_path / "run")
