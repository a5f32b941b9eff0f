"""Groups are shared, rows come back in order, and dropout does not depend on who computes a group."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from shoal.encoder import shared_work
from shoal.encoder.shared_work import Share, in_order, mean_of_all, own_groups, shared
from shoal.encoder.transformer import TransformerEncoder
from tiny_backbone import tiny_backbone

TEXTS = [f"{'whale ' * (i % 7)}text number {i}" for i in range(90)]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return TransformerEncoder.load(tiny_backbone(tmp_path_factory.mktemp("backbone")), max_length=32).train()


@pytest.fixture
def without_the_others(monkeypatch):
    """Let one worker of several compute its part, with nobody there to add theirs."""
    monkeypatch.setattr(shared_work, "sum_of_all", lambda values: values)


def rows_of(encoder, share):
    tokens = encoder.tokenise(TEXTS)
    torch.manual_seed(3)
    with shared(share):
        vectors = encoder(tokens, np.arange(len(TEXTS)))
    return vectors, torch.rand(1)


def test_every_group_belongs_to_one_worker():
    found = []
    for number in range(3):
        with shared(Share(number, of=3)):
            found += list(own_groups(range(10)))
    assert sorted(found) == list(range(10))
    assert list(own_groups(range(10))) == list(range(10))


def test_the_parts_of_all_workers_are_the_whole_to_the_last_bit_dropout_included(encoder, without_the_others):
    whole, after = rows_of(encoder, Share(0, of=1))
    parts = [rows_of(encoder, Share(number, of=5)) for number in range(5)]
    assert any(not part.any() for part, _ in parts)  # a worker without a group
    torch.testing.assert_close(sum(part for part, _ in parts), whole, atol=0, rtol=0)
    assert all(bool(random == after) for _, random in parts)  # and what follows is drawn alike
    again, _ = rows_of(encoder, Share(0, of=1))
    torch.testing.assert_close(again, whole, atol=0, rtol=0)


def test_gradients_reach_the_source_also_of_a_worker_without_rows(without_the_others):
    source = torch.ones(4, 2, requires_grad=True)
    with shared(Share(1, of=2)):
        in_order([], [], (4,), source.device, source=source).sum().backward()
    assert source.grad.tolist() == [[0.0, 0.0]] * 4


def test_a_mean_over_the_workers_is_weighted_by_what_each_has(monkeypatch):
    assert mean_of_all(torch.tensor(3.0), 7).item() == 3.0
    other = {(): 1.0, (2,): torch.tensor([0.0, 5.0])}  # another worker's one row, with mean 5
    monkeypatch.setattr(shared_work, "sum_of_all", lambda values: values + other[tuple(values.shape)])
    with shared(Share(0, of=2)):
        assert mean_of_all(torch.tensor(2.0), 2).item() == pytest.approx((2 * 2 + 5) / 3)
