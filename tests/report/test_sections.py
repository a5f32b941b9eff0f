"""Parts of the page that only some runs have: training, stages, a tree, evidence for the number of clusters."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from shoal.report import Contents, make_report
from shoal.report.contents import Stage
from shoal.report.explorer import map_data
from shoal.report.hierarchy import tree
from shoal.report.sections import command_of, how_sure, known_classes, training
from shoal.run_folder import RunFolder

COLOURS = np.zeros(3, dtype=np.int64)
TREE = {
    "name": "all",
    "children": [
        {"name": "things", "clusters": [0, 1], "children": [{"clusters": [0]}, {"clusters": [1]}]},
        {"name": "music", "clusters": [2]},
    ],
}


def test_known_classes_have_scores_and_a_picture(contents):
    html = known_classes(contents)
    assert "ACC" in html
    assert html.count('class="cell"') >= 3
    assert known_classes(replace(contents, classes=None)) is None


def test_how_sure_counts_the_doubtful(contents):
    confidence = np.where(contents.labels >= 0, 0.9, 0.0)
    confidence[:3] = 0.3
    assert "3 of 119 texts have a confidence below 0.5" in how_sure(replace(contents, confidence=confidence), COLOURS)


def test_training_is_shown_with_its_guard(contents):
    history = [
        {"event": "step", "stage": "train", "step": i, "loss": 2.0 - i, "contrastive": 1.0, "epoch": 0}
        for i in range(3)
    ] + [{"event": "evaluation", "stage": "train", "step": i, "moved": 0.1 / (i + 1)} for i in range(3)]
    outcome = {
        "rolled_back": True,
        "reason": "vectors collapsed",
        "stages": [{}],
        "start": {"quality": 0.5},
        "end": {"quality": 0.4},
    }
    html = training(replace(contents, history=history, info={**contents.info, "outcome": outcome}))
    assert "rolled back: vectors collapsed" in html
    assert html.count("<polyline") == 3
    assert "loss from 2 to 0" in html
    assert training(contents) is None


def test_a_tree_names_its_levels_and_the_map(contents):
    with_tree = replace(contents, hierarchy=TREE)
    html = tree(with_tree, COLOURS)
    assert html.count('href="#cluster-') == 3
    assert "things" in html
    groups = [label for label in map_data(with_tree, COLOURS)["labels"] if label.get("group")]
    assert [group["name"] for group in groups] == ["things"]
    assert tree(contents, COLOURS) is None


@pytest.mark.parametrize("strange", [[], {}, {"children": 3}, {"children": [1, {"clusters": ["x", 99]}]}, "text"])
def test_a_tree_of_another_form_does_no_harm(contents, strange):
    make_report(replace(contents, hierarchy=strange))


def test_evidence_for_the_number_of_clusters(contents):
    evidence = {"candidates": [{"n_clusters": k, "stability": 1 / k} for k in (2, 3, 5)], "reason": "3 is stable"}
    html = tree(replace(contents, info={**contents.info, "n_clusters_evidence": evidence}), COLOURS)
    assert "3 is stable" in html
    assert "<polyline" in html


def test_the_command_that_repeats_a_run(contents, run):
    request = json.loads((run / "run.json").read_text())["request"]
    assert command_of(contents.info).startswith(f"shoal fit {request['source']} --text body --label topic")
    assert "--clusters 3 --set n_init=2" in command_of(contents.info)
    older = {name: value for name, value in contents.info.items() if name != "request"}
    assert "--method tfidf-kmeans" in command_of(older)


@pytest.mark.slow
def test_stages_are_maps_side_by_side(opened, contents, tmp_path):
    rng = np.random.default_rng(0)
    stages = tuple(
        Stage(f"before stage {i}", rng.normal(size=(119, 8)).astype(np.float32), rng.integers(3, size=119))
        for i in (1, 2)
    )
    page = opened(make_report(replace(contents, stages=stages, hierarchy=TREE)).save(tmp_path / "page.html"))
    assert page.locator("#stages canvas").count() == 3
    assert page.locator("#stages figcaption").all_inner_texts() == ["before stage 1", "before stage 2", "at the end"]
    inked = "canvas => new Set(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data).size"
    for number in range(3):
        assert page.locator(f"#stage-{number}").evaluate(inked) > 10


def test_dates_and_groups_of_the_run_are_used(tmp_path):
    from cli_tickets import made_table
    from report.conftest import fit

    run = fit(made_table(60), tmp_path, date="day", group_by=["topic"])
    contents = Contents.read(RunFolder.open(run))
    assert contents.dates is not None
    assert list(contents.groups) == ["topic"]
    html = (run / "report.html").read_text(encoding="utf-8")
    assert 'id="time"' in html
    assert 'id="groups"' in html
    assert "--date day --group-by topic" in html
