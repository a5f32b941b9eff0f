"""The splitter: all code that splits a text into words calls one of these three functions.

They share the definition of letters, marks and scripts, and differ in what they keep together:

- :func:`pieces`, for counting. Two texts are alike if they share a piece, so "well-known" is two pieces.
- :func:`words`, for people: keywords, names, function words. "well-known", "don't" and "node.js" stay whole,
  addresses are omitted.
- :func:`split_words`, for changing a text, and for the word vectors that propose replacements: everything between
  two spaces is one word, with its position, so that it can be replaced.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import NamedTuple


def _marks(first: int, last: int) -> str:
    """List the combining marks from one code point to another."""
    return "".join(mark for mark in map(chr, range(first, last + 1)) if unicodedata.category(mark)[0] == "M")


# Vowel signs and accents, which Python's \w omits: without them words of Hindi or pointed Arabic are split.
_MARKS = _marks(0x0300, 0xFFFF)
# Marks of rare scripts, and variation selectors. Pieces end at them: saved terms were counted that way.
_RARE_MARKS = _marks(0x10000, 0x1FFFF) + "\U000e0100-\U000e01ef"
# Scripts written without spaces: Thai and Lao, Burmese, Khmer, Han.
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U00020000-\U0003ffff"
)
_FIRST_UNSPACED = "\u0e00"
_HIRAGANA = r"\u3041-\u309f"
_KATAKANA = r"\u30a1-\u30fa\u30fc-\u30ff"

_PIECE = re.compile(rf"\.?\w[\w{_MARKS}]*[+#]*")

# Most characters are below the first mark, and checking all marks is slow.
_LETTER_OR_MARK = rf"(?:[^\W_]|(?![\x00-\u02ff])[{_MARKS}{_RARE_MARKS}])"
_BETWEEN_SPACES = re.compile(rf"{_LETTER_OR_MARK}(?:\S*{_LETTER_OR_MARK})?")

_SPACED = rf"[^\W_{_UNSPACED}{_HIRAGANA}{_KATAKANA}]"
_LETTERS = rf"{_SPACED}(?:{_SPACED}+|[{_MARKS}]+)*"
# What may occur inside a word: well-known, don't, snake_case, node.js (not "end.Next"), PL/SQL, R&D.
_JOINT = r"(?:[-\u2010\u2011_]|'(?!(?i:s)\b)|\.(?![A-Z][a-z])|(?<=[A-Z])[/&](?=[A-Z]+(?![+#\w])))"
_WORD_OR_BREAK = re.compile(
    r"https?://\S+|www\.\S+|[\w.+-]{1,64}@\S+\.\w+|&#?\w+;"  # addresses and entities say little
    # l'homme, dell'arte
    r"|\b(?i:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|dell|all|nell|sull|dall|un|gl)'(?=\w{2}|[ay]\b)"
    r"|(?<=\w)'(?i:s)\b"  # the shop's
    rf"|([{_KATAKANA}]+|[{_UNSPACED}]+|(?:(?<![\w.)])\.(?=[^\W\d_]))?{_LETTERS}(?:{_JOINT}{_LETTERS})*(?:\+\+|\#)?)"
    r"|\S"
)
_LONGEST_WORD = 40
# Korean has spaces, but its particles are written without one: pairs of characters find the word inside.
_GLYPH = re.compile(rf"[{_UNSPACED}{_HIRAGANA}{_KATAKANA}\uac00-\ud7a3][{_MARKS}]*")
_GLYPHS = re.compile(rf"(?:{_GLYPH.pattern})+")
# Vowel points of Hebrew and Arabic, and the stroke that lengthens an Arabic word: most writers omit them.
_POINTS = dict.fromkeys([*range(0x0591, 0x05C8), *range(0x064B, 0x0653), 0x0640, 0x0670])
_GREEK_ACCENTS = str.maketrans("άέήίόύώϊϋΐΰ", "αεηιουωιυιυ")  # capitals have none
_CHARACTER = re.compile(rf"[{_UNSPACED}][{_MARKS}]*")


class Word(NamedTuple):
    """A word and its position in a text: ``text[start:end]``."""

    start: int
    end: int
    text: str


def pieces(text: str) -> list[str]:
    """Split a text into runs of letters, digits, underscores and marks, for counting.

    A leading full stop and trailing plus and hash signs belong to the piece.

    Examples
    --------
    >>> pieces("don't use .NET, well-known C++")
    ['don', 't', 'use', '.NET', 'well', 'known', 'C++']
    """
    return _PIECE.findall(text)


def folded(text: str) -> str:
    """Return a text in lower case, without what only some spellings of a word have.

    Accents are composed, the vowel points of Hebrew and Arabic and the accents of Greek, which capitals lack, removed;
    the Turkish İ becomes an i.

    Examples
    --------
    >>> folded("İzmir ΑΘΗΝΑ Αθήνα"), folded("Café")
    ('izmir αθηνα αθηνα', 'café')
    """
    if text.isascii():
        return text.lower()
    lower = unicodedata.normalize("NFC", text).lower().replace("i\u0307", "i")
    return lower.translate(_POINTS).translate(_GREEK_ACCENTS)


def has_glyphs(text: str) -> bool:
    """Tell whether a text is written, at least in part, without spaces between words; Korean counts as such."""
    return not text.isascii() and _GLYPHS.search(text) is not None


def pieces_or_pairs(text: str) -> list[str]:
    """Split like :func:`pieces`, but runs of a script without spaces into pairs of neighbouring characters.

    Examples
    --------
    >>> pieces_or_pairs("A股市场 in 2020")
    ['A', '股市', '市场', 'in', '2020']
    """
    found: list[str] = []
    for piece in pieces(text):
        start = 0
        for run in _GLYPHS.finditer(piece) if not piece.isascii() else ():
            found += [piece[start : run.start()]] if run.start() > start else []
            single = _GLYPH.findall(run[0])
            found += ["".join(pair) for pair in pairwise(single)] or single
            start = run.end()
        found += [piece[start:]] if start < len(piece) else []
    return found


def split_words(text: str) -> list[Word]:
    """Find the runs between spaces, without the punctuation around them.

    Examples
    --------
    >>> [word.text for word in split_words("Don't panic, (C++) fans - ok?")]
    ["Don't", 'panic', 'C', 'fans', 'ok']
    """
    return [Word(*found.span(), found[0]) for found in _BETWEEN_SPACES.finditer(text)]


def words(text: str) -> list[str]:
    """Split a text into words as people see them, in their own spelling.

    Names such as ``c++``, ``C#``, ``.NET``, ``node.js`` and ``PL/SQL`` stay whole, and so do hyphens and
    apostrophes inside a word; the English ``'s`` and the French or Italian article before an apostrophe are removed.
    A run of Han characters, or of Thai, Lao, Burmese or Khmer, is one word here. Hiragana (mostly Japanese grammar),
    web and mail addresses, and words of more than 40 characters are omitted.

    Examples
    --------
    >>> words("C++ or C#? The shop's node.js isn't well-known.")
    ['C++', 'or', 'C#', 'The', 'shop', 'node.js', "isn't", 'well-known']
    >>> words("L’économie d'État"), words("机器学习!"), words("データを分析する")
    (['économie', 'État'], ['机器学习'], ['データ', '分析'])
    """
    return [word for word in words_and_breaks(text) if word]


def words_and_breaks(text: str) -> list[str]:
    """Split a text like :func:`words`, with "" wherever something other than white space separates two words.

    Examples
    --------
    >>> words_and_breaks("red door, window")
    ['red', 'door', '', 'window']
    """
    found: list[str] = _WORD_OR_BREAK.findall(unicodedata.normalize("NFC", text).replace("\u2019", "'"))
    return [word if len(word) <= _LONGEST_WORD or is_unspaced(word) else "" for word in found]


def is_unspaced(word: str) -> bool:
    """Tell whether ``word`` is in a script without spaces between words."""
    return word >= _FIRST_UNSPACED and _CHARACTER.match(word) is not None


def characters(word: str) -> list[str]:
    """Split a word of an unspaced script into characters, each with its marks.

    Examples
    --------
    >>> characters("機械"), len(characters("ที่"))
    (['機', '械'], 1)
    """
    return _CHARACTER.findall(word)
