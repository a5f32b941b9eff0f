"""The terms of a text that can become keywords: words, and phrases as people write them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from shoal.text.words import characters, is_unspaced, words_and_breaks

# Han words are short; four letters of Thai are often less than a word.
_FIRST_HAN = "\u3005"
_LONGEST_HAN = 4
_LONGEST_OTHER = 8
# "refund for my item" is a phrase; with more words, it is a sentence.
_LONGEST_PHRASE = 4
_MOST_BETWEEN = 2
_MOST_WORDS = 3
# Function words that belong to the verb before them: "top up". They may end a phrase; prepositions ("born in") may not.
PARTICLES = frozenset({"up", "out", "off", "down", "back"})

_NEGATIONS = frozenset({"not", "no", "cannot"})


def terms(text: str, stop_words: AbstractSet[str] = frozenset()) -> Iterator[str]:
    """List the terms of a text that can become keywords.

    These are its words; its phrases of two to four words, which may contain stop words but neither start nor end with
    one, except for "not working", "how long" and "top up"; and, in scripts without spaces, each sequence of two to
    four characters (up to eight outside Han). A term never is a stop word, never crosses punctuation, never is or
    starts with a bare number ("Windows 7" is a term, "2007" and "5 ways" are not), and is never a single lower-case
    letter.

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
    ['SQL', 'SQL Server', 'SQL Server 2008', 'Server', 'Server 2008']
    >>> list(terms("my top up failed", {"my", "up"}))
    ['top', 'top up', 'top up failed', 'failed']
    >>> list(terms("人工智能"))
    ['人工', '人工智', '人工智能', '工智', '工智能', '智能']
    """
    run: list[str] = []
    for word in words_and_breaks(text):
        if word and not is_unspaced(word):
            run.append(word)
            continue
        yield from _phrases(run, stop_words)
        run = []
        if word:
            yield from _sequences(characters(word), stop_words)
    yield from _phrases(run, stop_words)


def is_negation(word: str) -> bool:
    """Tell whether a function word turns what follows into its opposite."""
    return word in _NEGATIONS or word.endswith("n't")


def opens_phrase(word: str) -> bool:
    """Tell whether a phrase may start with a function word: "not working", "how long"."""
    return word == "how" or is_negation(word)


def _phrases(run: Sequence[str], stop_words: AbstractSet[str]) -> Iterator[str]:
    """Words and phrases of words that nothing separates."""
    folded = [word.casefold() for word in run]
    between = [word in stop_words for word in folded]
    number = [not any(map(str.isalpha, word)) for word in run]
    for start, word in enumerate(run):
        if number[start] or (between[start] and not opens_phrase(folded[start])):
            continue
        if not between[start] and (len(word) > 1 or not word.islower()):
            yield word
        for stop in range(start + 1, min(start + _LONGEST_PHRASE, len(run))):
            n_between = sum(between[start : stop + 1])
            if n_between > _MOST_BETWEEN or stop + 1 - start - n_between > _MOST_WORDS:
                break
            if between[start] and between[stop]:
                break
            if not between[stop] or folded[stop] in PARTICLES:
                yield " ".join(run[start : stop + 1])
            if number[stop]:
                break


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
