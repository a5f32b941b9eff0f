from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from shoal.errors import MissingExtraError, ParameterError
from shoal.training import EarlyStopping, MLflow, TensorBoard, make_logger

STEP = {"event": "step", "stage": "joint", "step": 3, "epoch": 1, "total": 2.5, "texts": 8, "lost": None}


def test_early_stopping_waits_for_as_many_quiet_evaluations_as_asked():
    stopping = EarlyStopping(0.01, patience=2)
    heard = [bool(stopping.on_evaluation({"moved": moved})) for moved in (0.001, 0.5, 0.002, 0.003)]
    assert heard == [False, False, False, True]
    again = EarlyStopping(0.01, patience=2)
    again.load_state_dict({"settled": 1})
    assert again.on_evaluation({"moved": 0.0})
    stopping.on_stage_start("next", 10)
    assert not stopping.on_evaluation({"moved": 0.0})


def test_a_tolerance_is_a_share():
    with pytest.raises(ParameterError, match="tolerance=5 but it is a share of labels"):
        EarlyStopping(5)


def test_writers_without_their_package_name_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(MissingExtraError, match=r"shoal\[tensorboard\]"):
        make_logger("tensorboard")
    with pytest.raises(MissingExtraError, match=r"shoal\[mlflow\]"):
        make_logger("mlflow")
    with pytest.raises(ParameterError, match="log_to='wandb' is unknown"):
        make_logger("wandb")


def test_tensorboard_gets_every_figure(tmp_path):
    """The real writer, its file read back by TensorBoard's own reader."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    board = make_logger(f"tensorboard:{tmp_path}")
    assert isinstance(board, TensorBoard)
    board.on_step(STEP)
    assert board.on_evaluation({**STEP, "step": 4, "total": 1.0}) == ""
    board.on_end()
    written = EventAccumulator(str(tmp_path)).Reload()
    found = {name: [(event.step, event.value) for event in written.Scalars(name)] for name in written.Tags()["scalars"]}
    assert found == {"joint/total": [(3, 2.5), (4, 1.0)], "joint/texts": [(3, 8.0), (4, 8.0)]}


def test_mlflow_gets_every_figure(monkeypatch):
    written = []
    module = SimpleNamespace(log_metrics=lambda figures, step: written.append((figures, step)))
    monkeypatch.setitem(sys.modules, "mlflow", module)
    writer = make_logger("mlflow")
    assert isinstance(writer, MLflow)
    writer.on_step(STEP)
    writer.on_evaluation(STEP)
    assert written == [({"joint.total": 2.5, "joint.texts": 8.0}, 3)] * 2
