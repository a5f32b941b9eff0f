from __future__ import annotations

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info

from shoal import Shoal
from shoal.clusterers import threads, threads_for
from shoal.methods.shoal import estimator


@pytest.fixture
def _two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.mark.usefixtures("_two_threads")
def test_one_thread_inside_and_as_before_behind_it_whatever_happens():
    before = blas_threads()
    with threads_for(10):
        assert torch.get_num_threads() == 1
        assert blas_threads() == {1}

    def fail():
        with threads_for(10):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert torch.get_num_threads() == 2
    assert blas_threads() == before


@pytest.mark.usefixtures("_two_threads")
def test_matrix_products_of_many_rows_keep_their_threads():
    before = blas_threads()
    with threads_for(threads.SMALL_ROWS + 1):
        assert torch.get_num_threads() == 1
        assert blas_threads() == before


@pytest.mark.usefixtures("_two_threads")
def test_the_default_method_clusters_on_one_thread(monkeypatch):
    seen = []
    find = estimator.find_partition
    monkeypatch.setattr(
        estimator,
        "find_partition",
        lambda *given, **named: seen.append(torch.get_num_threads()) or find(*given, **named),
    )
    vectors = np.random.default_rng(0).normal(size=(300, 5))
    Shoal(2).fit(vectors)
    assert seen == [1]
    assert torch.get_num_threads() == 2
