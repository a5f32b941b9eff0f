from __future__ import annotations

import errno
import gc

import numpy as np
import pytest

from shoal import Shoal
from shoal import scratch as module
from shoal.demo_texts import standard_library_texts
from shoal.scratch import gathered, in_blocks, release, scratch


@pytest.fixture
def on_disk(monkeypatch, tmp_path):
    """Every array is large, and blocks are small."""
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path))
    monkeypatch.setattr(module, "IN_MEMORY_BYTES", 0)
    monkeypatch.setattr(module, "ROWS_AT_A_TIME", 70)
    monkeypatch.setattr("shoal.methods.answers.ROWS_AT_A_TIME", 70)
    return tmp_path


def test_a_small_array_is_in_memory():
    assert not isinstance(scratch((10, 3)), np.memmap)


def test_a_large_array_keeps_what_was_written_after_its_memory_was_released(on_disk):
    array = scratch((1000, 3), np.float64)
    assert isinstance(array, np.memmap)
    array[:] = np.arange(3000).reshape(1000, 3)
    release(array)
    assert array.dtype == np.float64
    assert (array == np.arange(3000).reshape(1000, 3)).all()


def test_nothing_is_left_on_disk(on_disk):
    array = scratch((1000, 3))
    array[:] = 1
    assert not list(on_disk.rglob("*"))  # the file has no name even while it is in use
    del array
    gc.collect()
    assert not list(on_disk.rglob("*"))


def test_without_room_on_disk_the_array_is_in_memory(on_disk, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, "_reserve", full)
    array = scratch((1000, 3))
    assert not isinstance(array, np.memmap)
    assert array.shape == (1000, 3)


def test_rows_are_gathered_from_disk(on_disk):
    array = scratch((300, 2))
    array[:] = np.arange(600).reshape(300, 2)
    rows = np.random.RandomState(0).permutation(300)[:200]
    assert (gathered(array, rows) == np.arange(600).reshape(300, 2)[rows]).all()


def test_blocks_cover_every_row_once(on_disk):
    array = np.zeros(150)
    for block in in_blocks(array):
        array[block] += 1
    assert (array == 1).all()


@pytest.mark.slow
def test_a_fit_on_disk_is_the_same_fit(request, monkeypatch):
    texts = [title.text for title in standard_library_texts()][:400]
    in_memory = Shoal(5, partition_rows=300).fit(texts)
    request.getfixturevalue("on_disk")
    monkeypatch.setattr("shoal.encoder.representation.SHARD_TEXTS", 90)
    spilled = Shoal(5, partition_rows=300).fit(texts)
    assert isinstance(spilled.embedding_, np.memmap)
    assert (spilled.labels_ == in_memory.labels_).all()
    np.testing.assert_allclose(spilled.probabilities_, in_memory.probabilities_, atol=1e-4)
    assert (spilled.predict(texts) == spilled.labels_).all()
    assert (spilled.cut(3).labels_ == in_memory.cut(3).labels_).all()
