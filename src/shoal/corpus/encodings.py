"""Bytes to text: the encoding by its mark, by its form, by its statistics, or by asking; whole or in chunks."""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from shoal.corpus.columns import without_surrogates
from shoal.errors import DataError

# Bytes in chunks of any size; each call begins again.
Chunks = Callable[[], Iterable[bytes]]

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
_CONTROL = bytes([*range(0x09), *range(0x0E, 0x20)])
_HIGH = bytes(range(0x80, 0x100))
_SAMPLE = 1 << 20


@dataclass(frozen=True)
class Encoding:
    """The encoding of some bytes, and how it is known."""

    name: str
    given: bool = False
    guessed: bool = False


def decode(raw: bytes, encoding: str | None = None) -> tuple[str, dict[str, Any]]:
    """Turn bytes into text, by the rule of `read_table`."""
    if encoding is not None:
        try:
            text = raw.decode(encoding, "replace").removeprefix("\ufeff")
        except (LookupError, UnicodeError, ValueError) as error:
            raise _unusable(encoding, error) from error
        if not isinstance(text, str):  # base64, rot13 and other codecs that are no encodings
            raise DataError(f"encoding={encoding!r} is no encoding of texts; try utf-8, cp1252 or utf-16.")
        return _noted(without_surrogates(text), Encoding(encoding, given=True))
    found = encoding_of(lambda: [raw])
    return _noted(without_surrogates(raw.decode(found.name, "replace")), found)


def decoded(chunks: Iterable[bytes], encoding: Encoding) -> Iterator[str]:
    """Yield what `decode` returns, chunk by chunk."""
    begun = not encoding.given
    try:
        for text in _texts(chunks, encoding.name, "replace"):
            yield without_surrogates(text if begun else text.removeprefix("\ufeff"))
            begun = begun or bool(text)
    except DataError:  # of the chunks; it is a ValueError too
        raise
    except (LookupError, UnicodeError, ValueError) as error:
        raise _unusable(encoding.name, error) from error


def encoding_of(chunks: Chunks, encoding: str | None = None) -> Encoding:
    """Return the encoding of bytes, by the rule of `read_table`; they are gone through as often as needed.

    Raises
    ------
    DataError
        If it cannot be told, or the one that is given is none.
    """
    if encoding is not None:
        decode(b"a", encoding)
        name = codecs.lookup(encoding).name
        native = name in ("utf-16", "utf-32") and _marked(chunks) != name  # decoders of chunks insist on the mark
        return Encoding(f"{name}-{sys.byteorder[0]}e" if native else encoding, given=True)
    marked = _marked(chunks)
    if marked is not None:
        return Encoding(marked)
    found = _without_mark(chunks)
    return Encoding("utf-8") if found is None else Encoding(found, guessed=True)


@dataclass
class _Census:
    """What was counted in bytes, also when they are read as UTF-8."""

    size: int = 0
    nuls: int = 0
    controls: int = 0
    ascii: int = 0
    characters: int = 0
    broken: int = 0
    marks_of_replacement: bool = False
    shifts: bool = False

    @classmethod
    def of(cls, chunks: Chunks) -> _Census:
        """Count in all chunks."""
        census = cls()
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        before = b""
        for chunk in chunks():
            census.size += len(chunk)
            census.nuls += chunk.count(0)
            census.controls += len(chunk) - len(chunk.translate(None, _CONTROL))
            census.ascii += len(chunk.translate(None, _HIGH))
            census._count(decoder.decode(chunk))
            for joined in (before + chunk[:2], chunk):  # a sequence may begin in one chunk and end in the next
                census.marks_of_replacement |= "\ufffd".encode() in joined
                census.shifts |= b"\x1b$" in joined
            before = (before + chunk[-2:])[-2:]
        census._count(decoder.decode(b"", final=True))
        return census

    def _count(self, text: str) -> None:
        """Count characters, and sequences that are none."""
        self.characters += len(text)
        self.broken += text.count("\ufffd")

    @property
    def foreign(self) -> int:
        """Characters outside ASCII."""
        return self.characters - self.broken - self.ascii


