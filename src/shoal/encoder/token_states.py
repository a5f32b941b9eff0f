"""From token states to pooled vectors: what all transformers that are trained share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from shoal.encoder.shared_work import in_order
from shoal.encoder.tokens import CLS, MEAN, TokenisedTexts
from shoal.functional.pooling import cls_pool, mean_pool

POOLINGS = {MEAN: mean_pool, CLS: cls_pool}


class TokenStatesEncoder(nn.Module):
    """A transformer that returns token states, and vectors pooled from them.

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
        """Run some sequences through the model, once, in groups of similar length, with gradients.

        If the work is shared with other processes, only this one's groups come (see :mod:`shoal.encoder.shared_work`).

        Parameters
        ----------
        tokens : TokenisedTexts
            The sequences.
        rows : ndarray of int64, shape (m,)
            Which of them.

        Yields
        ------
        group : ndarray of int64, shape (g,)
            Places in ``rows``; each place is in one group, here or of another worker.
        states : Tensor of shape (g, t, d)
            The token states; t is the length of the group's longest sequence.
        mask : Tensor of shape (g, t)
            True at real tokens.
        """

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Length of a vector."""

    @property
    @abstractmethod
    def words(self) -> Tensor:
        """The word embeddings, one row per token of the vocabulary."""

    def pool(self, states: Tensor, mask: Tensor) -> Tensor:
        """Return one vector per sequence, (g, d)."""
        vectors = POOLINGS[self.pooling](states, mask)
        return nn.functional.normalize(vectors) if self.normalize else vectors

    def forward(self, tokens: TokenisedTexts, rows: NDArray[np.int64]) -> Tensor:
        """Return the pooled vectors of some sequences, (len(rows), d), with gradients."""
        found = [(group, self.pool(states, mask)) for group, states, mask in self.states(tokens, rows)]
        groups, vectors = [group for group, _ in found], [part for _, part in found]
        return in_order(groups, vectors, (len(rows), self.dimension), self.words.device)


def last_states(model: Any, mask: Tensor, **inputs: Tensor) -> Tensor:
    """Run a backbone; return the token states after its last layer, (g, t, d)."""
    # Without padding no mask is needed, and attention is faster without one.
    states: Tensor = model(**inputs, attention_mask=None if bool(mask.all()) else mask.long()).last_hidden_state
    return states
