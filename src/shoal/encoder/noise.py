"""Damaged copies of tokenised texts, new ones at every step."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from shoal.encoder.tokens import TokenisedTexts


def delete_tokens(
    tokens: TokenisedTexts, rows: NDArray[np.int64], ratio: float, n_before: int, n_behind: int
) -> TokenisedTexts:
    """Delete each token of some texts with probability ``ratio`` (TSDAE, section 3.1).

    Special tokens stay, and of every text that has any at least one other token. The random numbers are torch's own,
    which a training run seeds and keeps in its checkpoints. TSDAE deletes words; here it is word pieces, so
    that texts are tokenised once and not at every step.

    Parameters
    ----------
    tokens : TokenisedTexts
        The undamaged texts.
    rows : ndarray of int64, shape (m,)
        Which of them.
    ratio : float
        From 0, nothing is deleted, to 1, one token is left.
    n_before, n_behind : int
        How many special tokens stand before and behind a text.

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
    lengths = tokens.lengths[rows]
    starts = np.cumsum(lengths) - lengths
    place = np.arange(int(lengths.sum())) - np.repeat(starts, lengths)  # within the text
    special = (place < n_before) | (place >= np.repeat(lengths, lengths) - n_behind)
    draws = np.where(special, -1.0, torch.rand(len(place), dtype=torch.float64).numpy())
    luckiest = np.maximum.reduceat(draws, starts)
    kept = special | (draws >= ratio) | (draws == np.repeat(luckiest, lengths))
    left = np.add.reduceat(kept, starts, dtype=np.int64)
    ids = tokens.ids[np.repeat(tokens.offsets[rows], lengths) + place][kept]
    offsets = np.concatenate([[0], np.cumsum(left)])
    return TokenisedTexts(ids, offsets, np.arange(len(rows)), tokens.truncated, tokens.pad_id)
