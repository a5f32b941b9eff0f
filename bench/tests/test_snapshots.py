from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal import metrics
from shoal.methods import find_method
from shoal_bench import snapshots as module
from shoal_bench.cell import Cell
from shoal_bench.data_sets import find_data_set
from shoal_bench.measure import measure
from shoal_bench.question_ranking import QuestionRanking
from shoal_bench.runner import Task, in_order, is_done
from tiny_backbone import tiny_backbone

TINY = {
    "reclusterings": 1,
    "max_steps": 2,
    "trainable_layers": 1,
    "batch_size": 16,
    "max_length": 16,
    "learning_rate": 1e-3,
}
QUESTIONS = QuestionRanking(["red car", "old piano", "red van"], [0], [np.array([1, 2])], [np.array([False, True])])


@pytest.fixture(scope="module")
def backbone(tmp_path_factory) -> str:
    return tiny_backbone(tmp_path_factory.mktemp("backbone"))


@pytest.fixture
def cell(backbone, data):
    params = {"n_clusters": 3, "backbone": backbone, **TINY}
    return Cell("clusterbert", params, "topics", None, 0)


def test_scores_and_shape_after_every_stage(cell):
    texts = find_data_set("topics").load()
    facts = measure(cell, texts)
    assert [stage["stage"] for stage in facts["stages"]] == ["start", "adaptation", "clustering", "hardening"]
    assert all(stage.keys() == {"stage", "acc", "nmi", "silhouette", "dunn"} for stage in facts["stages"])
    model = find_method("clusterbert")(**cell.params, random_state=0).fit(texts.texts)
    assert facts["stages"][0]["acc"] == facts["start_scores"]["acc"]
    assert facts["stages"][-1]["acc"] == facts["scores"]["acc"] == metrics.scores(texts.labels, model.labels_)["acc"]
    vectors = model.transform(texts.texts)
    assert facts["stages"][-1]["silhouette"] == metrics.silhouette(vectors, model.labels_).value
    assert facts["stages"][-1]["dunn"] == metrics.dunn(vectors, model.labels_)
    assert facts["extras"] == {}


def test_extras_are_measured_when_asked_for_and_change_nothing(cell, monkeypatch):
    monkeypatch.setattr(module.QuestionRanking, "load", classmethod(lambda cls: QUESTIONS))
    monkeypatch.setattr(module, "PLACED_TEXTS", 20)
    texts = find_data_set("topics").load()
    facts = measure(replace(cell, extras=("places", "pairs", "ranking")), texts)
    plain = measure(cell, texts)
    assert facts["scores"] == plain["scores"]
    shared = [{name: stage[name] for name in plain["stages"][0]} for stage in facts["stages"]]
    assert shared == plain["stages"], "to the last bit: the training did not notice"
    assert all(0 <= stage["map"] <= 100 and 0 <= stage["mrr"] <= 100 for stage in facts["stages"])
    places = facts["extras"]["places"]
    assert np.shape(places["stages"]) == (4, 20, 2)
    assert set(places["classes"]) <= set(texts.labels)
    for pair in facts["extras"]["pairs"]:
        assert (pair["classes"][0] == pair["classes"][1]) == pair["same_class"]
    assert not any(text in repr(facts["extras"]) for text in texts.texts), "a record holds no text"


def test_a_method_that_does_not_train_has_no_stages(data):
    cell = Cell("bow-kmeans", {"n_clusters": 3, "n_init": 1}, "topics", None, 0, extras=("pairs",))
    facts = measure(cell, find_data_set("topics").load())
    assert facts["stages"] == []
    assert facts["extras"] == {"pairs": None}


def test_extras_are_no_part_of_the_key_but_of_what_is_done(cell):
    wanted = replace(cell, extras=("pairs",))
    assert wanted.key("sum") == cell.key("sum")
    assert Cell.of(wanted.as_dict()) == wanted
    assert "extras" not in cell.as_dict()
    tasks = [Task(each, "sum", "row", "expensive", 60) for each in (cell, wanted, replace(cell, extras=("ranking",)))]
    (task,) = in_order(tasks)
    assert set(task.cell.extras) == {"pairs", "ranking"}
    record = {"status": "ok", "cell": task.cell.as_dict(), "settings": {}, "extras": {"pairs": []}}
    assert is_done(tasks[0], {task.key: record})
    assert is_done(tasks[1], {task.key: record})
    assert not is_done(task, {task.key: record})


def test_a_newer_record_has_what_the_older_one_had(cell, tmp_path):
    from shoal_bench.results import Results
    from shoal_bench.runner import Runner

    results = Results(tmp_path / "bench.jsonl")
    task = Task(replace(cell, extras=("ranking",)), "sum", "row", "expensive", 60)
    results.append({"schema": 1, "key": task.key, "status": "ok", "settings": {}, "extras": {"pairs": []}})
    (missing,) = Runner(results).missing([task])
    assert set(missing.cell.extras) == {"ranking", "pairs"}
