"""Slips of the keyboard."""

from __future__ import annotations

from string import ascii_lowercase

import numpy as np

from shoal.augment.base import WordAugmenter

_SHORTEST_WORD = 4


class CharSwap(WordAugmenter):
    """Make one slip in a share of the words: substitute, delete, insert a letter or swap two neighbours.

    The first and the last letter of a word stay, and words of fewer than four letters are left alone, since
    people still read the rest (after TextAttack's character swap, Morris et al., 2020).

    Parameters
    ----------
    strength : float
        Share of the words that get a slip.

    Examples
    --------
    >>> CharSwap(strength=0.5).augment(["database connection"], seed=0)
    ['dtabase connection']
    """

    name = "char_swap"

    def _replace(self, word: str, rng: np.random.Generator) -> str | None:
        if len(word) < _SHORTEST_WORD:
            return None
        # A foreign script gets its letters from the word itself.
        letter = str(rng.choice(list(ascii_lowercase if word.isascii() else word)))
        at = int(rng.integers(1, len(word) - 1))
        pair = int(rng.integers(1, len(word) - 2))
        slips = [
            word[:at] + letter + word[at + 1 :],
            word[:at] + word[at + 1 :],
            word[:at] + letter + word[at:],
            word[:pair] + word[pair + 1] + word[pair] + word[pair + 2 :],
        ]
        changed = [slip for slip in slips if slip != word]
        return changed[int(rng.integers(len(changed)))]
