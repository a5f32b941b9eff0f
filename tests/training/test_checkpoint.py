from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import torch

from shoal.encoder.transformer import TransformerEncoder
from shoal.errors import RunFolderError
from shoal.training import (
    Callback,
    Checkpoints,
    CorpusViews,
    EarlyStopping,
    Guard,
    Stage,
    Trainer,
    TrainingOptions,
    checkpoint,
)

TEXTS = [f"{word} {number}" for word in ("cat", "saw", "dog") for number in ("one", "two", "three", "four")]


class Killed(BaseException):
    """Stands for kill -9: nothing of ours catches it."""


class KillAt(Callback):
    def __init__(self, step, stage):
        self.step, self.stage = step, stage

    def on_step(self, record):
        if (record["stage"], record["step"]) == (self.stage, self.step):
            raise Killed


@pytest.fixture(scope="module", autouse=True)
def _no_alarm():
    """A dozen texts wobble; here only the way there matters."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Guard, "alarm", lambda guard, now: "")
        yield


def run(backbone, gather, folder=None, kill=None, identity="run", callbacks=()):
    """Two stages of six steps; return the weights, the labels and the history."""
    encoder = TransformerEncoder.load(backbone, max_length=32)
    views = CorpusViews.repeated(encoder.tokenise(TEXTS), 2)
    options = TrainingOptions(
        batch_size=4, epochs=2, learning_rate=1e-4, head_learning_rate=1e-3, checkpoint_every=2, device="cpu",
        schedule="cosine", warmup_steps=1, evaluate_every=2,
    )  # fmt: skip
    stages = [Stage("one", gather(encoder)), Stage("two", gather(encoder), refresh_every=3)]
    callbacks = [EarlyStopping(0.0), *callbacks, *([] if kill is None else [KillAt(*kill)])]
    checkpoints = None if folder is None else Checkpoints(folder, identity)
    result = Trainer(views, options, n_clusters=2, callbacks=callbacks, checkpoints=checkpoints).run(stages)
    weights = {name: p.detach().clone() for name, p in stages[1].objective.named_parameters()}
    return weights, encoder.encode(TEXTS), result


def comparable(history):
    return [{k: v for k, v in record.items() if k != "seconds"} for record in history]


def assert_same(found, expected):
    assert all(torch.equal(found[0][name], expected[0][name]) for name in expected[0])
    np.testing.assert_array_equal(found[1], expected[1])
    np.testing.assert_array_equal(found[2].start_labels, expected[2].start_labels)
    assert comparable(found[2].history) == comparable(expected[2].history)
    assert found[2].outcome == expected[2].outcome


@pytest.fixture(scope="module")
def straight(_no_alarm, backbone, gather):
    return run(backbone, gather)


@pytest.mark.parametrize("kill", [(1, "one"), (2, "one"), (3, "one"), (6, "one"), (1, "two"), (4, "two"), (6, "two")])
def test_killed_and_resumed_it_ends_where_the_uninterrupted_run_ends(backbone, gather, straight, tmp_path, kill):
    with pytest.raises(Killed):
        run(backbone, gather, tmp_path, kill)
    assert_same(run(backbone, gather, tmp_path), straight)
    lines = (tmp_path / "history.jsonl").read_text().splitlines()
    assert comparable(map(json.loads, lines)) == comparable(straight[2].history)


def test_killed_again_and_again(backbone, gather, straight, tmp_path):
    for kill in [(1, "one"), (3, "one"), (3, "one"), (5, "one"), (2, "two"), (5, "two")]:
        with pytest.raises(Killed):
            run(backbone, gather, tmp_path, kill)
    assert_same(run(backbone, gather, tmp_path), straight)


@pytest.mark.parametrize("moment", ["save_file", "_to_disk"])
def test_killed_while_a_checkpoint_is_written(backbone, gather, straight, tmp_path, monkeypatch, moment):
    real, calls = getattr(checkpoint, moment), []

    def dies(*args, **kwargs):
        calls.append(args)
        if len(calls) == 5:
            raise Killed
        return real(*args, **kwargs)

    monkeypatch.setattr(checkpoint, moment, dies)
    with pytest.raises(Killed):
        run(backbone, gather, tmp_path)
    assert list(tmp_path.glob(".state-*.tmp"))
    monkeypatch.undo()
    assert_same(run(backbone, gather, tmp_path), straight)


def test_a_damaged_state_counts_as_none(backbone, gather, straight, tmp_path):
    with pytest.raises(Killed):
        run(backbone, gather, tmp_path, (5, "one"))
    (state,) = tmp_path.glob("state-*")
    newer = tmp_path / "state-00000099"
    shutil.copytree(state, newer)
    tensors = newer / "state.safetensors"
    tensors.write_bytes(tensors.read_bytes()[:1000])
    (tmp_path / ".state-00000100.tmp").mkdir()
    with (tmp_path / "history.jsonl").open("a") as history:
        history.write('{"event": "st')
    assert_same(run(backbone, gather, tmp_path), straight)


def test_a_finished_run_is_not_trained_again(backbone, gather, straight, tmp_path):
    run(backbone, gather, tmp_path)
    assert_same(run(backbone, gather, tmp_path, (1, "one")), straight)


class Count(Callback):
    """Counts steps in strides of its own, and goes on counting where its state ends."""

    def __init__(self, stride):
        self.stride, self.counted, self.came_back_at = stride, 0, None

    def on_step(self, record):
        self.counted += self.stride

    def state_dict(self):
        return {"counted": self.counted}

    def load_state_dict(self, state):
        self.counted = self.came_back_at = state["counted"]


def test_two_callbacks_of_one_class_keep_their_own_states(backbone, gather, tmp_path):
    with pytest.raises(Killed):
        run(backbone, gather, tmp_path, (3, "two"), callbacks=[Count(1), Count(100)])
    ones, hundreds = Count(1), Count(100)
    run(backbone, gather, tmp_path, callbacks=[ones, hundreds])
    assert (ones.came_back_at, hundreds.came_back_at) == (8, 800)  # six steps of the first stage, two of the second
    assert (ones.counted, hundreds.counted) == (12, 1200)


def test_a_callback_that_was_not_there_before_begins_anew(backbone, gather, tmp_path):
    with pytest.raises(Killed):
        run(backbone, gather, tmp_path, (3, "two"), callbacks=[Count(1)])
    ones, hundreds = Count(1), Count(100)
    run(backbone, gather, tmp_path, callbacks=[ones, hundreds])
    assert (ones.counted, hundreds.came_back_at, hundreds.counted) == (12, None, 400)


def test_states_of_another_run_are_refused(backbone, gather, tmp_path):
    with pytest.raises(Killed):
        run(backbone, gather, tmp_path, (3, "one"))
    with pytest.raises(RunFolderError, match="other texts or parameters"):
        run(backbone, gather, tmp_path, identity="another")


def test_only_json_and_safetensors_and_only_the_newest(tmp_path):
    states = Checkpoints(tmp_path, "run")
    for step in range(3):
        states.write({"a": {"b": torch.full((2,), step), "c": np.arange(3)}, "step": step, "none": None, "l": [1]})
    assert [folder.name for folder in tmp_path.iterdir()] == ["state-00000003"]
    assert {file.suffix for file in tmp_path.rglob("*") if file.is_file()} == {".json", ".safetensors"}
    latest = states.latest()
    assert (latest["step"], latest["none"], latest["l"]) == (2, None, [1])
    assert latest["a"]["b"].tolist() == [2, 2]
    assert latest["a"]["c"].tolist() == [0, 1, 2]
    assert Checkpoints(tmp_path / "nothing", "run").latest() is None
