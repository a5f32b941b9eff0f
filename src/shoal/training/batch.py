"""What a step works on: some texts, in all their views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.encoder.tokens import TokenisedTexts, length_groups
from shoal.errors import DataError


@dataclass(frozen=True)
class Batch:
    """Some texts of the corpus, in the views that the objective asks for.

    Attributes
    ----------
    rows : ndarray of int64, shape (m,)
        The texts' numbers in the corpus.
    tokens : TokenisedTexts
        The tokens of the whole corpus, all views.
    views : ndarray of int64, shape (n_views, m)
        Where in ``tokens`` each view of each text lies.
    """

    rows: NDArray[np.int64]
    tokens: TokenisedTexts
    views: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Number of tokens of every sequence, views one after the other."""
        return self.tokens.lengths[self.views.ravel()]

    @property
    def n_tokens(self) -> int:
        """Number of real tokens."""
        return int(self.lengths.sum())

    @property
    def n_computed(self) -> int:
        """Number of tokens that are computed, padding included."""
        return sum(int(self.lengths[group].max()) * len(group) for group in length_groups(self.lengths))


@dataclass(frozen=True)
class CorpusViews:
    """A tokenised corpus in one or more views, the first being the texts themselves.

    Attributes
    ----------
    tokens : TokenisedTexts
        The sequences of all views.
    starts : tuple of int
        Where in ``tokens`` each view begins; views that share their texts begin at the same place.
    n_texts : int
        Number of texts.

    Examples
    --------
    >>> tokens = TokenisedTexts(np.arange(3, dtype=np.int32), np.arange(4), np.arange(3), 0, 0)
    >>> CorpusViews.repeated(tokens, 2).batch(np.array([2, 0])).views.tolist()
    [[2, 0], [2, 0]]
    """

    tokens: TokenisedTexts
    starts: tuple[int, ...]
    n_texts: int

    @classmethod
    def joined(cls, views: Sequence[TokenisedTexts]) -> CorpusViews:
        """Put views with texts of their own together."""
        n_texts = len(views[0])
        if any(len(view) != n_texts for view in views):
            raise DataError(f"the views have {[len(view) for view in views]} texts; pass as many in each.")
        lengths = np.concatenate([view.lengths for view in views])
        tokens = TokenisedTexts(
            ids=np.concatenate([view.ids for view in views]),
            offsets=np.concatenate([[0], np.cumsum(lengths)]),
            owner=np.tile(np.arange(n_texts), len(views)),
            truncated=views[0].truncated,
            pad_id=views[0].pad_id,
        )
        return cls(tokens, tuple(n_texts * view for view in range(len(views))), n_texts)

    @classmethod
    def repeated(cls, tokens: TokenisedTexts, n_views: int) -> CorpusViews:
        """Take the same texts for every view: they will differ by dropout alone."""
        return cls(tokens, (0,) * n_views, len(tokens))

    def batch(self, rows: NDArray[np.int64], views: Sequence[int] | None = None) -> Batch:
        """Return ``rows`` in some of their views, by default in all."""
        starts = self.starts if views is None else [self.starts[view] for view in views]
        return Batch(rows, self.tokens, np.array(starts)[:, None] + rows[None, :])
