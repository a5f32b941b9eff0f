"""A real cluster of several processes: order, errors, lost workers, the same vectors and labels as in this process."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

from ray_work import DyingEncoder, end, pid_and_double, refuse, slow_if_even
from shoal import TwoStage
from shoal.encoder import shards
from shoal.encoder.representation import CachedEncoder
from shoal.encoder.transformer import TransformerEncoder
from shoal.engine.ray import RETRIES
from shoal.errors import DataError, EngineError, ParameterError
from tiny_backbone import tiny_backbone

pytestmark = pytest.mark.slow

WORDS = ("red", "green", "blue", "fish", "whale", "swims", "sleeps", "deep", "the", "in", "sea")


def made_texts(n: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(1, 9))) + f" {i}" for i in range(n)]


def test_blocks_keep_their_order_and_are_taken_as_workers_become_free(cluster):
    taken = []

    def blocks():
        for number in range(40):
            taken.append(number)
            yield number

    results = cluster.map_blocks(slow_if_even, blocks())
    assert next(results) == 0
    assert len(taken) <= 3 * cluster.n_workers + 1
    assert list(results) == list(range(1, 40))
    assert list(cluster.map_blocks(slow_if_even, [])) == []
    found = list(cluster.map_blocks(pid_and_double, range(20)))
    assert [double for _, double in found] == list(range(0, 40, 2))
    assert {pid for pid, _ in found} == set(cluster.pids())


def test_errors_are_those_of_the_function_and_the_cluster_goes_on(cluster):
    with pytest.raises(DataError, match=r"block 7 is bad; leave it out."):
        list(cluster.map_blocks(refuse, [7]))
    with pytest.raises(ParameterError, match=r"cannot be sent to other processes .*pass engine 'local'"):
        list(cluster.map_blocks(threading.Lock().__enter__, [1]))
    with pytest.raises(EngineError, match=f"a block ended its worker {RETRIES + 1} times, .*pass fewer --workers"):
        list(cluster.map_blocks(end, [1]))
    assert list(cluster.map_blocks(slow_if_even, [1, 2])) == [1, 2]


def test_a_worker_killed_in_the_middle_changes_nothing(cluster):
    victim = cluster.pids()[0]
    threading.Timer(0.3, os.kill, (victim, signal.SIGKILL)).start()
    found = list(cluster.map_blocks(pid_and_double, range(60)))
    assert [double for _, double in found] == list(range(0, 120, 2))
    assert victim not in cluster.pids()


def test_vectors_are_those_of_this_process(on_cluster, tmp_path):
    texts = made_texts(700)
    folder = tiny_backbone(tmp_path / "bert", WORDS)
    for precision in ("float32", "int8"):
        encoder = TransformerEncoder.load(folder, precision=precision)
        here = shards.encode_texts(encoder, texts)
        there = CachedEncoder(encoder).encode(texts)
        if precision == "int8":
            np.testing.assert_array_equal(there, here.vectors)
        else:
            np.testing.assert_allclose(there, here.vectors, atol=1e-6)
        np.testing.assert_array_equal(CachedEncoder(encoder).encode(texts), there)  # from the cache


def test_a_worker_lost_while_encoding_costs_its_block(on_cluster, tmp_path):
    texts = made_texts(500)
    encoder = CachedEncoder(DyingEncoder(tmp_path / "dead"))
    found = encoder.encode(texts)
    assert (tmp_path / "dead").exists()
    np.testing.assert_array_equal(found, DyingEncoder(tmp_path / "dead").encode(texts))


def test_a_fit_gives_the_labels_of_this_process(on_cluster, tmp_path, monkeypatch):
    texts = ["", *made_texts(400), " "]
    model = TwoStage(4, backbone=tiny_backbone(tmp_path / "bert", WORDS), cache=False, encoder_precision="int8")
    there = model.fit(texts)
    labels, again = there.labels_, there.predict(texts)
    monkeypatch.setattr("shoal.encoder.shards.LEAST_TEXTS", 10**6)  # all are encoded here
    here = model.fit(texts)
    np.testing.assert_array_equal(labels, here.labels_)
    np.testing.assert_array_equal(again, labels)


def test_it_listens_on_this_machine_alone(cluster):
    import ray

    assert {node["NodeManagerAddress"] for node in ray.nodes()} == {"127.0.0.1"}
    started = time.perf_counter()
    assert list(cluster.map_blocks(len, [[]])) == [0]
    assert time.perf_counter() - started < 10
