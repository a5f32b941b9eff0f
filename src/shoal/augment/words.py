"""Words inside a text: how many to change, and replacing them."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.text.words import Word


def n_changes(n_words: int, strength: float) -> int:
    """Return the number of words to change: the share, rounded, and at least one.

    Parameters
    ----------
    n_words : int
    strength : float
        Share of the words, 0 < strength <= 1.

    Returns
    -------
    int

    Examples
    --------
    >>> n_changes(10, 0.2), n_changes(3, 0.1), n_changes(0, 0.2)
    (2, 1, 0)
    """
    return min(n_words, max(1, int(strength * n_words + 0.5)))


def match_case(word: str, like: str) -> str:
    """Give a word the capitals of another.

    Parameters
    ----------
    word : str
        The new word.
    like : str
        The word it replaces.

    Returns
    -------
    str

    Examples
    --------
    >>> match_case("auto", "Car"), match_case("auto", "CAR"), match_case("Paris", "town")
    ('Auto', 'AUTO', 'Paris')
    """
    if like.isupper() and len(like) > 1:
        return word.upper()
    return word[:1].upper() + word[1:] if like[:1].isupper() else word


def splice(text: str, replacements: Mapping[Word, str]) -> str:
    """Replace words of a text.

    Parameters
    ----------
    text : str
    replacements : mapping of Word to str
        Words of this text, and their replacements.

    Returns
    -------
    str

    Examples
    --------
    >>> from shoal.text.words import split_words
    >>> red, car = split_words("a red car!")[1:]
    >>> splice("a red car!", {car: "auto", red: "crimson"})
    'a crimson auto!'
    """
    for word in sorted(replacements, key=lambda word: word.start, reverse=True):
        text = text[: word.start] + replacements[word] + text[word.end :]
    return text
