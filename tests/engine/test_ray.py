"""A real cluster of several processes: order, errors, lost workers, the same vectors and labels as in this process."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import polars as pl
import pytest

from cli_tickets import FAST, in_python, made_table
from command_line import caller
from ray_work import CountedEncoder, DyingEncoder, end, pid_and_double, refuse, slow_if_even
from shoal import Shoal, TwoStage, load
from shoal.cli import main
from shoal.clusterers.blockwise_kmeans import lloyd_in_blocks
from shoal.corpus import write_target
from shoal.corpus.sources.blocks import open_source
from shoal.encoder import shards
from shoal.encoder.representation import CachedEncoder
from shoal.encoder.transformer import TransformerEncoder
from shoal.engine import use_engine
from shoal.engine.ray import RETRIES
from shoal.errors import DataError, EngineError, ParameterError
from shoal.sorting import Sorter, Sorting
from tiny_backbone import tiny_backbone

pytestmark = pytest.mark.slow

WORDS = ("red", "green", "blue", "fish", "whale", "swims", "sleeps", "deep", "the", "in", "sea")


@pytest.fixture
def shoal(capsys, monkeypatch):
    return caller("shoal", main, capsys, monkeypatch)


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


def test_an_encoder_is_loaded_once_by_each_worker_and_again_when_it_has_changed(on_cluster, tmp_path):
    folder, texts = tmp_path / "loaded", made_texts(500)
    for fingerprint, loaded in (("a", 1), ("a", 1), ("trained", 2)):
        CachedEncoder(CountedEncoder(folder, fingerprint), cache=False).encode(texts)
        assert len(list(folder.iterdir())) <= loaded * on_cluster.n_workers
        assert len(list(folder.iterdir())) > (loaded - 1) * on_cluster.n_workers
    assert len({each.name.partition("-")[0] for each in folder.iterdir()}) <= on_cluster.n_workers


def test_a_fit_gives_the_labels_of_this_process(on_cluster, tmp_path, monkeypatch):
    texts = ["", *made_texts(400), " "]
    model = TwoStage(4, backbone=tiny_backbone(tmp_path / "bert", WORDS), cache=False, encoder_precision="int8")
    there = model.fit(texts)
    labels, again = there.labels_, there.predict(texts)
    monkeypatch.setattr("shoal.engine.LEAST_ITEMS", 10**6)  # all are encoded here
    here = model.fit(texts)
    np.testing.assert_array_equal(labels, here.labels_)
    np.testing.assert_array_equal(again, labels)


def test_a_table_is_sorted_as_in_this_process_also_with_a_worker_killed(on_cluster, tmp_path, monkeypatch):
    texts = made_texts(600)
    model = Shoal(4, backbone=tiny_backbone(tmp_path / "bert", WORDS), cache=False).fit(texts)
    model.save(tmp_path / "model")
    new = [*made_texts(700, seed=1), "", *texts[:100]]
    write_target(pl.DataFrame({"n": range(400), "body": new[:400]}), tmp_path / "new" / "year=2023" / "a.parquet")
    write_target(pl.DataFrame({"n": range(400, 801), "body": new[400:]}), tmp_path / "new" / "year=2024" / "a.parquet")
    table = open_source(str(tmp_path / "new"))
    (tmp_path / "bert").rename(tmp_path / "gone")  # a worker has the model, and needs no folder of this machine
    loaded = load(tmp_path / "model")
    victim = on_cluster.pids()[-1]
    there = Sorting(Sorter(loaded, "body"), table)
    frames = there.frames()
    first = next(frames)
    os.kill(victim, signal.SIGKILL)
    found = pl.concat([first, *frames])
    monkeypatch.setattr("shoal.engine.LEAST_ITEMS", 10**6)
    here = Sorting(Sorter(load(tmp_path / "model"), "body"), table)
    expected = pl.concat(here.frames())
    exact = ["n", "body", "year", "cluster", "cluster_name", "second_cluster"]
    assert found.select(exact).equals(expected.select(exact))
    np.testing.assert_allclose(found["confidence"].fill_null(0), expected["confidence"].fill_null(0), atol=1e-4)
    assert len(first) < 800
    assert (there.empty, there.sizes.tolist()) == (here.empty, here.sizes.tolist()) == (1, here.sizes.tolist())
    assert victim not in on_cluster.pids()


def test_another_process_sorts_on_the_cluster_that_the_address_names(cluster, shoal, tmp_path, monkeypatch):
    import ray

    run, new = tmp_path / "run", tmp_path / "new.parquet"
    made_table().write_csv(tmp_path / "tickets.csv")
    fitted = shoal("fit", tmp_path / "tickets.csv", *FAST, "--text", "body", "--clusters", 4, "--out", run)
    assert fitted.code == 0, fitted.err
    made_table(90).write_parquet(new)
    assert shoal("predict", run, new, "--out", tmp_path / "here.csv").code == 0
    monkeypatch.setenv("RAY_ADDRESS", ray.get_runtime_context().gcs_address)
    arguments = ["shoal", "predict", str(run), str(new), "--engine", "ray", "--workers", "2"]
    answer = in_python(f"import sys; sys.argv = {arguments}\nfrom shoal.cli import main; main()")
    assert answer.stderr == ""
    assert answer.stdout == (tmp_path / "here.csv").read_text()
    assert list(cluster.map_blocks(slow_if_even, [1])) == [1]  # it is still there
    answer = shoal("predict", run, new, "--engine", "ray", "--workers", 64)
    assert (answer.code, answer.out) == (4, "")
    assert "workers=64 but the cluster has 6 cores; pass at most 6." in answer.err


def test_kmeans_by_workers_is_that_of_this_process_to_the_last_bit(on_cluster, monkeypatch):
    monkeypatch.setattr("shoal.clusterers.blockwise_kmeans.BLOCK_ROWS", 100)
    vectors = np.random.default_rng(0).normal(size=(950, 8)).astype(np.float32)
    options = {"spherical": True, "max_iter": 20}
    there = lloyd_in_blocks(vectors, vectors[:5], **options)
    with use_engine("local"):
        here = lloyd_in_blocks(vectors, vectors[:5], **options)
    np.testing.assert_array_equal(there[0], here[0])
    assert there[1:] == here[1:]


def test_it_listens_on_this_machine_alone(cluster):
    import ray

    assert {node["NodeManagerAddress"] for node in ray.nodes()} == {"127.0.0.1"}
    started = time.perf_counter()
    assert list(cluster.map_blocks(len, [[]])) == [0]
    assert time.perf_counter() - started < 10
