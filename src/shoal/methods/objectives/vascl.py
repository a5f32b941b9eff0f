"""VaSCL: contrast, and a virtual augmentation within the neighbourhood of each text (Zhang et al. 2022)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from shoal.functional import neighbourhood_contrast, nt_xent
from shoal.methods.objectives.tracked import TrackedObjective
from shoal.training import LEFT, RIGHT, Batch


class VaSCLObjective(TrackedObjective):
    """Instance discrimination plus discrimination from the neighbours.

    Parameters
    ----------
    encoder : nn.Module
        Maps texts to vectors; two passes differ by dropout.
    projection_dim, n_neighbors, temperature, radius, weight
        As in :class:`VaSCL`.
    **partition
        As in :class:`TrackedObjective`.
    """

    views = (LEFT, RIGHT)

    def __init__(
        self,
        encoder: nn.Module,
        *,
        projection_dim: int,
        n_neighbors: int,
        temperature: float,
        radius: float,
        weight: float,
        **partition: Any,
    ) -> None:
        super().__init__(encoder, **partition)
        self.n_neighbors, self.temperature = n_neighbors, temperature
        self.radius, self.weight = radius, weight
        dimension = partition["dimension"]
        # one hidden layer as wide as the encoder, as in SCCL, whose authors this is by
        self.project = nn.Sequential(
            nn.Linear(dimension, dimension), nn.ReLU(), nn.Linear(dimension, projection_dim, bias=False)
        )

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return the two terms of the loss."""
        left, right = self.encode(batch)
        terms = {"contrastive": nt_xent(self.project(left), self.project(right), self.temperature)}
        if len(left) > 1 and self.weight:
            neighbours, distance = nearest_in_batch(left.detach(), self.n_neighbors)
            moved = left + self.radius * distance * self.worst_direction(left.detach(), neighbours, distance)
            virtual = neighbourhood_contrast(self.project(left), self.project(moved), neighbours, self.temperature)
            terms["neighbourhood"] = self.weight * virtual
        return terms

    def worst_direction(self, e: Tensor, neighbours: Tensor, distance: Tensor) -> Tensor:
        """Return the direction in which a text is most easily taken for a neighbour: one step of power iteration."""
        z = self.project(e).detach()
        d = normalize(torch.rand_like(e) - 0.5, dim=1).requires_grad_()
        loss = neighbourhood_contrast(
            z, self.project(e + self.radius * distance * d), neighbours, self.temperature, both_ways=False
        )
        (gradient,) = torch.autograd.grad(loss, d)
        return normalize(gradient, dim=1).detach()


def nearest_in_batch(vectors: Tensor, n_neighbors: int) -> tuple[Tensor, Tensor]:
    """Return the nearest other rows by cosine, (m, k), and the mean distance to them, (m, 1).

    Examples
    --------
    >>> rows, distance = nearest_in_batch(torch.tensor([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]), 1)
    >>> rows.ravel().tolist(), [round(each, 2) for each in distance.ravel().tolist()]
    ([1, 0, 1], [0.63, 0.63, 0.89])
    """
    unit = normalize(vectors, dim=1)
    cosines = (unit @ unit.T).fill_diagonal_(-torch.inf)
    nearest = cosines.topk(min(n_neighbors, len(vectors) - 1), dim=1).indices
    distance = (vectors[:, None] - vectors[nearest]).norm(dim=2).mean(dim=1, keepdim=True)
    return nearest, distance
