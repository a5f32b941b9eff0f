"""7. Fine-tuning: the confident part of a partition teaches the encoder which texts belong together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import normalize

from shoal.functional import cluster_kl
from shoal.methods.shoal.candidates import confident_rows
from shoal.methods.shoal.partition import Partition
from shoal.training import Batch, Objective
from shoal.vectors import Vectors, unit_rows

Teach = Callable[[Vectors, np.random.RandomState], Partition]


class TeacherObjective(Objective):
    """KL from a partition's soft assignment to a softmax over cosines to centres, on its confident texts.

    Parameters
    ----------
    encoder : nn.Module
        The module to train.
    teach : callable
        Takes the encoder's vectors of the distinct texts at the start of the stage and a random generator; returns the
        partition that teaches.
    first, copies : ndarray of int
        The first row of each distinct text, and the distinct text of each row. A repeated text teaches once.
    n_clusters, dimension : int
        Sizes.
    temperature : float
        Temperature of the cosines.
    sure_share : float
        Share of each cluster that teaches: its most confident texts. The rest is not encoded.
    """

    mean: Tensor
    targets: Tensor
    sure: Tensor

    def __init__(
        self,
        encoder: nn.Module,
        teach: Teach,
        *,
        first: NDArray[np.int64],
        copies: NDArray[np.int64],
        n_clusters: int,
        dimension: int,
        temperature: float,
        sure_share: float,
    ) -> None:
        super().__init__(encoder)
        self.teach = teach
        self.first, self.copies = first, copies
        self.temperature = temperature
        self.sure_share = sure_share
        self.centers = nn.Parameter(torch.zeros(n_clusters, dimension))
        self.register_buffer("mean", torch.zeros(dimension))
        self.register_buffer("targets", torch.zeros(len(copies), n_clusters))
        self.register_buffer("sure", torch.zeros(len(copies), dtype=torch.bool))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the teacher: other workers only learn."""
        return {**self.__dict__, "teach": None}

    def initialise(self, embeddings: Vectors, rng: np.random.RandomState) -> None:
        """Get the partition from the teacher; start the centres at its clusters."""
        distinct = embeddings[self.first]
        assignment = self.teach(distinct, rng).assignment
        mean = distinct.mean(axis=0)
        centers = unit_rows(assignment.T @ unit_rows(distinct - mean))
        targets = assignment / assignment.sum(axis=1, keepdims=True)
        teachers = self.first[confident_rows(assignment, self.sure_share)]
        with torch.no_grad():
            self.mean.copy_(torch.from_numpy(mean))
            self.centers.copy_(torch.from_numpy(centers))
            self.targets.copy_(torch.from_numpy(targets[self.copies]))
            self.sure.zero_()[torch.from_numpy(teachers)] = True

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return the one term of the loss."""
        sure = self.sure[torch.from_numpy(batch.rows).to(self.sure.device)].cpu().numpy()
        if not sure.any():
            return {"teacher": 0.0 * self.centers.sum()}
        taught = replace(batch, rows=batch.rows[sure], views=batch.views[:, sure])
        (vectors,) = self.encode(taught)
        q = (self._cosines(vectors) / self.temperature).softmax(dim=1)
        p = self.targets[torch.from_numpy(taught.rows).to(self.targets.device)]
        return {"teacher": cluster_kl(p, q)}

    def labels(self, embeddings: Vectors, rng: np.random.RandomState | None = None) -> NDArray[np.int64]:
        """Return the cluster of the nearest centre."""
        with torch.no_grad():
            cosines = self._cosines(torch.from_numpy(embeddings).to(self.centers.device))
        found: NDArray[np.int64] = cosines.argmax(dim=1).cpu().numpy()
        return found

    def _cosines(self, vectors: Tensor) -> Tensor:
        """Return the cosines to the centres, after centring."""
        return normalize(vectors - self.mean) @ normalize(self.centers).T
