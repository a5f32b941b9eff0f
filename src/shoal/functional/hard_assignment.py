"""Hard assignment of vectors to centres, and centres that follow the vectors: k-means, piece by piece."""

from __future__ import annotations

import torch
from torch import Tensor


def nearest_center(embeddings: Tensor, centers: Tensor) -> Tensor:
    r"""Return each vector's nearest centre: DCN's assignment step.

    .. math:: s_i = \arg\min_k \lVert z_i - m_k \rVert^2

    No other assignment has a smaller :func:`kmeans_term`.

    Parameters
    ----------
    embeddings : Tensor of shape (n, d)
    centers : Tensor of shape (k, d)

    Returns
    -------
    Tensor of int64, shape (n,)

    Examples
    --------
    >>> import torch
    >>> nearest_center(torch.tensor([[0.0], [9.0]]), torch.tensor([[8.0], [1.0]]))
    tensor([1, 0])
    """
    distances = torch.cdist(embeddings, centers, compute_mode="donot_use_mm_for_euclid_dist")
    return distances.argmin(dim=1)


def kmeans_term(embeddings: Tensor, centers: Tensor, assigned: Tensor) -> Tensor:
    r"""Mean squared distance of the vectors to their centres: DCN's k-means term.

    .. math:: \frac{1}{n} \sum_i \lVert z_i - m_{s_i} \rVert^2

    Parameters
    ----------
    embeddings : Tensor of shape (n, d)
    centers : Tensor of shape (k, d)
    assigned : Tensor of int64, shape (n,)
        s, the cluster of each row.

    Returns
    -------
    Tensor
        A scalar >= 0.

    Examples
    --------
    >>> import torch
    >>> kmeans_term(torch.tensor([[0.0], [4.0]]), torch.tensor([[1.0], [7.0]]), torch.tensor([0, 1]))
    tensor(5.)
    """
    return (embeddings - centers[assigned]).square().sum(dim=1).mean()


def running_centers(embeddings: Tensor, assigned: Tensor, centers: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    r"""Move each centre to the running mean of all vectors ever assigned to it: DCN's centre step.

    The paper moves it vector by vector, :math:`m_k \leftarrow m_k - (m_k - z_i) / c_k` with :math:`c_k` the count
    so far; for a whole batch, whatever its order, that is

    .. math:: m_k \leftarrow \frac{c_k m_k + \sum_{i: s_i = k} z_i}{c_k + n_k}

    Parameters
    ----------
    embeddings : Tensor of shape (n, d)
    assigned : Tensor of int64, shape (n,)
    centers : Tensor of shape (k, d)
    counts : Tensor of shape (k,)
        c, before these vectors; > 0.

    Returns
    -------
    centers : Tensor of shape (k, d)
    counts : Tensor of shape (k,)

    Examples
    --------
    >>> import torch
    >>> running_centers(torch.tensor([[3.0], [6.0]]), torch.tensor([0, 0]), torch.zeros(2, 1), torch.ones(2))
    (tensor([[3.],
            [0.]]), tensor([3., 1.]))
    """
    sums = torch.zeros_like(centers).index_add_(0, assigned, embeddings)
    more = counts + torch.bincount(assigned, minlength=len(counts))
    return (counts[:, None] * centers + sums) / more[:, None], more
