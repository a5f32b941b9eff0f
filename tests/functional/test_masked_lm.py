from __future__ import annotations

import math

import torch

from shoal.functional import masked_cross_entropy


def test_by_hand():
    logits = torch.tensor([[0.0, math.log(3.0)], [math.log(4.0), 0.0], [0.0, 0.0]])  # 1/4 3/4, 4/5 1/5, 1/2 1/2
    expected = -(math.log(3 / 4) + math.log(1 / 5) + math.log(1 / 2)) / 3
    assert math.isclose(masked_cross_entropy(logits, torch.tensor([1, 1, 0])).item(), expected, rel_tol=1e-6)


def test_the_gradient_is_the_error_of_the_guess():
    logits = torch.tensor([[0.0, math.log(3.0)], [0.0, 0.0]], requires_grad=True)
    masked_cross_entropy(logits, torch.tensor([1, 0])).backward()
    torch.testing.assert_close(logits.grad, torch.tensor([[0.25, -0.25], [-0.5, 0.5]]) / 2)


def test_where_nothing_is_masked_nothing_is_lost():
    logits = torch.zeros(0, 5, requires_grad=True)
    loss = masked_cross_entropy(logits, torch.empty(0, dtype=torch.long))
    loss.backward()
    assert loss.item() == 0
