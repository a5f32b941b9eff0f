"""Some words omitted."""

from __future__ import annotations

import numpy as np

from shoal.augment.base import WordAugmenter
from shoal.augment.words import n_changes
from shoal.text.words import split_words


class WordDeletion(WordAugmenter):
    """Delete a share of the words; at least one word stays.

    In a text that loses a word, white space becomes single spaces.

    Parameters
    ----------
    strength : float
        Share of the words to delete.

    Examples
    --------
    >>> WordDeletion(strength=0.5).augment(["the quick brown fox"], seed=1)
    ['the brown']
    """

    name = "word_deletion"

    def _rewrite_text(self, text: str, rng: np.random.Generator) -> str:
        tokens = text.split()
        words = [position for position, token in enumerate(tokens) if split_words(token)]
        n_deleted = min(n_changes(len(words), self.strength), len(words) - 1)
        if n_deleted < 1:
            return text
        deleted = set(rng.choice(words, size=n_deleted, replace=False).tolist())
        return " ".join(token for position, token in enumerate(tokens) if position not in deleted)
