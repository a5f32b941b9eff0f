"""Texts cut into words, and words into the terms that can become keywords."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

# Scripts written without spaces: Thai and Lao, Burmese, Khmer, Han.
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U00020000-\U0003ffff"
)
_HIRAGANA = r"\u3041-\u309f"
_KATAKANA = r"\u30a1-\u30fa\u30fc-\u30ff"
# Vowel signs and accents, which Python's \w leaves out: without them Hindi or pointed Arabic falls to pieces.
_MARKS = (
    r"\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    r"\u0900-\u0963\u0981-\u0dff"
)
_LETTERS = rf"(?:[^\W_{_UNSPACED}{_HIRAGANA}{_KATAKANA}]+|[{_MARKS}]+)+"
# What may stand inside a word: well-known, don't, snake_case, node.js (not "end.Next"), PL/SQL, R&D.
_JOINT = r"(?:[-\u2010\u2011_]|'(?!(?i:s)\b)|\.(?![A-Z][a-z])|(?<=[A-Z])[/&](?=[A-Z]+(?![+#\w])))"
_TOKEN = re.compile(
    r"https?://\S+|www\.\S+|[\w.+-]{1,64}@\S+\.\w+|&#?\w+;"  # addresses and entities say little
    # l'homme, dell'arte
    r"|\b(?i:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|dell|all|nell|sull|dall|un|gl)'(?=\w{2}|[ay]\b)"
    r"|(?<=\w)'(?i:s)\b"  # the shop's
    rf"|([{_KATAKANA}]+|[{_UNSPACED}]+|(?:(?<![\w.)])\.(?=[^\W\d_]))?{_LETTERS}(?:{_JOINT}{_LETTERS})*(?:\+\+|\#)?)"
    r"|\S"
)
_UNIT = re.compile(
    rf"[{_UNSPACED}](?:[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b6-\u17d3])*"
)
_FIRST_UNSPACED = "\u0e00"
# Han words are short; four letters of Thai are often less than a word.
_FIRST_HAN = "\u3005"
_LONGEST_HAN = 4
_LONGEST_OTHER = 8
_LONGEST_WORD = 40


def _tokens(text: str) -> list[str]:
    """Words of `text` in order, with "" wherever something other than white space parts two of them."""
    found: list[str] = _TOKEN.findall(unicodedata.normalize("NFC", text).replace("\u2019", "'"))
    return [token if len(token) <= _LONGEST_WORD or is_unspaced(token) else "" for token in found]


def is_unspaced(word: str) -> bool:
    """Tell whether `word` is in a script that writes no spaces between words."""
    return word >= _FIRST_UNSPACED and _UNIT.match(word) is not None


def units(word: str) -> list[str]:
    """Cut a word of an unspaced script into characters, each with its marks."""
    return _UNIT.findall(word)


def words(text: str) -> list[str]:
    """Cut a text into words, in their own spelling.

    Names such as ``c++``, ``C#``, ``.NET``, ``node.js`` and ``PL/SQL`` stay whole, and so do hyphens and
    apostrophes inside a word; the English ``'s`` and the French or Italian article before an apostrophe go.
    A run of Han characters, or of Thai, Lao, Burmese or Khmer, is one word here. Hiragana, which mostly
    writes Japanese grammar, is left out. Web and mail addresses are left out.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of str
        The words in order, with their case.

    Examples
    --------
    >>> words("C++ or C#? The shop's node.js isn't well-known.")
    ['C++', 'or', 'C#', 'The', 'shop', 'node.js', "isn't", 'well-known']
    >>> words("L’économie d'État"), words("机器学习!"), words("データを分析する")
    (['économie', 'État'], ['机器学习'], ['データ', '分析'])
    """
    return [token for token in _tokens(text) if token]


def terms(text: str, stop_words: AbstractSet[str] = frozenset()) -> Iterator[str]:
    """List the terms of a text that can become keywords.

    These are its words, each pair of neighbouring words, and, in scripts without spaces, each sequence of two
    to four characters (up to eight outside Han). A term never holds a stop word, never crosses punctuation,
    never is or starts with a bare number ("2007" and "5 ways" are none, "Windows 7" is one), and never is a
    lone small letter.

    Parameters
    ----------
    text : str
        Any text.
    stop_words : set of str
        Case-folded words, or single characters of an unspaced script, to leave out.

    Yields
    ------
    str
        A term in its own spelling, once for each time it occurs.

    Examples
    --------
    >>> list(terms("The SQL Server 2008", {"the"}))
    ['SQL', 'Server', 'SQL Server', 'Server 2008']
    >>> list(terms("人工智能"))
    ['人工', '人工智', '人工智能', '工智', '工智能', '智能']
    """
    previous = ""
    for token in _tokens(text):
        if is_unspaced(token):
            yield from _grams(units(token), stop_words)
            previous = ""
        elif not token or token.casefold() in stop_words:
            previous = ""
        else:
            is_number = not (token[0].isalpha() or any(map(str.isalpha, token)))
            if not is_number and (len(token) > 1 or not token.islower()):
                yield token
            if previous:
                yield f"{previous} {token}"
            previous = "" if is_number else token


def _grams(run: list[str], stop_words: AbstractSet[str]) -> Iterator[str]:
    """Sequences of two characters or more without a stop word; a character that stands alone is a word."""
    if len(run) == 1 and run[0] not in stop_words:
        yield run[0]
    longest = _LONGEST_HAN if run[0] >= _FIRST_HAN else _LONGEST_OTHER
    for start in range(len(run)):
        for stop in range(start + 1, min(start + longest, len(run)) + 1):
            gram = "".join(run[start:stop])
            if run[stop - 1] in stop_words or gram in stop_words:
                break
            if stop - start > 1:
                yield gram
