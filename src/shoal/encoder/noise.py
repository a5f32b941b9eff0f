"""Damaged copies of tokenised texts, different at every training step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from shoal.encoder.tokens import TokenisedTexts


def delete_tokens(
    tokens: TokenisedTexts, rows: NDArray[np.int64], ratio: float, n_before: int, n_after: int
) -> TokenisedTexts:
    """Delete each token of some texts with probability ``ratio`` (TSDAE, section 3.1).

    Special tokens stay, and at least one other token of every text that has any. Random numbers come from torch's
    global generator, which a training run seeds and saves in its checkpoints. TSDAE deletes words; here word pieces
    are deleted, so that texts are tokenised once and not at every step.

    Parameters
    ----------
    tokens : TokenisedTexts
        The undamaged texts.
    rows : ndarray of int64, shape (m,)
        Which of them.
    ratio : float
        From 0 (nothing is deleted) to 1 (one token is left).
    n_before, n_after : int
        Number of special tokens before and after a text.

    Returns
    -------
    TokenisedTexts
        m sequences, in the order of ``rows``.

    Examples
    --------
    >>> texts = TokenisedTexts(np.array([1, 7, 8, 9, 2], np.int32), np.array([0, 5]), np.array([0]), 0, 0)
    >>> damaged = delete_tokens(texts, np.array([0]), 1.0, 1, 1)
    >>> len(damaged.ids), damaged.ids[0].item(), damaged.ids[-1].item()
    (3, 1, 2)
    """
    texts = tokens.select(rows)
    starts, lengths = texts.offsets[:-1], texts.lengths
    place = np.arange(len(texts.ids)) - np.repeat(starts, lengths)  # within the text
    special = (place < n_before) | (place >= np.repeat(lengths, lengths) - n_after)
    draws = np.where(special, -1.0, torch.rand(len(place), dtype=torch.float64).numpy())
    largest = np.maximum.reduceat(draws, starts)
    kept = special | (draws >= ratio) | (draws == np.repeat(largest, lengths))
    offsets = np.concatenate([[0], np.cumsum(np.add.reduceat(kept, starts, dtype=np.int64))])
    return replace(texts, ids=texts.ids[kept], offsets=offsets, owner=np.arange(len(rows)))
