from __future__ import annotations

import numpy as np
import pytest

from shoal import Shoal, TwoStage
from shoal.errors import ParameterError
from shoal.methods.inputs import Rows
from shoal.methods.planning import LEAST_ROWS, MB, parse_memory, plan_fit


def corpus(n_texts, n_distinct=None):
    texts = [f"text {i % (n_distinct or n_texts)}" for i in range(n_texts)]
    return Rows(np.ones(n_texts, dtype=bool), texts, None)


@pytest.mark.parametrize("given", ["4", "four GB", "-1GB", "", "4 parsecs"])
def test_what_is_no_amount_of_memory_is_refused(given):
    with pytest.raises(ParameterError, match="--memory"):
        parse_memory(given)


def test_texts_are_counted_and_all_are_looked_at_if_they_are_few():
    plan = plan_fit(Shoal(5), corpus(300, 200))
    assert (plan.n_texts, plan.n_distinct, plan.n_clusters) == (300, 200, 5)
    assert not plan.is_sampled
    assert plan.disk_mb == 0
    assert plan.seconds == {}


def test_of_many_texts_a_sample_is_looked_at_and_the_plan_says_so():
    plan = plan_fit(Shoal(partition_rows=100), corpus(300))
    assert plan.is_sampled
    assert plan.n_clusters is None
    assert "among 100 texts drawn at random" in " ".join(plan.sentences())


def test_less_memory_means_a_smaller_sample_and_is_what_the_plan_expects():
    rows = corpus(60_000)
    whole = plan_fit(Shoal(20, partition_rows=60_000), rows)
    limit = int((whole.memory_mb - 300) * MB)
    smaller = plan_fit(Shoal(20, partition_rows=60_000), rows, memory=limit)
    assert LEAST_ROWS <= smaller.partition_rows < whole.partition_rows
    assert smaller.memory_mb <= limit / MB


def test_too_little_memory_is_refused_with_the_amount_that_is_enough():
    rows = corpus(20_000)
    with pytest.raises(ParameterError, match="pass at least") as caught:
        plan_fit(Shoal(20), rows, memory=500 * MB)
    enough = parse_memory(str(caught.value).partition("at least ")[2].partition(",")[0])
    assert plan_fit(Shoal(20), rows, memory=enough).partition_rows >= LEAST_ROWS


def test_a_method_that_keeps_to_no_limit_says_so():
    with pytest.raises(ParameterError, match="--method shoal"):
        plan_fit(TwoStage(5), corpus(100), memory=8 * 1024 * MB)


def test_arrays_that_do_not_fit_in_memory_are_counted_on_disk():
    plan = plan_fit(Shoal(20), corpus(150_000))
    assert plan.disk_mb > 0


@pytest.mark.slow
def test_time_is_measured_on_samples_of_the_texts():
    words = ["apple", "river", "engine", "garden", "violin"]
    texts = [f"{words[i % 5]} number {i} of {words[(i // 5) % 5]}" for i in range(3_000)]
    plan = plan_fit(Shoal(5), Rows(np.ones(len(texts), dtype=bool), texts, None), timed=True)
    assert set(plan.seconds) == {"encoding", "clustering"}
    assert all(seconds > 0 for seconds in plan.seconds.values())
    assert plan.as_json()["total_seconds"] == pytest.approx(sum(plan.seconds.values()), abs=0.1)
