"""``shoal show``: what a run found, for people and for programs."""

from __future__ import annotations

import pytest

from tiny_backbone import tiny_backbone


@pytest.fixture
def run(fit, tickets):
    return fit(tickets, "--text", "body", "--clusters", 3)[1]


@pytest.fixture
def run_with_topics(shoal, tickets, tmp_path):
    small = ("max_steps=2", "batch_size=16", "n_topics=2", "augmentation=virtual")
    settings = [part for setting in small for part in ("--set", setting)]
    options = ("--text", "body", "--method", "deccrl", "--backbone", tiny_backbone(tmp_path / "bert"), "--clusters", 3)
    fitted = shoal("fit", tickets, *options, *settings, "--out", tmp_path / "topics")
    assert fitted.code == 0, fitted.err
    return tmp_path / "topics"


def test_the_table_has_every_cluster_with_its_keywords(shoal, run):
    answer = shoal("show", run)
    clusters = shoal("show", run, "--json").json["clusters"]
    assert answer.code == 0, answer.err
    for cluster in clusters:
        assert cluster["name"].split(",")[0] in answer.out
        assert cluster["keywords"][-1] in answer.out
    assert "3 clusters of 30 texts" in answer.out
    assert "Topics" not in answer.out


def test_json_is_one_object_largest_cluster_first(shoal, run):
    found = shoal("show", run, "--json").json
    assert (found["run"], found["n_texts"], found["n_clusters"]) == (str(run), 30, 3)
    sizes = [cluster["size"] for cluster in found["clusters"]]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == 30


def test_topics_are_in_the_run_folder_and_shown(shoal, run_with_topics):
    clusters = shoal("show", run_with_topics, "--json").json["clusters"]
    assert [len(cluster["topics"]) for cluster in clusters] == [2, 2, 2]
    answer = shoal("show", run_with_topics)
    assert "Topics (general: shared by many clusters)" in answer.out
    assert " ".join(clusters[0]["topics"][0]["words"][:3]) in answer.out


def test_what_is_no_run_is_refused(shoal, tmp_path, run):
    answer = shoal("show", tmp_path / "nothing")
    assert answer.code == 7
    assert "is not a run folder" in answer.err
    (run / "clusters.json").write_text("[]")
    assert "was changed after the run was written" in shoal("show", run).err


def test_one_cluster_with_keywords_and_examples(shoal, fit, tickets):
    _, run = fit(tickets, "--text", "body", "--clusters", 3)
    clusters = {cluster["id"]: cluster for cluster in shoal("show", run, "--json").json["clusters"]}
    answer = shoal("show", run, "--cluster", 1)
    assert answer.code == 0, answer.err
    for part in (clusters[1]["name"], *clusters[1]["keywords"], *clusters[1]["examples"]):
        assert part in answer.out
    assert clusters[2]["examples"][0] not in answer.out
    (only,) = shoal("show", run, "--cluster", 1, "--json").json["clusters"]
    assert only == clusters[1]


def test_a_cluster_that_is_not_there(shoal, fit, tickets):
    _, run = fit(tickets, "--text", "body", "--clusters", 3)
    answer = shoal("show", run, "--cluster", 3)
    assert answer.code == 4
    assert "are 0 to 2" in answer.err
