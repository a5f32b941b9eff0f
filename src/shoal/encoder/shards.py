"""Encoding shard by shard, in this process or in blocks by the workers of the engine."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from shoal.encoder.packaged import TextEncoder
from shoal.encoder.vector_cache import EncodedTexts
from shoal.engine import current_engine
from shoal.errors import DataError
from shoal.progress import progress

if TYPE_CHECKING:
    from shoal.encoder.transformer import TransformerEncoder

# Texts of a block: enough that sorting them by length leaves little padding, the work of a few seconds.
MOST_TEXTS = 2048
# Fewer are encoded here before they would have reached a worker.
LEAST_TEXTS = 64
# Blocks of each worker, if there are few texts: the last ones to finish then keep nobody waiting for long.
SHARE = 4


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
    engine, n_texts = current_engine(), sum(map(len, shards))
    shared = not engine.is_local and n_texts > LEAST_TEXTS
    if len(shards) == 1 and not shared:  # the encoder has a bar of its own, which knows single texts
        yield encode_texts(encoder, shards[0])
        return
    size = min(MOST_TEXTS, max(LEAST_TEXTS, math.ceil(n_texts / (SHARE * engine.n_workers)))) if shared else n_texts
    blocks = (list(shard[begin : begin + size]) for shard in shards for begin in range(0, len(shard), size))
    encoded = engine.map_blocks(functools.partial(encode_texts, encoder), blocks)
    with progress("Encoding", n_texts) as bar:
        for shard in shards:
            parts = []
            for part in itertools.islice(encoded, math.ceil(len(shard) / size)):
                parts.append(part)
                bar.advance(len(part.vectors))
            yield EncodedTexts(np.concatenate([part.vectors for part in parts]), sum(part.truncated for part in parts))


def encode_texts(encoder: TextEncoder | TransformerEncoder, texts: Sequence[str]) -> EncodedTexts:
    """Encode, and refuse what is not one row per text."""
    vectors = np.asarray(encoder.encode(list(texts)), dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise DataError(
            f"{type(encoder).__name__}.encode gave an array of shape {vectors.shape} for {len(texts)} texts; "
            "it must return one row per text."
        )
    return EncodedTexts(vectors, getattr(encoder, "truncated", 0))
