"""How many words and word sequences a paraphrase shares with its original."""

from __future__ import annotations

import math
from collections import Counter

_LONGEST = 4


def bleu(candidate: str, reference: str) -> float:
    r"""Sentence BLEU of lower-cased words (Papineni et al., 2002), smoothed (Lin and Och, 2004).

    .. math:: \min(1, e^{1 - r / c}) \, \Big(\prod_{n=1}^{4} p_n\Big)^{1/4}

    where c and r are the lengths in words. One is added to the matches and to the total of every p_n with n > 1.

    Parameters
    ----------
    candidate : str
    reference : str

    Returns
    -------
    float
        Between 0 (no word in common) and 1 (the same words in the same order).

    Examples
    --------
    >>> bleu("the cat sat", "The cat sat"), bleu("a dog", "the cat sat")
    (1.0, 0.0)
    """
    words, expected = candidate.lower().split(), reference.lower().split()
    if not set(words) & set(expected):
        return 0.0
    log_precision = 0.0
    for n in range(1, _LONGEST + 1):
        grams, allowed = _ngrams(words, n), _ngrams(expected, n)
        smoothing = int(n > 1)
        log_precision += math.log((grams & allowed).total() + smoothing)
        log_precision -= math.log(grams.total() + smoothing)
    brevity = min(0.0, 1 - len(expected) / len(words))
    return math.exp(brevity + log_precision / _LONGEST)


def _ngrams(words: list[str], n: int) -> Counter[tuple[str, ...]]:
    """Count sequences of n words."""
    return Counter(tuple(words[start : start + n]) for start in range(len(words) - n + 1))
