"""Training by the processes of a real cluster: the labels of this process, and a lost worker is told by its number."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

from shoal import SCCL
from shoal.errors import EngineError
from shoal.training import Callback
from tiny_backbone import tiny_backbone

pytestmark = pytest.mark.slow

TEXTS = [
    f"{kind} number {i}{' and on' * (i % 9)}"
    for kind in ("a red fish in the sea", "the blue bird flew")
    for i in range(60)
]


class KillAtTheEnd(Callback):
    """Kills a worker after the third step."""

    def __init__(self, crews):
        self.crews = crews

    def on_step(self, record):
        if record["step"] == 3:
            os.kill(self.crews[-1].pids[0], signal.SIGKILL)


def test_a_cluster_trains_what_this_process_trains_also_after_a_loss(cluster, tmp_path, monkeypatch):
    import shoal.engine

    def model():
        options = {"augmentation": "char_swap", "batch_size": 60, "max_steps": 4, "checkpoint_every": 2}
        exact = {"tolerance": None, "precision": "float32", "device": "cpu", "guard": False}
        return SCCL(2, backbone=backbone, learning_rate=1e-3, epochs=4, random_state=0, **options, **exact)

    backbone = tiny_backbone(tmp_path / "bert")
    here = model().fit(TEXTS)
    crews = []
    crew = cluster.crew
    monkeypatch.setattr(cluster, "crew", lambda: crews.append(crew()) or crews[-1])
    before = shoal.engine._current.set(cluster)
    try:
        assert list(cluster.map_blocks(len, [[1]])) == [1]  # these workers make room for those that train
        with pytest.raises(EngineError, match=r"worker 1 \(process \d+\) of the Ray cluster has ended: .*--resume RUN"):
            model().fit(TEXTS, checkpoints=tmp_path / "states", callbacks=[KillAtTheEnd(crews)])
        there = model().fit(TEXTS, checkpoints=tmp_path / "states")
        assert list(cluster.map_blocks(len, [[1]])) == [1]
    finally:
        shoal.engine._current.reset(before)
    assert len(crews) == 2
    np.testing.assert_allclose(there.transform(TEXTS), here.transform(TEXTS), atol=1e-5)
    np.testing.assert_array_equal(there.labels_, here.labels_)
