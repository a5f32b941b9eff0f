"""The languages of a corpus, and of each of its texts."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

ENGLISH = "en"
# Dialects that are read like a language, and texts without any (numbers, codes), which every encoder reads.
_READ_LIKE = {"zxx": "en", "pcm": "en", "wuu": "zh", "yue": "zh", "nn": "no"}
# Distinct texts that are read to find the languages, and characters of each.
SAMPLE = 500
CHARACTERS = 500
# A language that fewer texts than this have, in shares and in numbers, is a few mistakes rather than a language.
LEAST_SHARE = 0.02
LEAST_TEXTS = 3
# A corpus is in several languages if the most frequent one has fewer texts than this.
ONE_LANGUAGE = 0.95
# Two words are too short to tell their language. What others make of them must outweigh this many English texts.
_PRIOR_TEXTS = 2.0
# The least probability of a language: no single text can rule one out.
_FLOOR = 1e-9
_ROUNDS = 50
NAMES = {
    "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech", "da": "Danish",
    "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian", "eu": "Basque",
    "fa": "Persian", "fi": "Finnish", "fr": "French", "gl": "Galician", "he": "Hebrew", "hi": "Hindi",
    "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ka": "Georgian",
    "km": "Khmer", "ko": "Korean", "lo": "Lao", "lt": "Lithuanian", "lv": "Latvian", "mr": "Marathi",
    "ms": "Malay", "my": "Burmese", "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese",
    "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish",
    "sw": "Swahili", "ta": "Tamil", "te": "Telugu", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian",
    "ur": "Urdu", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip


@dataclass(frozen=True)
class Languages:
    """The languages of a corpus.

    Attributes
    ----------
    shares : mapping of str to float
        The share of the texts in each language, by two-letter code (ISO 639), most frequent first.

    Examples
    --------
    >>> found = Languages({"de": 0.7, "en": 0.3})
    >>> found.codes, found.mixed, str(found)
    (('de', 'en'), True, 'German 70 %, English 30 %')
    """

    shares: Mapping[str, float]

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the languages, most frequent first."""
        return tuple(self.shares)

    @property
    def main(self) -> str:
        """The most frequent language."""
        return self.codes[0]

    @property
    def mixed(self) -> bool:
        """Whether the texts are in several languages."""
        return self.shares[self.main] < ONE_LANGUAGE

    @property
    def foreign(self) -> float:
        """The share of texts that are not in English."""
        return 1.0 - self.shares.get(ENGLISH, 0.0)

    def of(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Return the language of each text, as a place in ``codes``; short texts are likelier in a frequent one."""
        if len(self.codes) == 1:
            return np.zeros(len(texts), dtype=np.int64)
        place = {code: column for column, code in enumerate(_codes())}
        columns = [place[code] for code in self.codes]
        prior = np.array(list(self.shares.values()))
        return np.asarray((_likelihoods(texts)[:, columns] * prior).argmax(axis=1), dtype=np.int64)

    def __str__(self) -> str:
        if not self.mixed:
            return NAMES.get(self.main, self.main)
        return ", ".join(
            f"{NAMES.get(code, code)} {share:.0%}".replace("%", " %") for code, share in self.shares.items()
        )


def find_languages(texts: Sequence[str]) -> Languages:
    """Find the languages of a corpus.

    py3langid says how likely each text is in each of 140 languages; how frequent the languages are in the corpus is
    then estimated by expectation maximisation, which a title of two words that looks like Latin cannot mislead. Where
    the texts tell nothing, they are English. At most 500 distinct texts are read, whatever their order.

    Parameters
    ----------
    texts : sequence of str
        The corpus.

    Returns
    -------
    Languages

    Examples
    --------
    >>> str(find_languages(["Wie ist das Wetter in der Stadt?", "Das Wetter ist heute nicht gut"]))
    'German'
    >>> str(find_languages(["red apple", "fast car"]))
    'English'
    """
    distinct = sorted(set(texts), key=lambda text: (zlib.crc32(text.encode("utf-8", "surrogatepass")), text))
    return _found(tuple(text[:CHARACTERS] for text in distinct[:SAMPLE]))


@lru_cache(maxsize=8)  # a fit asks twice: for its encoder, and for the function words of its names
def _found(distinct: tuple[str, ...]) -> Languages:
    """Find the languages of a sample."""
    likely, codes = _likelihoods(distinct), _codes()
    english = codes.index(ENGLISH)
    pseudo = np.zeros(len(codes))
    pseudo[english] = _PRIOR_TEXTS
    share = np.full(len(codes), 1.0 / len(codes))
    for _ in range(_ROUNDS):
        joint = likely * share
        share = ((joint / joint.sum(axis=1, keepdims=True)).sum(axis=0) + pseudo) / (len(distinct) + _PRIOR_TEXTS)
    counts = Counter(codes[column] for column in (likely * share).argmax(axis=1))
    least = min(LEAST_TEXTS, len(distinct))
    kept = {code: n for code, n in counts.most_common() if n >= max(LEAST_SHARE * len(distinct), least)}
    total = sum(kept.values())
    return Languages({code: n / total for code, n in kept.items()} if kept else {ENGLISH: 1.0})


def _likelihoods(texts: Sequence[str]) -> NDArray[np.float64]:
    """Return how likely each text is in each language, (len(texts), number of languages)."""
    identifier, place = _identifier(), {code: column for column, code in enumerate(_codes())}
    likely = np.full((len(texts), len(place)), _FLOOR)
    for row, text in enumerate(texts):
        for code, probability in identifier.rank(text[:CHARACTERS]):
            likely[row, place[_READ_LIKE.get(code, code)]] += probability
    return likely


@cache
def _identifier() -> Any:
    """Load the model of py3langid, which takes half a second."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


@cache
def _codes() -> tuple[str, ...]:
    """Return the codes of all languages that can be told."""
    return tuple(code for code in _identifier().labels if code not in _READ_LIKE)
