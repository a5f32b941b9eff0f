"""``shoal score``: a table's clusters against its classes, as the metrics have it."""

from __future__ import annotations

import polars as pl
import pytest

from shoal import metrics

CLASSES = ["a", "a", "a", "b", "b", "c"]
GROUPS = [0, 0, 1, 1, 1, 2]


@pytest.fixture
def scored(shoal, tmp_path):
    """Return a function that scores two columns and returns the JSON object."""

    def score(classes, groups):
        pl.DataFrame({"class": classes, "group": groups}).write_parquet(tmp_path / "t.parquet")
        answer = shoal("score", tmp_path / "t.parquet", "--label", "class", "--cluster", "group", "--json")
        assert answer.code == 0, answer.err
        return answer.json

    return score


def test_equals_the_metrics(scored):
    found = scored(CLASSES, GROUPS)
    expected = metrics.scores(CLASSES, GROUPS)
    for name in ("homogeneity", "completeness", "v_measure"):
        expected[name] = 100 * getattr(metrics, name)(CLASSES, GROUPS)
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert found["acc"] == pytest.approx(100 * 5 / 6)  # by hand: one of six is with the wrong ones
    assert (found["n_texts"], found["n_classes"], found["n_clusters"]) == (6, 3, 3)


def test_names_of_clusters_do_not_matter(scored):
    assert scored(CLASSES, ["x", "x", "y", "y", "y", "z"])["acc"] == scored(CLASSES, GROUPS)["acc"]


def test_rows_without_a_cluster_count_as_wrong_and_are_counted(scored):
    found = scored(CLASSES, [0, 0, None, 1, 1, -1])
    assert (found["without_cluster"], found["n_clusters"], found["n_texts"]) == (2, 2, 6)
    assert found["acc"] == pytest.approx(100 * metrics.accuracy(CLASSES, [0, 0, None, 1, 1, None]))
    assert found["acc"] <= 100 * 5 / 6


def test_rows_without_a_class_are_left_out_and_counted(scored):
    found = scored([*CLASSES, None, ""], [*GROUPS, 0, 1])
    assert (found["without_label"], found["n_texts"]) == (2, 6)
    assert found["acc"] == pytest.approx(100 * 5 / 6)


def test_assignments_of_a_run_score_as_the_fit_said(shoal, fit, tickets):
    result, run = fit(tickets, "--text", "body", "--clusters", 4, "--label", "topic")
    for name in ("assignments.csv", "assignments.parquet"):
        found = shoal("score", run / name, "--label", "topic", "--json").json
        assert {key: found[key] for key in result["scores"]} == pytest.approx(result["scores"])


def test_for_people(shoal, fit, tickets):
    _, run = fit(tickets, "--text", "body", "--clusters", 3)
    answer = shoal("score", run / "assignments.csv", "--label", "topic")
    assert answer.out.startswith("ACC 100.0  NMI 100.0  ARI 100.0  PURITY 100.0")
    assert "30 texts, 3 classes, 3 clusters" in answer.err


def test_bad_input(shoal, tickets, tmp_path):
    answer = shoal("score", tickets, "--label", "topic", "--cluster", "group")
    assert answer.code == 3
    assert "no column 'group'; the columns are 'ticket'" in answer.err
    pl.DataFrame({"class": [None, None], "group": [1, 2]}).write_parquet(tmp_path / "t.parquet")
    answer = shoal("score", tmp_path / "t.parquet", "--label", "class", "--cluster", "group")
    assert answer.code == 3
    assert "the label column 'class' is empty; there is nothing to score against." in answer.err
    assert shoal("score", tickets).code == 2  # --label is required


def test_nothing_has_a_cluster(scored):
    found = scored(CLASSES, [None] * 6)
    assert found["without_cluster"] == 6
    assert found["acc"] <= 50
