from __future__ import annotations

import math

import torch

from shoal.functional import token_nll


def test_a_texts_loss_is_the_mean_over_its_real_tokens():
    logits = torch.tensor([[[0.0, math.log(3)], [0.0, 0.0]], [[math.log(3), 0.0], [9.0, -9.0]]])
    targets, mask = torch.tensor([[1, 0], [1, 1]]), torch.tensor([[1, 1], [1, 0]])
    # 3/4 and 1/2 for the first text; 1/4 for the second, whose other place is padding
    expected = torch.tensor([-(math.log(0.75) + math.log(0.5)) / 2, -math.log(0.25)])
    torch.testing.assert_close(token_nll(logits, targets, mask), expected)


def test_padding_gets_no_gradient_and_no_token_costs_nothing():
    logits = torch.randn(2, 3, 5, requires_grad=True)
    losses = token_nll(logits, torch.zeros(2, 3, dtype=torch.long), torch.tensor([[1, 1, 0], [0, 0, 0]]))
    losses.sum().backward()
    assert losses[1] == 0
    assert logits.grad[0, :2].abs().sum() > 0
    assert not logits.grad[0, 2].any()
    assert not logits.grad[1].any()
