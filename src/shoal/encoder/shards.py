"""Encoding shard by shard, in this process or in blocks by the workers of the engine."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.encoder.packaged import TextEncoder
from shoal.encoder.vector_cache import EncodedTexts
from shoal.engine import block_size, current_engine, map_shared
from shoal.errors import DataError
from shoal.progress import progress

if TYPE_CHECKING:
    from shoal.encoder.transformer import TransformerEncoder

# Texts of a block: enough that sorting them by length leaves little padding, the work of a few seconds.
MOST_TEXTS = 2048


def encode_shards(encoder: TextEncoder | TransformerEncoder, shards: Sequence[Sequence[str]]) -> Iterator[EncodedTexts]:
    """Yield the vectors of each shard; the workers of an engine share the texts in blocks, across shards.

    Parameters
    ----------
    encoder : TextEncoder
        Loaded once by each worker.
    shards : sequence of sequences of str
        The texts.

    Examples
    --------
    >>> class Lengths:
    ...     def encode(self, texts):
    ...         return np.array([[len(text)] for text in texts])
    >>> [shard.vectors.tolist() for shard in encode_shards(Lengths(), [["a", "bc"], ["def"]])]
    [[[1.0], [2.0]], [[3.0]]]
    """
    n_texts = sum(map(len, shards))
    size = block_size(n_texts, MOST_TEXTS)
    if current_engine().is_local or n_texts <= size:
        size = max(map(len, shards))
        if len(shards) == 1:  # the encoder has a bar of its own, which knows single texts
            yield encode_texts(encoder, shards[0])
            return
    blocks = (list(shard[begin : begin + size]) for shard in shards for begin in range(0, len(shard), size))
    encoded = map_shared(EncodeBlock(encoder), blocks, n_texts)
    with progress("Encoding", n_texts) as bar:
        for shard in shards:
            parts = []
            for part in itertools.islice(encoded, math.ceil(len(shard) / size)):
                parts.append(part)
                bar.advance(len(part.vectors))
            yield EncodedTexts(np.concatenate([part.vectors for part in parts]), sum(part.truncated for part in parts))


@dataclass(frozen=True)
class EncodeBlock:
    """Encodes one block: what each worker is given once, and keeps from one corpus to the next.

    Parameters
    ----------
    encoder : TextEncoder
        The encoder.
    """

    encoder: TextEncoder | TransformerEncoder

    @property
    def fingerprint(self) -> str | None:
        """The encoder's: a worker that has it needs no other, unless it was trained meanwhile."""
        return getattr(self.encoder, "fingerprint", None)

    def __call__(self, texts: Sequence[str]) -> EncodedTexts:
        """Return the vectors of the texts."""
        return encode_texts(self.encoder, texts)


def encode_texts(encoder: TextEncoder | TransformerEncoder, texts: Sequence[str]) -> EncodedTexts:
    """Encode, and refuse what is not one row per text."""
    vectors = np.asarray(encoder.encode(list(texts)), dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise DataError(
            f"{type(encoder).__name__}.encode gave an array of shape {vectors.shape} for {len(texts)} texts; "
            "it must return one row per text."
        )
    return EncodedTexts(vectors, getattr(encoder, "truncated", 0))
