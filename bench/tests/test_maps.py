from __future__ import annotations

import numpy as np

from shoal_bench.snapshots import MAPPED_TEXTS, SIDE, text_map


def test_texts_that_are_alike_lie_together():
    rng = np.random.default_rng(0)
    vectors = np.repeat(10 * np.eye(3, 8), 40, axis=0) + rng.normal(size=(120, 8))
    found = text_map(vectors.astype(np.float32), np.repeat([0, 1, 2], 40))
    places, clusters = np.column_stack([found["x"], found["y"]]), np.array(found["cluster"])
    assert places.min() == 0
    assert places.max() == SIDE
    distance = np.linalg.norm(places[:, None] - places[None], axis=2)
    same = clusters[:, None] == clusters[None]
    assert distance[same].mean() < 0.5 * distance[~same].mean()


def test_only_a_sample_and_always_the_same_one(monkeypatch):
    monkeypatch.setattr("shoal_bench.snapshots.MAPPED_TEXTS", 30)
    rng = np.random.default_rng(0)
    numbers = np.arange(50)
    first, again = (text_map(rng.normal(size=(50, 4)).astype(np.float32), numbers)["cluster"] for _ in range(2))
    assert first == again
    assert len(set(first)) == 30
    assert MAPPED_TEXTS == 1000


def test_vectors_that_have_all_fallen_together_do_not_stop_it():
    for value in (1.0, np.nan):
        found = text_map(np.full((12, 4), value, dtype=np.float32), np.zeros(12, dtype=np.int64))
        assert found["x"] == found["y"] == [0] * 12
