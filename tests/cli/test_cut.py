"""``shoal cut``: a run at another number of clusters."""

from __future__ import annotations

import pytest

from cli_tickets import assignments


@pytest.fixture
def run(fit, tickets):
    return fit(tickets, "--text", "body", "--clusters", 6)[1]


def test_by_number_and_by_level(shoal, run, tmp_path):
    answer = shoal("cut", run, "--clusters", 3, "--out", tmp_path / "three", "--json")
    assert (answer.code, answer.json["n_clusters"], answer.json["run"]) == (0, 3, str(tmp_path / "three"))
    assert shoal("cut", run, "--level", "coarse", "--out", tmp_path / "coarse", "--json").json["n_clusters"] == 2
    assert assignments(tmp_path / "coarse")["cluster"].n_unique() == 2


def test_it_says_what_it_did_and_predict_follows(shoal, run, tickets, tmp_path):
    answer = shoal("cut", run, "--clusters", 3, "--out", tmp_path / "three")
    assert answer.code == 0, answer.err
    assert "3 clusters, cut from 6." in answer.err
    assert shoal("predict", tmp_path / "three", tickets, "--out", tmp_path / "again.csv").code == 0
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "three" / "assignments.csv").read_bytes()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "pass either --clusters NUMBER or --level coarse, medium or fine"),
        (["--clusters", 3, "--level", "fine"], "pass either --clusters NUMBER or --level"),
        (["--level", "huge"], "level='huge' is not on offer; pass one of coarse, medium, fine, or a number"),
        (["--clusters", 0], "0 clusters were asked for, but this run can be cut into 1 to"),
    ],
)
def test_what_cannot_be_cut(shoal, run, flags, message):
    answer = shoal("cut", run, *flags)
    assert (answer.code, answer.out) == (4, "")
    assert message in answer.err


def test_no_run(shoal, tmp_path):
    assert shoal("cut", tmp_path / "nowhere", "--clusters", 2).code == 7
