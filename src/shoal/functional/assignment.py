"""Soft assignment of vectors to clusters, and its targets."""

from __future__ import annotations

import math

import torch
from torch import Tensor

# Within this spread of scores / temperature no product of Sinkhorn's scalings leaves float32's range, e^±87.
_SAFE_SPREAD = 42.0


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


def sinkhorn(scores: Tensor, sizes: Tensor | None = None, temperature: float = 0.05, n_iterations: int = 50) -> Tensor:
    r"""Soft assignment whose clusters have given sizes: entropic optimal transport.

    The plan closest to :math:`\exp(s / \tau)` under the two sums below, by Sinkhorn's alternate scaling of
    columns and rows (Cuturi, 2013; used for clustering by Asano et al., 2020): in the log domain where the
    scores are far apart, and otherwise on the exponentials themselves, which is two to three times faster.

    Parameters
    ----------
    scores : Tensor of shape (n, k)
        Higher where the cluster suits the row better.
    sizes : Tensor of shape (k,), optional
        Shares of the clusters, or counts: they are divided by their sum. Equal shares when None.
    temperature : float
        :math:`\tau` > 0; small values give nearly hard assignments and need more iterations.
    n_iterations : int
        Number of sweeps.

    Returns
    -------
    Tensor of shape (n, k)
        Rows sum to 1 exactly, because each sweep ends with them; columns sum to n * sizes at convergence.

    Examples
    --------
    >>> import torch
    >>> sinkhorn(torch.tensor([[2.0, 1.0], [2.0, 0.0]]), temperature=0.5)  # both rows prefer column 0
    tensor([[0.2689, 0.7311],
            [0.7311, 0.2689]])
    """
    n, k = scores.shape
    shares = scores.new_ones(k) if sizes is None else sizes.to(scores)
    columns = (n * shares / shares.sum()).clamp_min(torch.finfo(scores.dtype).tiny)
    plan = scores / temperature
    if n and plan.max() - plan.min() < _SAFE_SPREAD and columns.min() > math.exp(-_SAFE_SPREAD):
        plan = (plan - plan.max()).exp()
        # In place, unless each sweep is needed again for gradients: n x k is all the memory there is.
        scaled, divided = (torch.mul, torch.div) if plan.requires_grad else (Tensor.mul_, Tensor.div_)
        for _ in range(n_iterations):
            plan = scaled(plan, columns / plan.sum(dim=0))
            plan = divided(plan, plan.sum(dim=1, keepdim=True))
        return plan
    column_log = columns.log()
    for _ in range(n_iterations):
        plan = plan - plan.logsumexp(dim=0) + column_log
        plan = plan.log_softmax(dim=1)
    return plan.exp()
