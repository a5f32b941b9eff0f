"""Losses that tell one text from another."""

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
        A scalar; 0 when m = 1, for then there is nothing to tell the pair from.

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
