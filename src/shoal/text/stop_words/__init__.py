"""Function words, one file per language in this folder, and detection of a corpus's languages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.resources import files

from shoal.errors import ParameterError
from shoal.text.words import words


def _read(code: str) -> frozenset[str]:
    """Read the function words of a language, one per line, case-folded."""
    return frozenset((files(__name__) / f"{code}.txt").read_text(encoding="utf-8").split())


STOP_WORDS: dict[str, frozenset[str]] = {code: _read(code) for code in ("en", "de", "fr", "es", "it", "pt", "nl", "ru")}
# Characters and words of Chinese grammar. They harm no other language, so they need no detection.
_CHINESE = _read("zh")

_SAMPLE = 5000
# Function words are about 40 % of a text, so this finds a language that makes up about a twentieth of the corpus.
_TELLING_SHARE = 0.02
_TELLING_WORDS = 3


def languages(texts: Sequence[str]) -> tuple[str, ...]:
    """Find the languages of a corpus by their function words.

    Each text counts for the one language whose function words are most frequent in it. A language is in the
    corpus if its function words in such texts are at least 2 % of all words, and at least three different ones:
    "car" alone does not make an English corpus French. At most 5000 texts, evenly spaced, are read.

    Parameters
    ----------
    texts : sequence of str
        The corpus.

    Returns
    -------
    tuple of str
        Two-letter codes among the keys of `STOP_WORDS`; empty if none is found.

    Examples
    --------
    >>> languages(["Wie ist das Wetter in der Stadt?", "Das Wetter ist nicht gut"])
    ('de',)
    """
    hits: Counter[str] = Counter()
    seen: dict[str, set[str]] = {code: set() for code in STOP_WORDS}
    n_words = 0
    for text in texts[:: max(1, len(texts) // _SAMPLE)]:
        tokens = [word.casefold() for word in words(text)]
        n_words += len(tokens)
        counts = Counter({code: sum(map(listed.__contains__, tokens)) for code, listed in STOP_WORDS.items()})
        (best, count), (_, runner_up) = counts.most_common(2)
        if count > runner_up:
            hits[best] += count
            seen[best].update(STOP_WORDS[best].intersection(tokens))
    return tuple(
        code for code in STOP_WORDS if len(seen[code]) >= _TELLING_WORDS and hits[code] >= _TELLING_SHARE * n_words
    )


def resolve_stop_words(stop_words: str | Iterable[str] | None, texts: Sequence[str]) -> frozenset[str]:
    """Turn the parameter `stop_words` into a set of case-folded words.

    Parameters
    ----------
    stop_words : "auto", iterable of str or None
        "auto" for the lists of the languages found in `texts`, your own words, or None for no stop words.

    texts : sequence of str
        The corpus, read only for "auto".

    Returns
    -------
    frozenset of str
        The words to omit.

    Raises
    ------
    ParameterError
        `stop_words` is a string other than "auto".

    Examples
    --------
    >>> sorted(resolve_stop_words(["The", "of"], []))
    ['of', 'the']
    >>> "the" in resolve_stop_words("auto", ["this is the end of the world"])
    True
    """
    if stop_words is None:
        return frozenset()
    if stop_words == "auto":
        return _CHINESE.union(*(STOP_WORDS[code] for code in languages(texts)))
    if isinstance(stop_words, str):
        raise ParameterError(
            f'stop_words="{stop_words}" is unknown; pass "auto", None or a list of words, for instance '
            f"shoal.text.stop_words.STOP_WORDS[code] with a code among {', '.join(STOP_WORDS)}."
        )
    return frozenset(word.casefold() for word in stop_words)
