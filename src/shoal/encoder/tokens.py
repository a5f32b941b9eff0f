"""Texts as token ids: tokenised once, in one flat array, batched in groups of similar length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

# What may be done with a text that is longer than the encoder reads, and with the states of its tokens.
AUTO, TRUNCATE, CHUNK = LONG_TEXTS = ("auto", "truncate", "chunk")
MEAN, CLS = POOLING_KINDS = ("mean", "cls")
PRECISIONS = ("float32", "int8")
# A forward pass over about a thousand tokens fills two cores; larger groups only cost memory.
TOKENS_PER_GROUP = 1024
TEXTS_PER_CALL = 4096
# Of a text of megabytes only the beginning is tokenised, if that fills the model's window. It may end inside a word
# and so give other pieces than the whole word, in WordPiece at most a hundred: that many tokens are not trusted.
CHARACTERS_PER_TOKEN = 16
UNTRUSTED_TOKENS = 128


@dataclass(frozen=True)
class TokenisedTexts:
    """Token ids of many sequences in one flat array.

    Attributes
    ----------
    ids : ndarray of int32, shape (total,)
        The token ids of all sequences, one after the other, special tokens included.
    offsets : ndarray of int64, shape (n_sequences + 1,)
        Sequence ``i`` is ``ids[offsets[i]:offsets[i + 1]]``.
    owner : ndarray of int64, shape (n_sequences,)
        The text of each sequence: ``arange(n)`` unless long texts were split into chunks.
    truncated : int
        How many texts were cut off.
    pad_id : int
        The id of the padding.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    owner: NDArray[np.int64]
    truncated: int
    pad_id: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of tokens in each sequence."""
        return np.diff(self.offsets)

    def select(self, rows: NDArray[np.int64]) -> TokenisedTexts:
        """Return some of the sequences, in the order of ``rows``."""
        lengths = self.lengths[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        ids = self.ids[np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], lengths)]
        return TokenisedTexts(ids, offsets, self.owner[rows], self.truncated, self.pad_id)

    def distinct(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first of each set of equal sequences, and for every sequence its place among them."""
        places: dict[bytes, int] = {}
        first: list[int] = []
        copies = np.empty(len(self), dtype=np.int64)
        for i, (begin, end) in enumerate(pairwise(self.offsets)):
            copies[i] = place = places.setdefault(self.ids[begin:end].tobytes(), len(places))
            if place == len(first):
                first.append(i)
        return np.array(first, dtype=np.int64), copies

    def positions(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return where the tokens of ``rows`` are in ``ids``, and which are real; each (len(rows), longest of them)."""
        columns = np.arange(int(self.lengths[rows].max()))
        real = columns < self.lengths[rows][:, None]
        return np.where(real, self.offsets[rows][:, None] + columns, 0), real

    def padded(self, rows: NDArray[np.int64]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return ids and attention mask of ``rows``, each (len(rows), longest of them)."""
        import torch

        positions, real = self.positions(rows)
        ids = np.where(real, self.ids[positions], self.pad_id)
        return torch.from_numpy(ids.astype(np.int64)), torch.from_numpy(real)


def length_groups(
    lengths: NDArray[np.int64], tokens: int = TOKENS_PER_GROUP, *, equal: bool = False
) -> Iterator[NDArray[np.int64]]:
    """Yield row indices in groups of similar length, or of ``equal`` length, longest first, up to ``tokens`` tokens.

    Longest first: memory peaks at once, and estimates of the time left are not too low.

    Examples
    --------
    >>> [group.tolist() for group in length_groups(np.array([3, 9, 4, 8]), tokens=18)]
    [[1, 3], [2, 0]]
    >>> [group.tolist() for group in length_groups(np.array([3, 9, 9, 8]), tokens=18, equal=True)]
    [[1, 2], [3], [0]]
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        length = int(lengths[order[start]])
        size = max(1, tokens // max(1, length))
        if equal:
            size = min(size, int(np.searchsorted(-lengths[order], -length, side="right")) - start)
        yield order[start : start + size]
        start += size


def tokenise(tokenizer: Any, texts: Sequence[str], max_length: int, *, chunk: bool = False) -> TokenisedTexts:
    """Tokenise ``texts`` once.

    Parameters
    ----------
    tokenizer : transformers tokenizer
        Any tokenizer that can be called on a list of strings.
    texts : sequence of str
        The texts.
    max_length : int
        The maximum number of tokens in a sequence, special tokens included.
    chunk : bool, default=False
        Split a long text into several sequences instead of truncating it.

    Returns
    -------
    TokenisedTexts
        One sequence per text; with ``chunk`` several for a long one.
    """
    prefix, suffix = special_tokens(tokenizer)
    pad_id = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
    room = max_length - len(prefix) - len(suffix)
    pieces: list[list[int]] = []
    owner: list[int] = []
    truncated = 0
    for first in range(0, len(texts), TEXTS_PER_CALL):
        for row, ids in enumerate(_token_ids(tokenizer, texts[first : first + TEXTS_PER_CALL], room, chunk), first):
            truncated += len(ids) > room and not chunk
            last = len(ids) if chunk else min(len(ids), room)
            for start in range(0, max(last, 1), room):
                # Without special tokens an empty text would have no token, which models refuse: it gets padding.
                pieces.append([*prefix, *ids[start : min(start + room, last)], *suffix] or [pad_id])
                owner.append(row)
    lengths = np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces))
    flat = np.fromiter((i for piece in pieces for i in piece), dtype=np.int32, count=int(lengths.sum()))
    return TokenisedTexts(flat, np.concatenate([[0], np.cumsum(lengths)]), np.array(owner, np.int64), truncated, pad_id)


def _token_ids(tokenizer: Any, texts: Sequence[str], room: int, chunk: bool) -> list[list[int]]:
    """Return ids without special tokens; of a very long text only those of its beginning, if they fill the window."""
    limit = (room + UNTRUSTED_TOKENS) * CHARACTERS_PER_TOKEN
    heads = [text if chunk or len(text) <= limit else text[:limit] for text in texts]
    ids: list[list[int]] = tokenizer(heads, add_special_tokens=False, verbose=False)["input_ids"]
    for row, (text, head) in enumerate(zip(texts, heads, strict=True)):
        if len(head) < len(text) and len(ids[row]) <= room + UNTRUSTED_TOKENS:
            ids[row] = tokenizer([text], add_special_tokens=False, verbose=False)["input_ids"][0]
    return ids


def evenly_spaced(texts: Sequence[str], n_texts: int) -> Sequence[str]:
    """Return at most so many of the texts, evenly spaced in the order of their lengths: the same in any order.

    Examples
    --------
    >>> evenly_spaced(["aaa", "a", "aa", "aaaa"], 2)
    ['a', 'aaa']
    """
    if len(texts) <= n_texts:
        return texts
    ordered = sorted(texts, key=lambda text: (len(text), text))
    return [ordered[i * len(ordered) // n_texts] for i in range(n_texts)]


def special_tokens(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Return the ids that the tokenizer puts before and after a text."""
    bare = tokenizer(["a"], add_special_tokens=False)["input_ids"][0]
    full = tokenizer(["a"], add_special_tokens=True)["input_ids"][0]
    for start in range(len(full) - len(bare) + 1):
        if full[start : start + len(bare)] == bare:
            return full[:start], full[start + len(bare) :]
    return [], []
