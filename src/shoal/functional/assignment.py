"""Soft assignment of vectors to clusters, and its targets."""

from __future__ import annotations

import torch
from torch import Tensor


def student_t(embeddings: Tensor, centers: Tensor, alpha: float = 1.0) -> Tensor:
    r"""Probability of each cluster under Student's t kernel (SCCL, eq. 3; DEC, eq. 1).

    .. math:: q_{jk} \propto (1 + \lVert e_j - \mu_k \rVert^2 / \alpha)^{-(\alpha + 1) / 2}

    Parameters
    ----------
    embeddings : Tensor of shape (n, d)
    centers : Tensor of shape (k, d)
    alpha : float
        Degrees of freedom, > 0.

    Returns
    -------
    Tensor of shape (n, k)
        Rows sum to 1.

    Examples
    --------
    >>> import torch
    >>> student_t(torch.tensor([[0.0]]), torch.tensor([[0.0], [1.0]]))  # 1 and 1/2, normalised
    tensor([[0.6667, 0.3333]])
    """
    # Relative to the mean of the centers: far from the origin the expanded square loses precision.
    origin = centers.detach().mean(dim=0)
    e, mu = embeddings - origin, centers - origin
    squared = e.square().sum(dim=1, keepdim=True) - 2 * e @ mu.T + mu.square().sum(dim=1)
    return torch.softmax(-(alpha + 1) / 2 * torch.log1p(squared.clamp_min(0) / alpha), dim=1)


def target_distribution(q: Tensor) -> Tensor:
    r"""Sharpened assignment that also evens out cluster sizes (SCCL, eq. 4; DEC, eq. 3).

    .. math:: p_{jk} \propto q_{jk}^2 / f_k, \qquad f_k = \sum_j q_{jk}

    Parameters
    ----------
    q : Tensor of shape (n, k)
        Rows sum to 1. The frequencies f are those of the rows given: a batch, or the whole corpus.

    Returns
    -------
    Tensor of shape (n, k)
        Rows sum to 1. Not detached; the caller does that where needed.

    Examples
    --------
    >>> import torch
    >>> target_distribution(torch.tensor([[0.75, 0.25], [0.25, 0.75]]))  # 9 : 1
    tensor([[0.9000, 0.1000],
            [0.1000, 0.9000]])
    """
    # q / f <= 1, so the product stays finite even for a cluster that no row is near.
    weight = q * (q / q.sum(dim=0).clamp_min(torch.finfo(q.dtype).tiny))
    return weight / weight.sum(dim=1, keepdim=True)


def cluster_kl(p: Tensor, q: Tensor) -> Tensor:
    r"""Mean over the rows of KL[p || q] (SCCL, eq. 5-6).

    .. math:: \frac{1}{n} \sum_{j=1}^{n} \sum_{k=1}^{K} p_{jk} \log \frac{p_{jk}}{q_{jk}}

    Parameters
    ----------
    p, q : Tensor of shape (n, k)
        Target and assignment; rows sum to 1. Zeros are allowed in both.

    Returns
    -------
    Tensor
        A scalar >= 0.

    Examples
    --------
    >>> import torch
    >>> round(cluster_kl(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.5, 0.5]])).item(), 4)  # log 2
    0.6931
    """
    tiny = torch.finfo(q.dtype).tiny
    return (p * (p.clamp_min(tiny).log() - q.clamp_min(tiny).log())).sum(dim=1).mean()
