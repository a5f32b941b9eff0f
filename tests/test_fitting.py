"""A run folder from Python: the same as from the command line, which is not needed for it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
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


def at_level(job, level, n_clusters=6):
    return replace(job, level=level, params={"n_clusters": n_clusters})


def test_a_run_is_written_at_the_level_asked_for(job, tmp_path):
    plain = start_fit(at_level(job, None), tmp_path / "plain")
    coarse = start_fit(at_level(job, "coarse"), tmp_path / "coarse")
    assert (len(plain.clusters), len(coarse.clusters)) == (6, 2)
    assert "2 clusters, cut from 6." in coarse.remarks()
    table = assignments(coarse.run)
    model = shoal.load(coarse.run)
    assert model.predict(table["body"].to_list()).tolist() == table["cluster"].fill_null(-1).to_list()
    assert model.cut("medium").names_ == [cluster.name for cluster in plain.clusters]
    assert not (coarse.run / "hierarchy.json").exists()
    tree = json.loads((plain.run / "hierarchy.json").read_text())
    assert sorted(k for theme in tree["children"] for k in theme["clusters"]) == list(range(6))


def test_a_level_that_is_not_on_offer_loses_nothing(job, tmp_path):
    result = start_fit(at_level(job, "coarse", 3), tmp_path / "run")
    assert len(result.clusters) == 3
    assert "There is no level 'coarse' of 3 clusters." in result.remarks()


def test_an_unknown_level_is_refused_before_the_fit(job, tmp_path):
    with pytest.raises(ParameterError, match="--level finest is unknown; pass one of coarse, medium, fine"):
        start_fit(at_level(job, "finest"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_few_texts_and_boilerplate_are_remarked_on(job, tmp_path):
    few = start_fit(job, tmp_path / "few")
    assert any(remark.startswith("29 texts are few: ") for remark in few.remarks())
    boilerplate = [f"Ticket {i} was closed." for i in range(12)]
    texts = [*made_table(60)["body"], *boilerplate]
    (tmp_path / "many.txt").write_text("\n".join(texts))
    many = replace(job, source=str(tmp_path / "many.txt"), text=None, label=None, params={"n_clusters": 4})
    result = start_fit(many, tmp_path / "many")
    (cluster,) = set(assignments(result.run)["cluster"][60:])
    assert result.boilerplate == (cluster,)
    (remark,) = [remark for remark in result.remarks() if remark.startswith("Near-duplicates or boilerplate")]
    assert remark.endswith(f"{result.clusters[cluster].name} (12 texts).")
    assert not any("texts are few" in remark for remark in result.remarks())
    assert resume_fit(tmp_path / "many").boilerplate == result.boilerplate


def test_the_number_and_its_evidence_are_in_the_run(job, tmp_path):
    np.save(tmp_path / "vectors.npy", np.eye(3)[np.arange(30) % 3] + 0.01 * np.arange(30)[:, None])
    job = replace(job, method="kmeans", vectors=str(tmp_path / "vectors.npy"), params={})
    result = start_fit(job, tmp_path / "run")
    assert result.remarks()[0].startswith(f"{len(result.clusters)} clusters, found from the texts: ")
    evidence = json.loads((result.run / "run.json").read_text())["n_clusters_evidence"]
    assert evidence["chosen"] == evidence["levels"]["medium"] == len(result.clusters)
    assert evidence["candidates"][0].keys() >= {"n_clusters", "agreement", "modularity", "smallest"}


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


def test_what_is_recorded_of_a_job_has_no_password():
    job = FitJob("postgresql://ann:hunter2@db/shop", query="select * from dblink('password=hunter2', 'select 1')")
    assert "hunter2" not in json.dumps(job.as_record())
    assert FitJob(**job.as_record()).source == "postgresql://ann@db/shop"
