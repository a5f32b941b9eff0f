"""The terms of a text that can become keywords."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from shoal.text.words import characters, is_unspaced, words_and_breaks

# Han words are short; four letters of Thai are often less than a word.
_FIRST_HAN = "\u3005"
_LONGEST_HAN = 4
_LONGEST_OTHER = 8


def terms(text: str, stop_words: AbstractSet[str] = frozenset()) -> Iterator[str]:
    """List the terms of a text that can become keywords.

    These are its words, each pair of neighbouring words, and, in scripts without spaces, each sequence of two
    to four characters (up to eight outside Han). A term never contains a stop word, never crosses punctuation,
    never is or starts with a bare number ("Windows 7" is a term, "2007" and "5 ways" are not), and is never a
    single lower-case letter.

    Parameters
    ----------
    text : str
        Any text.
    stop_words : set of str
        Case-folded words, or single characters of an unspaced script, to omit.

    Yields
    ------
    str
        A term in its own spelling, once per occurrence.

    Examples
    --------
    >>> list(terms("The SQL Server 2008", {"the"}))
    ['SQL', 'Server', 'SQL Server', 'Server 2008']
    >>> list(terms("人工智能"))
    ['人工', '人工智', '人工智能', '工智', '工智能', '智能']
    """
    previous = ""
    for word in words_and_breaks(text):
        if is_unspaced(word):
            yield from _sequences(characters(word), stop_words)
            previous = ""
        elif not word or word.casefold() in stop_words:
            previous = ""
        else:
            is_number = not (word[0].isalpha() or any(map(str.isalpha, word)))
            if not is_number and (len(word) > 1 or not word.islower()):
                yield word
            if previous:
                yield f"{previous} {word}"
            previous = "" if is_number else word


def _sequences(run: list[str], stop_words: AbstractSet[str]) -> Iterator[str]:
    """Sequences of two or more characters without a stop word; a single character is a word."""
    if len(run) == 1 and run[0] not in stop_words:
        yield run[0]
    longest = _LONGEST_HAN if run[0] >= _FIRST_HAN else _LONGEST_OTHER
    for start in range(len(run)):
        for stop in range(start + 1, min(start + longest, len(run)) + 1):
            sequence = "".join(run[start:stop])
            if run[stop - 1] in stop_words or sequence in stop_words:
                break
            if stop - start > 1:
                yield sequence
