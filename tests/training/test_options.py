from __future__ import annotations

import pytest
import torch
from torch import nn

from shoal.errors import ParameterError
from shoal.training import TrainingOptions


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"batch_size": 0}, "batch_size=0 but it must be a whole number >= 1"),
        ({"epochs": 2.5}, "epochs=2.5 but it must be a whole number"),
        ({"max_steps": 0}, "max_steps=0"),
        ({"accumulate": True}, "accumulate=True"),
        ({"learning_rate": -1.0}, "learning_rate=-1.0 but it must be a number >= 0"),
        ({"head_learning_rate": float("nan")}, "head_learning_rate=nan"),
        ({"clip_norm": 0}, "clip_norm=0 but it must be a number > 0"),
        ({"warmup_steps": -1}, "warmup_steps=-1"),
        ({"optimizer": "sgd"}, "optimizer='sgd' is unknown; pass one of adam, adamw"),
        ({"schedule": "step"}, "schedule='step' is unknown"),
        ({"device": "tpu"}, "device='tpu' is unknown"),
        ({"precision": "float16"}, "precision='float16' is unknown"),
        ({"trainable_layers": 0}, "trainable_layers=0 but it must be 'all' or a whole number >= 1"),
        ({"trainable_layers": "some"}, "trainable_layers='some'"),
    ],
)
def test_what_does_not_work_is_named(wrong, message):
    with pytest.raises(ParameterError, match=message):
        TrainingOptions(**wrong)


def test_schedules_after_the_warm_up():
    def factors(**options):
        return [round(TrainingOptions(**options).rate_factor(step, 10), 4) for step in (0, 1, 2, 6, 9)]

    assert factors() == [1, 1, 1, 1, 1]
    # two warm-up steps: a third, two thirds; then eight steps down to zero
    assert factors(schedule="linear", warmup_steps=2) == [0.3333, 0.6667, 1.0, 0.5, 0.125]
    assert factors(schedule="cosine", warmup_steps=2) == [0.3333, 0.6667, 1.0, 0.5, 0.0381]


def test_two_groups_and_only_what_is_trained():
    module = nn.ModuleDict({"encoder": nn.Linear(2, 3), "head": nn.Linear(3, 1)})
    module["encoder"].bias.requires_grad_(False)
    optimizer = TrainingOptions(optimizer="adamw", weight_decay=0.1).make_optimizer(
        module, module["encoder"], torch.device("cpu")
    )
    backbone, heads = (group["params"] for group in optimizer.param_groups)
    assert [tuple(p.shape) for p in backbone] == [(3, 2)]
    assert [tuple(p.shape) for p in heads] == [(1, 3), (1,)]
    assert isinstance(optimizer, torch.optim.AdamW)
    assert optimizer.defaults["weight_decay"] == 0.1


def test_devices_and_precision_that_are_not_there_are_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert TrainingOptions().resolve_device() == torch.device("cpu")
    with pytest.raises(ParameterError, match="device='cuda' but this machine has none"):
        TrainingOptions(device="cuda").resolve_device()
    monkeypatch.setattr("shoal.training.options.cpu_has_bfloat16", lambda: False)
    assert not TrainingOptions().mixed_precision(torch.device("cpu"))
    with pytest.raises(ParameterError, match="precision='bfloat16' but the device 'cpu' has no bfloat16"):
        TrainingOptions(precision="bfloat16").mixed_precision(torch.device("cpu"))


def test_a_cpu_with_bfloat16_instructions_uses_them(monkeypatch):
    for able in (True, False):
        monkeypatch.setattr("shoal.training.options.cpu_has_bfloat16", lambda able=able: able)
        assert TrainingOptions().mixed_precision(torch.device("cpu")) is able
    assert not TrainingOptions(precision="float32").mixed_precision(torch.device("cpu"))


def test_mixed_precision_is_used_exactly_where_the_device_has_it(monkeypatch):
    cuda = torch.device("cuda")
    for able in (True, False):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda able=able, **_: able)
        assert TrainingOptions().mixed_precision(cuda) is able
        assert not TrainingOptions(precision="float32").mixed_precision(cuda)
