"""How often each term occurs in each text, whatever its spelling."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from shoal.naming.terms import is_negation, terms

_SHORTEST_STEM = 4


@dataclass(frozen=True)
class TermCounts:
    """How often each term occurs in each text.

    Parameters
    ----------
    matrix : csr_matrix of shape (n_texts, n_terms)
        Occurrences.
    spelling : tuple of str
        Each term in its most frequent spelling; of equally frequent ones the earliest.
    stop_words : set of str
        The words that were omitted, except inside phrases.
    """

    matrix: sparse.csr_matrix
    spelling: tuple[str, ...]
    stop_words: AbstractSet[str] = frozenset()


def count_terms(texts: Sequence[str], stop_words: AbstractSet[str] = frozenset()) -> TermCounts:
    """Count terms, treating spellings that differ in case, plural, hyphens or spaces as one.

    How a term is spelt at the beginning of a text counts only where it occurs nowhere else: a capital there means
    nothing.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    stop_words : set of str
        Case-folded words to omit.

    Returns
    -------
    TermCounts
        Terms in order of first occurrence.

    Examples
    --------
    >>> counts = count_terms(["an iPhone", "iPhones and IPHONE", "the iPhone"], {"an", "and", "the"})
    >>> counts.spelling[0], counts.matrix[:, 0].toarray().ravel().tolist()
    ('iPhone', [1, 2, 1])
    >>> count_terms(["top-up failed", "Top up", "my top-up"], {"my", "up"}).spelling[0]
    'top-up'
    """
    spelling_ids: dict[str, int] = {}
    columns, at_start = array("q"), array("b")
    ends = [0]
    for text in texts:
        beginning = text[:1]
        for term in terms(text, stop_words):
            columns.append(spelling_ids.setdefault(term, len(spelling_ids)))
            at_start.append(term[0] == beginning and term[0].isupper() and text.startswith(term))
        ends.append(len(columns))
    spellings = list(spelling_ids)
    term_ids: dict[str, int] = {}
    term_of = np.array([term_ids.setdefault(term_key(s), len(term_ids)) for s in spellings], dtype=np.int64)
    of_spelling = np.array(columns, dtype=np.int64)

    inside = np.array(at_start, dtype=np.int64) == 0
    frequency = np.bincount(of_spelling, inside, minlength=len(spellings))
    by_preference = np.lexsort((np.arange(len(spellings)), -frequency, term_of))
    _, first = np.unique(term_of[by_preference], return_index=True)
    matrix = sparse.csr_matrix(
        (np.ones(len(columns), dtype=np.int64), term_of[of_spelling], ends), shape=(len(texts), len(term_ids))
    )
    matrix.sum_duplicates()
    return TermCounts(matrix, _with_usual_words([spellings[i] for i in by_preference[first]]), stop_words)


def _with_usual_words(spellings: Sequence[str]) -> tuple[str, ...]:
    """Give the words of phrases the capitals that they have on their own: what is a name there is one here."""
    usual = {word.casefold(): word for word in spellings if " " not in word and not word.islower()}
    return tuple(
        " ".join(usual.get(word.casefold(), word) for word in term.split(" ")) if " " in term else term
        for term in spellings
    )


def term_key(term: str) -> str:
    """Return what the spellings of a term share, without case, hyphens, spaces and plurals.

    Examples
    --------
    >>> term_key("Top-ups"), term_key("top up"), term_key("isn't working")
    ('topup', 'topup', 'notworking')
    """
    words = ["not" if is_negation(word) else singular(word) for word in term.casefold().replace("-", " ").split(" ")]
    return singular("".join(words))


def singular(word: str) -> str:
    """Remove the plural, like Harman's S stemmer, from words long enough to be safe."""
    if len(word) <= _SHORTEST_STEM:
        return word
    if word.endswith(("xes", "sses", "ches", "shes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return word[:-2] + "y" if word.endswith("ie") else word
