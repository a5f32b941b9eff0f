"""From token states to one vector per text."""

from __future__ import annotations

import torch
from torch import Tensor


def mean_pool(states: Tensor, mask: Tensor) -> Tensor:
    """Average the states of the real tokens.

    Padding is ignored, whatever its states are; a text without a token has the zero vector.

    Parameters
    ----------
    states : Tensor of shape (b, t, d)
        Token states.
    mask : Tensor of shape (b, t)
        True or 1 at real tokens, False or 0 at padding.

    Returns
    -------
    Tensor of shape (b, d)

    Examples
    --------
    >>> import torch
    >>> mean_pool(torch.tensor([[[1.0, 2.0], [3.0, 4.0], [9.0, 9.0]]]), torch.tensor([[1, 1, 0]]))
    tensor([[2., 3.]])
    """
    real = mask.bool().unsqueeze(-1)
    total = states.masked_fill(~real, 0.0).sum(dim=1)
    return total / real.sum(dim=1).clamp_min(1).to(states.dtype)


def cls_pool(states: Tensor, mask: Tensor) -> Tensor:
    """Take the state of the first real token, with padding on either side.

    Parameters
    ----------
    states : Tensor of shape (b, t, d)
        Token states.
    mask : Tensor of shape (b, t)
        True or 1 at real tokens, False or 0 at padding.

    Returns
    -------
    Tensor of shape (b, d)

    Examples
    --------
    >>> import torch
    >>> cls_pool(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]), torch.tensor([[1, 1]]))
    tensor([[1., 2.]])
    """
    first = mask.int().argmax(dim=1)
    return states[torch.arange(len(states), device=states.device), first]
