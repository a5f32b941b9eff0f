"""Bytes to text: the encoding by its mark, by its form, by its statistics, or by asking."""

from __future__ import annotations

import codecs
import re
from typing import Any

from shoal.corpus.columns import without_surrogates
from shoal.errors import DataError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_SHIFTED = ("iso2022_jp_2", "iso2022_kr")
# In Western languages a letter outside ASCII stands among others of ASCII; in the rest of the world they come in rows.
_ALONE = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_HIGH = re.compile(rb"[\x80-\xff]")
_SAMPLE = 1 << 20


def decode(raw: bytes, encoding: str | None = None) -> tuple[str, dict[str, Any]]:
    """Turn bytes into text, by the rule of `read_table`."""
    if encoding is not None:
        try:
            text = raw.decode(encoding, "replace").removeprefix("\ufeff")
        except (LookupError, UnicodeError, ValueError) as error:
            raise DataError(f"encoding={encoding!r} cannot be used ({error}); try utf-8, cp1252 or utf-16.") from error
        if not isinstance(text, str):  # base64, rot13 and other codecs that are no encodings
            raise DataError(f"encoding={encoding!r} is no encoding of texts; try utf-8, cp1252 or utf-16.")
        return _decoded(without_surrogates(text), encoding)
    for mark, name in _MARKS:
        if raw.startswith(mark):
            return _decoded(raw.decode(name, "replace"), name)
    found = _without_mark(raw)
    if found is not None:
        text, notes = _decoded(without_surrogates(raw.decode(found, "replace")), found)
        return text, {**notes, "encoding_guessed": True}
    return _decoded(raw.decode("utf-8", "replace"), "utf-8")


def _without_mark(raw: bytes) -> str | None:
    """Return the encoding of bytes without a byte order mark; None for UTF-8, whole or with a few broken bytes."""
    if 0 in raw and len(_CONTROL.findall(raw)) > 0.2 * len(raw):
        wide = _first_that_fits(raw, _WIDE)
        if wide is not None:
            return wide
        if raw.count(0) > 0.3 * len(raw):
            raise DataError("a third of the bytes are NUL; pass the format if it is not text, or encoding='utf-16-le'.")
    text = raw.decode("utf-8", "replace")
    if "\ufffd" not in text or "\ufffd".encode() in raw:
        return _first_that_fits(raw, _SHIFTED) if b"\x1b$" in raw else None
    # Nearly all bytes are valid in most encodings of one byte, so they must not win over UTF-8 with a few broken ones.
    if len(re.findall(r"[^\x00-\x7f\ufffd]", text)) >= text.count("\ufffd"):
        return None
    return _legacy(raw)


def _legacy(raw: bytes) -> str | None:
    """Return the encoding of bytes that are not UTF-8: Windows-1252 if they look Western, otherwise by statistics."""
    if 0 in raw and (wide := _first_that_fits(raw, _WIDE)) is not None:
        return wide
    sample = raw[:_SAMPLE]
    western = len(_ALONE.findall(sample)) >= 0.5 * len(_HIGH.findall(sample))
    if western:
        try:
            raw.decode("cp1252")
        except UnicodeDecodeError:
            return None
        return "cp1252"
    from charset_normalizer import from_bytes

    best = from_bytes(sample).best()
    if best is None:
        raise DataError(
            "the bytes are not UTF-8, and their encoding cannot be recognised; name it with --encoding (encoding=…), "
            "e.g. gb18030, shift_jis, euc_kr, big5, cp1251 or cp1252."
        )
    return str(best.encoding)


def _first_that_fits(raw: bytes, encodings: tuple[str, ...]) -> str | None:
    """Return the first of the encodings in which the bytes are a text: no NUL, hardly a character without a meaning."""
    for encoding in encodings:
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        strange = sum(not (character.isprintable() or character.isspace()) for character in text[:_SAMPLE])
        lines = text.count("\n") >= 0.5 * raw.count(b"\n")  # they are there in every encoding, if it is the right one
        if "\0" not in text and lines and strange <= 0.01 * min(len(text), _SAMPLE):
            return encoding
    return None


def _decoded(text: str, encoding: str) -> tuple[str, dict[str, Any]]:
    """Pair a text with its encoding and the number of replacement characters, if any."""
    replaced = text.count("\ufffd")
    return text, {"encoding": encoding} | ({"replaced_characters": replaced} if replaced else {})
