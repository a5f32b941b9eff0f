"""Losses that separate each text from the others."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def nt_xent(left: Tensor, right: Tensor, temperature: float = 0.5) -> Tensor:
    r"""Normalised temperature-scaled cross-entropy over the 2M views (SCCL, eq. 1-2).

    .. math:: \frac{1}{2M} \sum_{i=1}^{2M} -\log
        \frac{\exp(\mathrm{sim}(z_i, z_{i'}) / \tau)}{\sum_{j \ne i} \exp(\mathrm{sim}(z_i, z_j) / \tau)}

    with the cosine as sim and i' the other view of the same text.

    Parameters
    ----------
    left, right : Tensor of shape (m, d)
        The two views; row i of both comes from text i.
    temperature : float
        :math:`\tau` > 0; the paper sets 0.5.

    Returns
    -------
    Tensor
        A scalar; 0 if m = 1, because there is no other text.

    References
    ----------
    Zhang et al. (2021), *Supporting Clustering with Contrastive Learning*; Chen et al. (2020), *SimCLR*.

    Examples
    --------
    >>> import torch
    >>> views = torch.eye(2)
    >>> round(nt_xent(views, views, temperature=1.0).item(), 4)  # log(e + 1 + 1) - 1
    0.5514
    """
    z = F.normalize(torch.cat([left, right]), dim=1)
    similarity = z @ z.T / temperature
    similarity = similarity.masked_fill(torch.eye(len(z), dtype=torch.bool, device=z.device), -torch.inf)
    partner = torch.arange(len(z), device=z.device).roll(len(left))
    return F.cross_entropy(similarity, partner)


def cross_view_contrast(left: Tensor, right: Tensor, temperature: float = 0.5) -> Tensor:
    r"""Contrast of each view with the other views of the other texts (DECCRL, eq. 2-4).

    .. math:: \frac{1}{M} \sum_{i=1}^{M} \left( -\log
        \frac{\exp(\mathrm{sim}(v_{i1}, v_{i2}) / \tau)}{\sum_{m \ne i} \exp(\mathrm{sim}(v_{i1}, v_{m2}) / \tau)}
        -\log
        \frac{\exp(\mathrm{sim}(v_{i2}, v_{i1}) / \tau)}{\sum_{m \ne i} \exp(\mathrm{sim}(v_{i2}, v_{m1}) / \tau)}
        \right)

    It differs from :func:`nt_xent` in its denominators, which hold neither the pair itself nor the same view of
    other texts, and in its mean, which is over the M texts and not over the 2M views. It may be negative.

    Parameters
    ----------
    left, right : Tensor of shape (m, d)
        The two views; row i of both comes from text i.
    temperature : float
        :math:`\tau` > 0; the paper sets 0.5.

    Returns
    -------
    Tensor
        A scalar; 0 if m = 1, because there is no other text.

    References
    ----------
    Yin et al. (2022), *Improving Deep Embedded Clustering via Learning Cluster-level Representations*.

    Examples
    --------
    >>> import torch
    >>> views = torch.eye(2)
    >>> cross_view_contrast(views, views, temperature=1.0).item()  # 2 (log e^0 - 1)
    -2.0
    """
    if len(left) == 1:
        return 0.0 * (left.sum() + right.sum())
    similarity = F.normalize(left, dim=1) @ F.normalize(right, dim=1).T / temperature
    others = similarity.masked_fill(torch.eye(len(left), dtype=torch.bool, device=left.device), -torch.inf)
    return (others.logsumexp(dim=1) + others.logsumexp(dim=0) - 2 * similarity.diagonal()).mean()


def neighbourhood_contrast(
    left: Tensor, right: Tensor, neighbours: Tensor, temperature: float = 0.05, *, both_ways: bool = True
) -> Tensor:
    r"""Contrast of each text's two versions with its neighbours alone (VaSCL).

    .. math:: -\log \frac{\exp(\mathrm{sim}(v_i, v_i') / \tau)}{\exp(\mathrm{sim}(v_i, v_i') / \tau)
        + \sum_{j \in N(i)} \exp(\mathrm{sim}(v_i, v_j') / \tau) + [\exp(\mathrm{sim}(v_i, v_j) / \tau)]}

    and the same with v and v' exchanged, if ``both_ways``, in which case the term in brackets counts too; otherwise v'
    is compared with the neighbours' v. The mean over all of them.

    Parameters
    ----------
    left, right : Tensor of shape (m, d)
        v and v': the texts, and the texts perturbed.
    neighbours : Tensor of int64, shape (m, k)
        N: for each row the numbers of other rows.
    temperature : float
        :math:`\tau` > 0; the paper sets 0.05.
    both_ways : bool
        Whether both versions are contrasted.

    Returns
    -------
    Tensor
        A scalar; 0 without neighbours.

    References
    ----------
    Zhang et al. (2022), *Virtual Augmentation Supported Contrastive Learning of Sentence Representations*.

    Examples
    --------
    >>> import torch
    >>> views, neighbours = torch.eye(2), torch.tensor([[1], [0]])
    >>> round(neighbourhood_contrast(views, views, neighbours, temperature=1.0, both_ways=False).item(), 4)
    0.3133
    """
    v, w = F.normalize(left, dim=1), F.normalize(right, dim=1)
    pair = (v * w).sum(dim=1, keepdim=True)
    across = torch.einsum("id,ikd->ik", w, v[neighbours])
    losses = [torch.cat([pair, across], dim=1)]
    if both_ways:
        within = torch.einsum("id,ikd->ik", w, w[neighbours])
        other = [torch.einsum("id,ikd->ik", v, each[neighbours]) for each in (v, w)]
        losses = [torch.cat([pair, across, within], dim=1), torch.cat([pair, *other], dim=1)]
    rows = torch.cat(losses) / temperature
    return (rows.logsumexp(dim=1) - rows[:, 0]).mean()
