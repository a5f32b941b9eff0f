"""Several processes train what one would: the same losses, vectors and labels, also after one of them was killed."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
import torch

import shoal.engine
from shoal import METHODS, SCCL
from shoal.engine.local import LocalEngine
from shoal.errors import EngineError, ParameterError
from shoal.training import Callback
from training.forked_crew import ForkedEngine

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="there is no gloo with these devices")]

WORDS = [["cat", "dog", "horse", "sheep", "goat", "mouse"], ["hammer", "saw", "drill", "nail", "screw", "wrench"]]
# Long enough for several groups per step; the last batch of an epoch leaves some workers without any.
TEXTS = [
    f"{kind[i % 6]} {kind[(i * 5 + 1) % 6]} {kind[(i**2 + 2) % 6]}{' it' * (i % 40)}"
    for kind in WORDS
    for i in range(48)
]
METHOD_OPTIONS = {
    "sccl": {"augmentation": "char_swap"},
    "vascl": {},
    "deccrl": {"augmentation": "char_swap"},
    "tsdae": {},
    "clusterbert": {},
    "mlm-dec": {"trainable_layers": "all"},
    "shoal": {"effort": "balanced"},
}
# Sums in another order round otherwise. ClusterBERT's later stages begin with gradients near 0, which Adam divides by
# their own size: there rounding grows, by processor up to 1e-4 of a loss.
ROUNDING = {"clusterbert": 1e-3}


@pytest.fixture
def use():
    """Train on these engines, one after another."""
    before = shoal.engine.current_engine()
    yield shoal.engine._current.set
    shoal.engine._current.set(before)


def fitted(name, backbone, **options):
    trained = {"learning_rate": 1e-3, "batch_size": 64, "max_steps": 3, "guard": False, "precision": "float32"}
    every = {"backbone": backbone, "max_length": 32, "random_state": 0, "device": "cpu"}
    return METHODS[name].estimator(2, **{**every, **trained, **METHOD_OPTIONS[name], **options})


def losses(model):
    return [record["total"] for record in model.history_ if record.get("event") == "step"]


@pytest.mark.parametrize("name", METHOD_OPTIONS)
def test_a_team_trains_what_one_process_trains(name, backbone, use):
    one = fitted(name, backbone).fit(TEXTS)
    use(ForkedEngine(3))
    three = fitted(name, backbone).fit(TEXTS)
    assert len(losses(one)) >= 2
    rounding = ROUNDING.get(name, 1e-5)
    np.testing.assert_allclose(losses(three), losses(one), rtol=2 * rounding)
    np.testing.assert_allclose(three.transform(TEXTS), one.transform(TEXTS), atol=rounding)
    np.testing.assert_array_equal(three.labels_, one.labels_)


def test_accumulated_gradients_and_clipping_are_those_of_one_process(backbone, use):
    options = {"accumulate": 2, "clip_norm": 0.1, "weight_decay": 0.1, "batch_size": 32}
    one = fitted("sccl", backbone, **options).fit(TEXTS)
    use(ForkedEngine(2))
    two = fitted("sccl", backbone, **options).fit(TEXTS)
    np.testing.assert_allclose(losses(two), losses(one), rtol=2e-5)
    np.testing.assert_allclose(two.transform(TEXTS), one.transform(TEXTS), atol=1e-5)


class KillAt(Callback):
    """Kills a worker after some step."""

    def __init__(self, engine, step):
        self.engine, self.step = engine, step

    def on_step(self, record):
        if record["step"] == self.step:
            os.kill(self.engine.team.pids[0], signal.SIGKILL)


class WatchedEngine(LocalEngine):
    """Remembers its workers."""

    def crew(self):
        self.team = super().crew()
        return self.team


def test_a_killed_worker_ends_the_run_with_its_name_and_resumed_it_ends_with_the_same_labels(backbone, use, tmp_path):
    def model():
        return fitted("sccl", backbone, max_steps=6, epochs=6, checkpoint_every=2, tolerance=None)

    straight = model().fit(TEXTS)
    engine = WatchedEngine(2)
    use(engine)
    n_threads = torch.get_num_threads()
    with pytest.raises(EngineError, match=r"worker 1 \(process \d+\) was ended by SIGKILL.*--resume RUN") as caught:
        model().fit(TEXTS, checkpoints=tmp_path, callbacks=[KillAt(engine, 3)])
    assert caught.value.exit_code == 8
    assert not torch.distributed.is_initialized()
    assert torch.get_num_threads() == n_threads
    resumed = model().fit(TEXTS, checkpoints=tmp_path)
    assert len(losses(resumed)) == len(losses(straight)) == 6
    np.testing.assert_allclose(losses(resumed), losses(straight), rtol=5e-5)
    np.testing.assert_allclose(resumed.transform(TEXTS), straight.transform(TEXTS), atol=1e-5)
    np.testing.assert_array_equal(resumed.labels_, straight.labels_)


def test_torch_distributed_of_someone_else_is_left_alone(backbone, use, tmp_path):
    use(ForkedEngine(2))
    torch.distributed.init_process_group("gloo", f"file://{tmp_path}/meeting", rank=0, world_size=1)
    try:
        with pytest.raises(ParameterError, match=r"workers=2 but torch.distributed is in use already; omit workers"):
            fitted("sccl", backbone).fit(TEXTS)
    finally:
        torch.distributed.destroy_process_group()


def test_a_worker_that_does_not_start(backbone, use, monkeypatch):
    monkeypatch.setattr("shoal.training.team.follow.__module__", "no_such_module")
    use(LocalEngine(2))
    with pytest.raises(EngineError, match=r"worker 1 .* failed with exit code 1: ModuleNotFoundError.*fewer workers"):
        SCCL(2, backbone=backbone, augmentation="char_swap", device="cpu").fit(TEXTS)
