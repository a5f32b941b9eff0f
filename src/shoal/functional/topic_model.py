"""Embedded topic models: words from topics, topics from vectors (Dieng et al. 2020; DECCRL, eq. 10-15)."""

from __future__ import annotations

import torch
from torch import Tensor


def topic_words(topics: Tensor, words: Tensor) -> Tensor:
    r"""Distribution of each topic over the vocabulary (DECCRL, eq. 11).

    .. math:: \beta_{k}^{t} = \mathrm{softmax}(\rho^\top \alpha_k^t)

    Parameters
    ----------
    topics : Tensor of shape (k, t, d)
        Embeddings of the t topics of k clusters.
    words : Tensor of shape (v, d)
        Embeddings of the words.

    Returns
    -------
    Tensor of shape (k, t, v)
        Sums to 1 over the vocabulary.

    Examples
    --------
    >>> import torch
    >>> topic_words(torch.tensor([[[1.0, 0.0]]]), torch.tensor([[0.0, 5.0], [0.0, 0.0]]))
    tensor([[[0.5000, 0.5000]]])
    """
    return torch.softmax(topics @ words.T, dim=-1)


def bag_nll(owner: Tensor, word: Tensor, count: Tensor, theta: Tensor, beta: Tensor) -> Tensor:
    r"""Negative log-likelihood of the words of each text under each cluster (DECCRL, eq. 12-13).

    .. math:: \mathrm{nll}_{ik} = -\sum_{w} x_{iw} \log \sum_t \theta_{it} \, \beta_{kw}^{t}

    The bags are passed as their non-zero entries, so that the cost does not depend on the vocabulary.

    Parameters
    ----------
    owner, word : int Tensor of shape (m,)
        Row of a text and column of a word in the matrix of counts x, for each of its entries that is not zero.
    count : Tensor of shape (m,)
        That entry.
    theta : Tensor of shape (n, t)
        Topic proportions of the texts; rows sum to 1.
    beta : Tensor of shape (k, t, v)
        Words of the topics, as :func:`topic_words` gives them.

    Returns
    -------
    Tensor of shape (n, k)
        0 for a text without words.

    Examples
    --------
    >>> import torch
    >>> one = torch.tensor([0])
    >>> beta = torch.tensor([[[0.5, 0.5]], [[0.25, 0.75]]])
    >>> bag_nll(one, one, torch.tensor([2.0]), torch.ones(1, 1), beta)  # 2 log 2, 2 log 4
    tensor([[1.3863, 2.7726]])
    """
    likelihood = torch.einsum("ktm,mt->mk", beta[:, :, word], theta[owner])
    nll = -count[:, None] * likelihood.clamp_min(torch.finfo(likelihood.dtype).tiny).log()
    return nll.new_zeros(len(theta), len(beta)).index_add(0, owner, nll)


def gaussian_kl(mean: Tensor, log_variance: Tensor) -> Tensor:
    r"""KL divergence from a diagonal Gaussian to the standard normal, by dimension (DECCRL, eq. 15).

    .. math:: \tfrac{1}{2} (\mu^2 + \sigma^2 - 1 - \log \sigma^2)

    Parameters
    ----------
    mean, log_variance : Tensor of shape (n, d)
        μ and log σ².

    Returns
    -------
    Tensor of shape (n, d)
        Each >= 0; their sum over a row is the divergence.

    Examples
    --------
    >>> import torch
    >>> gaussian_kl(torch.tensor([[2.0, 0.0]]), torch.zeros(1, 2))
    tensor([[2., 0.]])
    """
    return 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance)


def negative_elbo(nll: Tensor, kl: Tensor, free_bits: float = 0.0) -> Tensor:
    r"""Mean negative evidence lower bound (DECCRL, eq. 15), with free bits against posterior collapse.

    .. math:: \frac{1}{n} \sum_i \mathrm{nll}_i
        + \sum_d \max\Big(\frac{1}{n} \sum_i \mathrm{KL}_{id}, \; b\Big)

    Parameters
    ----------
    nll : Tensor of shape (n,)
        Negative log-likelihood of each text.
    kl : Tensor of shape (n, d)
        Divergence of each text by dimension, as :func:`gaussian_kl` gives it.
    free_bits : float, default=0
        b: the mean divergence per dimension that is free, in nats (Kingma et al. 2016); 0 is the bound itself.

    Returns
    -------
    Tensor
        A scalar.

    Examples
    --------
    >>> import torch
    >>> negative_elbo(torch.tensor([4.0, 6.0]), torch.tensor([[1.0, 0.0], [2.0, 0.0]])).item()  # 5 + 1.5
    6.5
    """
    return nll.mean() + kl.mean(dim=0).clamp_min(free_bits).sum()
