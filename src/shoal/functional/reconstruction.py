"""Losses of reconstructing a text from its vector."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F


def token_nll(logits: Tensor, targets: Tensor, mask: Tensor) -> Tensor:
    r"""Mean negative log-likelihood of each text's tokens: CE of ClusterBERT, eq. 1; TSDAE, eq. 1.

    .. math:: \mathrm{CE}(x_i, \tilde x_i) = -\frac{1}{l_i} \sum_{t=1}^{l_i} \log
        \frac{\exp(h_{it} \cdot e_{x_{it}})}{\sum_v \exp(h_{it} \cdot e_v)}

    The papers leave open whether a text's cross-entropy is the sum or the mean over its tokens; the mean keeps a
    long text from outweighing the others, and the weight λ of eq. 4 from depending on the length.

    Parameters
    ----------
    logits : Tensor of shape (b, t, v)
        Scores of the vocabulary at every position.
    targets : Tensor of shape (b, t)
        The token at that position.
    mask : Tensor of shape (b, t)
        True or 1 at real tokens, False or 0 at padding.

    Returns
    -------
    Tensor of shape (b,)
        0 for a text without a token. The mean over the texts is eq. 1.

    Examples
    --------
    >>> import torch
    >>> token_nll(torch.zeros(1, 2, 4), torch.tensor([[3, 0]]), torch.tensor([[1, 1]]))  # log 4
    tensor([1.3863])
    """
    real = mask.to(logits.dtype)
    losses = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none").view_as(real)
    return (losses * real).sum(dim=1) / real.sum(dim=1).clamp_min(1)
