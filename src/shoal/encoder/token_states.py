"""From token states to pooled vectors: what every transformer that is trained here shares."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shoal.encoder.tokens import TokenisedTexts
from shoal.functional.pooling import cls_pool, mean_pool

POOLINGS = {"mean": mean_pool, "cls": cls_pool}


class TokenStatesEncoder(nn.Module):
    """A transformer that gives the states of the tokens, and a vector of each sequence pooled from them.

    Attributes
    ----------
    pooling : {"mean", "cls"}
        Mean of the real tokens' states, or the state of the first token.
    normalize : bool
        Scale every vector to length one.
    """

    pooling: str
    normalize: bool

    @abstractmethod
    def states(
        self, tokens: TokenisedTexts, rows: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], Tensor, Tensor]]:
        """Run some sequences through the model, once, in groups of like length, gradients included.

        Parameters
        ----------
        tokens : TokenisedTexts
            The sequences.
        rows : ndarray of int64, shape (m,)
            Which of them.

        Yields
        ------
        group : ndarray of int64, shape (g,)
            Places in ``rows``; together the groups hold each place once.
        states : Tensor of shape (g, t, d)
            The tokens' states, t being the group's longest.
        mask : Tensor of shape (g, t)
            True at real tokens.
        """

    @property
    @abstractmethod
    def words(self) -> Tensor:
        """The word embeddings, one row a token of the vocabulary."""

    def pool(self, states: Tensor, mask: Tensor) -> Tensor:
        """Return one vector a sequence, (g, d)."""
        vectors = POOLINGS[self.pooling](states, mask)
        return nn.functional.normalize(vectors) if self.normalize else vectors

    def forward(self, tokens: TokenisedTexts, rows: NDArray[np.int64]) -> Tensor:
        """Return the pooled vectors of some sequences, (len(rows), d), gradients included."""
        groups, vectors = zip(
            *((group, self.pool(states, mask)) for group, states, mask in self.states(tokens, rows)), strict=True
        )
        return in_order(groups, torch.cat(vectors))


def in_order(groups: Sequence[NDArray[np.int64]], values: Tensor) -> Tensor:
    """Put rows that were computed group by group back in order."""
    order = torch.from_numpy(np.argsort(np.concatenate(groups), kind="stable"))
    return values[order.to(values.device)]
