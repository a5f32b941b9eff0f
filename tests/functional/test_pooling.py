from __future__ import annotations

import pytest
import torch

from shoal.functional import cls_pool, mean_pool

STATES = torch.tensor([[[1.0, -2.0], [3.0, 4.0], [5.0, 1.0]], [[7.0, 8.0], [0.0, 0.0], [0.0, 0.0]]])
MASK = torch.tensor([[1, 1, 1], [1, 0, 0]])


def test_mean_pool_by_hand():
    torch.testing.assert_close(mean_pool(STATES, MASK), torch.tensor([[3.0, 1.0], [7.0, 8.0]]))


def test_cls_pool_by_hand():
    torch.testing.assert_close(cls_pool(STATES, MASK), torch.tensor([[1.0, -2.0], [7.0, 8.0]]))


@pytest.mark.parametrize("pool", [mean_pool, cls_pool])
@pytest.mark.parametrize("filler", [0.0, 1e30, float("nan"), float("-inf")])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("mask_dtype", [torch.bool, torch.long, torch.float32])
def test_padding_changes_nothing(pool, filler, side, mask_dtype):
    states = torch.randn(4, 5, 3, generator=torch.Generator().manual_seed(0))
    mask = torch.ones(4, 5, dtype=mask_dtype)
    padding, hidden = torch.full((4, 6, 3), filler), torch.zeros(4, 6, dtype=mask_dtype)
    order = 1 if side == "right" else -1
    padded = torch.cat([states, padding][::order], dim=1)
    padded_mask = torch.cat([mask, hidden][::order], dim=1)
    torch.testing.assert_close(pool(padded, padded_mask), pool(states, mask))


def test_mean_pool_of_nothing_is_zero():
    torch.testing.assert_close(mean_pool(STATES, torch.zeros(2, 3)), torch.zeros(2, 2))


@pytest.mark.parametrize("pool", [mean_pool, cls_pool])
def test_no_gradient_reaches_padding(pool):
    states = STATES.clone().requires_grad_()
    pool(states, MASK).sum().backward()
    assert states.grad[1, 1:].abs().max() == 0
    assert states.grad[1, 0].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("pool", [mean_pool, cls_pool])
def test_half_precision_stays(pool):
    assert pool(STATES.bfloat16(), MASK).dtype == torch.bfloat16
