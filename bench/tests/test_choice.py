"""Choosing cells: what is asked for, what is not there, and names that nobody knows."""

from __future__ import annotations

import pytest

from made_data import write_data_set
from shoal.errors import DataError, ParameterError
from shoal_bench import choice
from shoal_bench.choice import Choice
from shoal_bench.data_sets import find_data_set
from shoal_bench.suite import load_suite
from shoal_bench.tiers import TIERS

QUICK = TIERS["quick"]


@pytest.fixture
def suites(tmp_path, data):
    file = tmp_path / "two.toml"
    file.write_text(
        'title = "t"\nsource = "s"\ndata_sets = ["topics", "absent"]\n'
        '[[rows]]\nname = "BoW"\nmethod = "bow-kmeans"\n'
        '[[rows]]\nname = "Tool"\npeer = "bertopic"\n'
        '[[rows]]\nname = "Later"\n'
        '[[rows]]\nname = "Sweep"\nmethod = "tfidf-kmeans"\nquick = false\n'
    )
    return [load_suite(str(file))]


def chosen(choice: Choice, suites, **options) -> list[tuple[str, str, int]]:
    return [(task.cell.data_set, task.row, task.cell.seed) for task in choice.tasks(suites, **options)[0]]


def test_peers_are_run_when_they_are_asked_for(suites):
    def rows(**asked):
        return [row for _, row, _ in chosen(Choice(QUICK, ["topics"], **asked), suites)]

    assert rows() == ["BoW"]
    assert rows(peers=["all"]) == rows(peers=["bertopic"]) == ["BoW", "Tool"]
    assert rows(rows=["Tool"]) == ["Tool"]


def test_what_the_quick_tier_leaves_out_is_run_when_it_is_named(suites):
    assert [row for _, row, _ in chosen(Choice(QUICK, ["topics"], rows=["Sweep"]), suites)] == ["Sweep"]
    standard = chosen(Choice(TIERS["standard"], ["topics"], seeds=(0,)), suites)
    assert [row for _, row, _ in standard] == ["BoW", "Sweep"]


def test_seeds_and_sizes_win_over_the_tier(suites):
    tasks, _ = Choice(QUICK, ["topics"], seeds=(7, 8), n_texts=45).tasks(suites)
    assert [(task.cell.seed, task.cell.n_texts, task.n_texts) for task in tasks] == [(7, 45, 45), (8, 45, 45)]
    whole, _ = Choice(QUICK, ["topics"]).tasks(suites)
    assert [(task.cell.n_texts, task.n_texts) for task in whole] == [(None, 60)]


def test_a_data_set_that_is_not_there_is_an_error_or_left_out(suites):
    with pytest.raises(DataError, match="data set 'absent': there is no file"):
        Choice(QUICK).tasks(suites)
    tasks, missing = Choice(QUICK).tasks(suites, omit_missing=True)
    assert {task.cell.data_set for task in tasks} == {"topics"}
    assert missing == ["absent"]


def test_a_data_set_is_read_once(suites, data, monkeypatch):
    write_data_set(data, "absent", [("a", "one"), ("b", "two")])
    read = []
    monkeypatch.setattr(choice, "find_data_set", lambda name: read.append(name) or find_data_set(name))
    Choice(TIERS["standard"], peers=["all"]).tasks(suites)
    assert read == ["topics", "absent"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"data_sets": ["topics", "fish"]}, "no data set 'fish' that can be run; it has: topics, absent"),
        ({"rows": ["BoW", "bow"]}, "no row 'bow' that can be run; it has: BoW, Tool"),
        ({"rows": ["Later"]}, "no row 'Later' that can be run"),
        ({"methods": ["kmeans"]}, "no method 'kmeans' that can be run; it has: bow-kmeans"),
        ({"peers": ["fish"]}, "no peer 'fish' that can be run; it has: bertopic"),
        ({"rows": ["Tool"], "methods": ["bow-kmeans"]}, "no row is left to run"),
    ],
)
def test_a_name_that_no_suite_has_is_refused(suites, asked, said):
    with pytest.raises(ParameterError, match=said):
        Choice(QUICK, **asked).tasks(suites)
