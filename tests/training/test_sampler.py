from __future__ import annotations

import numpy as np
import pytest

from shoal.training import EpochSampler


def epoch_of(sampler):
    epoch, batches = sampler.epoch, []
    while sampler.epoch == epoch:
        batches.append(sampler.next())
    return batches


def test_an_epoch_is_the_whole_corpus_in_a_new_order():
    sampler = EpochSampler(10, batch_size=4, seed=0)
    first, second = epoch_of(sampler), epoch_of(sampler)
    assert [len(batch) for batch in first] == [4, 4, 2]
    assert sampler.batches_per_epoch == 3
    assert sorted(np.concatenate(first)) == sorted(np.concatenate(second)) == list(range(10))
    assert np.concatenate(first).tolist() != np.concatenate(second).tolist()
    assert np.concatenate(epoch_of(EpochSampler(10, 4, seed=0))).tolist() == np.concatenate(first).tolist()
    assert np.concatenate(epoch_of(EpochSampler(10, 4, seed=1))).tolist() != np.concatenate(first).tolist()


@pytest.mark.parametrize(("n", "sizes"), [(9, [4, 4]), (8, [4, 4]), (3, [3]), (1, [1]), (4, [4])])
def test_a_single_text_is_no_batch_unless_it_is_all_there_is(n, sizes):
    sampler = EpochSampler(n, batch_size=4, seed=0)
    assert [len(batch) for batch in epoch_of(sampler)] == sizes
    assert sampler.batches_per_epoch == len(sizes)


def test_batches_of_one_are_kept_when_asked_for():
    assert [len(batch) for batch in epoch_of(EpochSampler(3, batch_size=1, seed=0))] == [1, 1, 1]


@pytest.mark.parametrize("taken", range(7))
def test_it_goes_on_where_its_state_says(taken):
    straight, begun, resumed = (EpochSampler(10, batch_size=4, seed=5) for _ in range(3))
    expected = [straight.next().tolist() for _ in range(12)]
    for _ in range(taken):
        begun.next()
    resumed.load_state_dict(begun.state_dict())
    assert [resumed.next().tolist() for _ in range(12 - taken)] == expected[taken:]
