"""Function words, one file per language in this folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files
from importlib.util import find_spec

from shoal.errors import ParameterError
from shoal.text.languages import find_languages


def _read(code: str) -> frozenset[str]:
    """Read the function words of a language, one per line, case-folded."""
    return frozenset((files(__name__) / f"{code}.txt").read_text(encoding="utf-8").split())


STOP_WORDS: dict[str, frozenset[str]] = {code: _read(code) for code in ("en", "de", "fr", "es", "it", "pt", "nl", "ru")}
# Characters and words of Chinese grammar. They harm no other language, so they need no detection.
_CHINESE = _read("zh")


def function_words(code: str) -> frozenset[str]:
    """Return the function words of a language: our own list, or that of stopwordsiso (the extra ``multilingual``).

    Examples
    --------
    >>> "nicht" in function_words("de"), "inte" in function_words("sv")
    (True, True)
    """
    if code in STOP_WORDS:
        return STOP_WORDS[code]
    if find_spec("stopwordsiso") is None:
        return frozenset()
    import stopwordsiso

    listed = {word.casefold() for word in stopwordsiso.stopwords(code)} if stopwordsiso.has_lang(code) else set()
    # A character of Chinese grammar that is also part of content words (中国, 不锈钢) is in our own list or omitted.
    return frozenset(word for word in listed if code not in ("zh", "ja") or len(word) > 1)


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
        return _CHINESE.union(*map(function_words, find_languages(texts).codes))
    if isinstance(stop_words, str):
        raise ParameterError(
            f'stop_words="{stop_words}" is unknown; pass "auto", None or a list of words, for instance '
            f"shoal.text.stop_words.STOP_WORDS[code] with a code among {', '.join(STOP_WORDS)}."
        )
    return frozenset(word.casefold() for word in stop_words)
