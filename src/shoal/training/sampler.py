"""Which texts come next."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


class EpochSampler:
    """Goes through the corpus in a new random order each epoch.

    The order of an epoch depends on seed and epoch alone, so epoch and position are its whole state.

    Parameters
    ----------
    n : int
        Number of texts.
    batch_size : int
        Texts per batch. The last batch of an epoch may be smaller; a single text, which has nothing to contrast
        with, is omitted unless it is the only one.
    seed : int
        Seed.

    Examples
    --------
    >>> sampler = EpochSampler(5, batch_size=2, seed=0)
    >>> [len(sampler.next()) for _ in range(4)], sampler.epoch
    ([2, 2, 2, 2], 2)
    """

    def __init__(self, n: int, batch_size: int, seed: int) -> None:
        self.batch_size = batch_size
        self.seed = seed
        self.epoch = 0
        self.position = 0
        single_left = n > batch_size and n % batch_size == 1
        self._n = n
        self._usable = n - 1 if single_left else n
        self._order_of: int | None = None
        self._order = np.empty(0, dtype=np.int64)

    @property
    def batches_per_epoch(self) -> int:
        """Number of batches in an epoch."""
        return max(1, math.ceil(self._usable / self.batch_size))

    def next(self) -> NDArray[np.int64]:
        """Return the rows of the next batch."""
        if self._order_of != self.epoch:
            self._order = np.random.default_rng([self.seed, self.epoch]).permutation(self._n)
            self._order_of = self.epoch
        rows = self._order[self.position : min(self.position + self.batch_size, self._usable)]
        self.position += self.batch_size
        if self.position >= self._usable:
            self.epoch, self.position = self.epoch + 1, 0
        return rows

    def state_dict(self) -> dict[str, int]:
        """Return epoch and position."""
        return {"epoch": self.epoch, "position": self.position}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Restore epoch and position."""
        self.epoch, self.position = state["epoch"], state["position"]
