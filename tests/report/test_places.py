"""Places on the map: true to the neighbourhoods, the same every time, for any number of rows."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.report.places import place


def blobs(n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(4, 12))
    return (centres[np.arange(n) % 4] + 0.2 * rng.normal(size=(n, 12))).astype(np.float32)


def test_rows_of_one_blob_are_together():
    places = place(blobs(200))
    for kind in range(4):
        own = places[kind::4]
        others = np.delete(places, np.s_[kind::4], axis=0)
        middle = own.mean(axis=0)
        assert np.linalg.norm(own - middle, axis=1).max() < np.linalg.norm(others - middle, axis=1).min()
    assert np.abs(places).max() <= 1.1


def test_the_same_rows_get_the_same_places():
    assert np.array_equal(place(blobs(100)), place(blobs(100)))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 11, 15, 40])
def test_few_rows_have_places_too(n):
    places = place(blobs(n))
    assert places.shape == (n, 2)
    assert np.isfinite(places).all()
    assert len(np.unique(places.round(9), axis=0)) == n


def test_equal_rows_are_spread_around_one_place():
    rows = np.repeat(blobs(6), 50, axis=0)
    places = place(rows)
    assert np.isfinite(places).all()
    assert len(np.unique(places.round(9), axis=0)) == 300
    assert np.ptp(places[:50], axis=0).max() < 0.1


def test_all_rows_equal():
    places = place(np.ones((500, 8), dtype=np.float32))
    assert np.isfinite(places).all()
    assert np.abs(places).max() < 0.2


def test_a_large_corpus_is_sampled_true_to_density():
    rows = blobs(1000)
    places = place(rows, max_placed=200)
    there = np.isfinite(places[:, 0])
    assert there.sum() == 200
    assert np.bincount(np.arange(1000)[there] % 4).min() > 30


def test_a_second_map_starts_from_the_first():
    rows = blobs(200)
    first = place(rows)
    moved = place(rows + 0.01 * np.random.default_rng(1).normal(size=rows.shape).astype(np.float32), start=first)
    assert np.linalg.norm(moved - first, axis=1).mean() < 0.3
