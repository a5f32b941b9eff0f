"""Typing errors."""

from __future__ import annotations

from string import ascii_lowercase

import numpy as np

from shoal.augment.base import WordAugmenter

_SHORTEST_WORD = 4


class CharSwap(WordAugmenter):
    """Put one typing error into a share of the words: substitute, delete or insert a letter, or swap two neighbours.

    The first and last letters of a word stay, and so do words of fewer than four letters: people can then still read
    the text (after TextAttack's character swap, Morris et al., 2020).

    Parameters
    ----------
    strength : float
        Share of the words that get an error.

    Examples
    --------
    >>> CharSwap(strength=0.5).augment(["database connection"], seed=0)
    ['dtabase connection']
    """

    name = "char_swap"

    def _replace(self, word: str, rng: np.random.Generator) -> str | None:
        if len(word) < _SHORTEST_WORD:
            return None
        # In other scripts the new letter is one of the word's own.
        letter = str(rng.choice(list(ascii_lowercase if word.isascii() else word)))
        at = int(rng.integers(1, len(word) - 1))
        pair = int(rng.integers(1, len(word) - 2))
        errors = [
            word[:at] + letter + word[at + 1 :],
            word[:at] + word[at + 1 :],
            word[:at] + letter + word[at:],
            word[:pair] + word[pair + 1] + word[pair] + word[pair + 2 :],
        ]
        changed = [error for error in errors if error != word]
        return changed[int(rng.integers(len(changed)))]
