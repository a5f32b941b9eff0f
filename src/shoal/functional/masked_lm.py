"""The loss of a masked language model."""

from __future__ import annotations

from torch import Tensor, nn


def masked_cross_entropy(logits: Tensor, answers: Tensor) -> Tensor:
    r"""Mean negative log-likelihood of the hidden tokens (MLM + DEC, section 2.1: :math:`L_m`).

    .. math:: -\frac{1}{m} \sum_{i=1}^{m} \log \operatorname{softmax}(l_i)_{a_i}

    Parameters
    ----------
    logits : Tensor of shape (m, v)
        Scores of the vocabulary at the masks.
    answers : Tensor of int64, shape (m,)
        The tokens behind the masks.

    Returns
    -------
    Tensor
        A scalar >= 0; 0 if nothing is masked.

    Examples
    --------
    >>> import torch
    >>> round(masked_cross_entropy(torch.zeros(1, 2), torch.tensor([0])).item(), 4)  # log 2
    0.6931
    """
    return nn.functional.cross_entropy(logits, answers, reduction="sum") / max(1, len(answers))