def _sample(chunks: Chunks) -> bytes:
    """Return the first bytes."""
    sample = bytearray()
    for chunk in chunks():
        sample += chunk[: _SAMPLE - len(sample)]
        if len(sample) == _SAMPLE:
            break
    return bytes(sample)


def _marked(chunks: Chunks) -> str | None:
    """Return the encoding that a byte order mark stands for."""
    sample = _sample(chunks)
    return next((name for mark, name in _MARKS if sample.startswith(mark)), None)


def _without_mark(chunks: Chunks) -> str | None:
    """Return the encoding of bytes without a byte order mark; None for UTF-8, whole or with a few broken bytes."""
    census = _Census.of(chunks)
    if census.nuls and census.controls > 0.2 * census.size:
        wide = _first_that_fits(chunks, _WIDE)
        if wide is not None:
            return wide
        if census.nuls > 0.3 * census.size:
            raise DataError("a third of the bytes are NUL; pass the format if it is not text, or encoding='utf-16-le'.")
    if not census.broken or census.marks_of_replacement:
        return _first_that_fits(chunks, _SHIFTED) if census.shifts else None
    # Nearly all bytes are valid in most encodings of one byte, so they must not win over UTF-8 with a few broken ones.
    if census.foreign >= census.broken:
        return None
    if census.nuls and (wide := _first_that_fits(chunks, _WIDE)) is not None:
        return wide
    return _legacy(chunks)


def _legacy(chunks: Chunks) -> str | None:
    """Return the encoding of bytes that are not UTF-8: Windows-1252 if they look Western, otherwise by statistics."""
    sample = _sample(chunks)
    western = len(_ALONE.findall(sample)) >= 0.5 * len(re.findall(rb"[\x80-\xff]", sample))
    if western:
        try:
            for _ in _texts(chunks(), "cp1252"):
                pass
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


def _first_that_fits(chunks: Chunks, encodings: tuple[str, ...]) -> str | None:
    """Return the first of the encodings in which the bytes are a text."""
    return next((encoding for encoding in encodings if _fits(chunks, encoding)), None)


def _fits(chunks: Chunks, encoding: str) -> bool:
    """Tell whether the bytes are a text: no NUL, hardly a character without a meaning."""
    length = strange = lines = 0
    try:
        for text in _texts(chunks(), encoding):
            if "\0" in text:
                return False
            sample = text[: max(0, _SAMPLE - length)]
            strange += sum(not (character.isprintable() or character.isspace()) for character in sample)
            length += len(text)
            lines += text.count("\n")
    except UnicodeDecodeError:
        return False
    line_feeds = sum(chunk.count(b"\n") for chunk in chunks())  # of a text in every encoding, if it is the right one
    return lines >= 0.5 * line_feeds and strange <= 0.01 * min(length, _SAMPLE)


def _texts(chunks: Iterable[bytes], encoding: str, errors: str = "strict") -> Iterator[str]:
    """Decode chunk by chunk; a character may begin in one and end in the next."""
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    for chunk in chunks:
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)


def _unusable(encoding: str, error: Exception) -> DataError:
    """Return the error for an encoding that does not exist, or with which nothing can be read."""
    return DataError(f"encoding={encoding!r} cannot be used ({error}); try utf-8, cp1252 or utf-16.")


def _noted(text: str, encoding: Encoding) -> tuple[str, dict[str, Any]]:
    """Pair a text with its encoding and the number of replacement characters, if any."""
    notes: dict[str, Any] = {"encoding": encoding.name}
    if replaced := text.count("\ufffd"):
        notes["replaced_characters"] = replaced
    return text, notes | ({"encoding_guessed": True} if encoding.guessed else {})
