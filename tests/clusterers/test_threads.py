from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from shoal import Shoal
from shoal.clusterers import threads, threads_for
from shoal.encoder import word_statistics
from shoal.methods.shoal import estimator


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_one_thread_inside_and_as_before_behind_it_whatever_happens():
    before = blas_threads()
    with threads_for(10):
        assert blas_threads() == {1}

    def fail():
        with threads_for(10):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert blas_threads() == before


def test_matrix_products_of_many_rows_keep_their_threads():
    before = blas_threads()
    with threads_for(threads.SMALL_ROWS + 1):
        assert blas_threads() == before


def test_the_default_method_clusters_on_one_thread(monkeypatch):
    seen = []
    find = estimator.find_partition
    monkeypatch.setattr(
        estimator, "find_partition", lambda *given, **named: seen.append(blas_threads()) or find(*given, **named)
    )
    before = blas_threads()
    vectors = np.random.default_rng(0).normal(size=(300, 5))
    Shoal(2).fit(vectors)
    assert seen == [{1}]
    assert blas_threads() == before


def test_word_statistics_are_computed_on_one_thread(monkeypatch):
    seen = []
    svd = word_statistics.randomized_svd
    monkeypatch.setattr(
        word_statistics, "randomized_svd", lambda *given, **named: seen.append(blas_threads()) or svd(*given, **named)
    )
    word_statistics.WordStatistics().fit(["red fish", "blue fish", "red sea", "blue sea"])
    assert seen == [{1}]
