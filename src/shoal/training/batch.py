"""What one training step works on: some texts in all their views, or some rows of a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse
from torch import Tensor, nn

from shoal.encoder.tokens import TokenisedTexts, length_groups
from shoal.errors import DataError
from shoal.vectors import Vectors

# The views of a text that contrastive methods train on, by number.
ORIGINAL, LEFT, RIGHT = 0, 1, 2


@dataclass(frozen=True)
class Batch:
    """Some texts of the corpus, in the views the objective needs.

    Attributes
    ----------
    rows : ndarray of int64, shape (m,)
        Row numbers of the texts in the corpus.
    tokens : TokenisedTexts
        The tokens of the whole corpus, all views.
    views : ndarray of int64, shape (n_views, m)
        The index in ``tokens`` of each view of each text.
    """

    rows: NDArray[np.int64]
    tokens: TokenisedTexts
    views: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Number of tokens in each sequence, one view after another."""
        return self.tokens.lengths[self.views.ravel()]

    @property
    def n_tokens(self) -> int:
        """Number of real tokens."""
        return int(self.lengths.sum())

    @property
    def n_computed(self) -> int:
        """Number of tokens computed, padding included."""
        return sum(int(self.lengths[group].max()) * len(group) for group in length_groups(self.lengths))

    def encoded_by(self, encoder: nn.Module) -> Tensor:
        """Return the vector of each sequence, one view after another."""
        vectors: Tensor = encoder(self.tokens, self.views.ravel())
        return vectors


@dataclass(frozen=True)
class CorpusViews:
    """A tokenised corpus in one or more views; the first is the texts themselves.

    Attributes
    ----------
    tokens : TokenisedTexts
        The sequences of all views.
    starts : tuple of int
        Where each view begins in ``tokens``; views with the same texts begin at the same place.
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
        """Join views that each have their own texts."""
        n_texts = len(views[0])
        if any(len(view) != n_texts for view in views):
            raise DataError(f"the views have {[len(view) for view in views]} texts; pass the same number in each.")
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
        """Use the same texts for every view; the views then differ by dropout alone."""
        return cls(tokens, (0,) * n_views, len(tokens))

    def batch(self, rows: NDArray[np.int64], views: Sequence[int] | None = None) -> Batch:
        """Return ``rows`` in some of their views, by default all."""
        starts = self.starts if views is None else [self.starts[view] for view in views]
        return Batch(rows, self.tokens, np.array(starts)[:, None] + rows[None, :])


@dataclass(frozen=True)
class VectorBatch:
    """Some rows of a matrix, instead of texts and tokens.

    Attributes
    ----------
    rows : ndarray of int64, shape (m,)
        Row numbers in the corpus.
    vectors : Tensor of shape (m, d)
        The rows.
    """

    rows: NDArray[np.int64]
    vectors: Tensor

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def n_tokens(self) -> int:
        """Number of rows: each counts as one token."""
        return len(self.rows)

    @property
    def n_computed(self) -> int:
        """Number of rows: nothing is padded."""
        return len(self.rows)

    def encoded_by(self, encoder: nn.Module) -> Tensor:
        """Return the encoder's output for the rows."""
        encoded: Tensor = encoder(self.vectors)
        return encoded


@dataclass(frozen=True)
class VectorCorpus:
    """A corpus of vectors: the rows of a matrix, with one view.

    Attributes
    ----------
    matrix : ndarray or csr_matrix of shape (n, d)
        The vectors; sparse rows are made dense one batch at a time.
    device : torch.device or str
        Where batches go.

    Examples
    --------
    >>> corpus = VectorCorpus(np.arange(6, dtype=np.float32).reshape(3, 2))
    >>> corpus.batch(np.array([2, 0])).vectors.tolist()
    [[4.0, 5.0], [0.0, 1.0]]
    """

    matrix: Vectors | csr_matrix
    device: torch.device | str = "cpu"

    @property
    def n_texts(self) -> int:
        """Number of rows."""
        return int(self.matrix.shape[0])

    def batch(self, rows: NDArray[np.int64], views: Sequence[int] | None = None) -> VectorBatch:
        """Return ``rows``; they have a single view."""
        chosen: Any = self.matrix[rows]
        dense = np.asarray(chosen.toarray() if issparse(chosen) else chosen, dtype=np.float32)
        return VectorBatch(rows, torch.from_numpy(dense).to(self.device))
