"""Words inside a text: find them, count how many to change, put others in their place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """A word and where it stands: ``text[start:end]``."""

    start: int
    end: int
    text: str


def split_words(text: str) -> list[Word]:
    """Find the words of a text: the runs between spaces without the punctuation around them.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of Word

    Examples
    --------
    >>> [word.text for word in split_words("Don't panic, (C++) fans - ok?")]
    ["Don't", 'panic', 'C', 'fans', 'ok']
    """
    words = []
    for run in re.finditer(r"\S+", text):
        start, end = run.span()
        while start < end and not _is_word_character(text[start]):
            start += 1
        while start < end and not _is_word_character(text[end - 1]):
            end -= 1
        if start < end:
            words.append(Word(start, end, text[start:end]))
    return words


def _is_word_character(character: str) -> bool:
    """Letters and digits, and the combining marks that belong to them in many scripts."""
    return character.isalnum() or unicodedata.category(character).startswith("M")


def n_changes(n_words: int, strength: float) -> int:
    """Count the words to change: the share, rounded, and at least one.

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
    """Put new words in the place of old ones.

    Parameters
    ----------
    text : str
    replacements : mapping of Word to str
        Words of this text, and what comes in their place.

    Returns
    -------
    str

    Examples
    --------
    >>> red, car = split_words("a red car!")[1:]
    >>> splice("a red car!", {car: "auto", red: "crimson"})
    'a crimson auto!'
    """
    for word in sorted(replacements, key=lambda word: word.start, reverse=True):
        text = text[: word.start] + replacements[word] + text[word.end :]
    return text
