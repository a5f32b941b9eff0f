"""Texts as token ids: tokenised once, kept flat, cut into groups of like length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

# A forward pass over about a thousand tokens fills two cores; larger groups only cost memory.
TOKENS_PER_GROUP = 1024
TEXTS_PER_CALL = 4096
# A cell of megabytes is not tokenised whole when its head already fills the model's window. The head's last word
# may be cut in two and then fall into other pieces than the whole word, WordPiece's most being a hundred: so many
# tokens behind the window are not trusted.
CHARACTERS_PER_TOKEN = 16
UNSURE_TOKENS = 128


@dataclass(frozen=True)
class TokenisedTexts:
    """Token ids of many sequences in one flat array.

    Attributes
    ----------
    ids : ndarray of int32, shape (total,)
        All token ids, one sequence after the other, special tokens included.
    offsets : ndarray of int64, shape (n_sequences + 1,)
        Sequence ``i`` is ``ids[offsets[i]:offsets[i + 1]]``.
    owner : ndarray of int64, shape (n_sequences,)
        Which text a sequence belongs to: ``arange(n)`` unless long texts were cut into chunks.
    truncated : int
        How many texts were not read to their end.
    pad_id : int
        The id that fills a row up.
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
        """Number of tokens of every sequence."""
        return np.diff(self.offsets)

    def select(self, rows: NDArray[np.int64]) -> TokenisedTexts:
        """Return some sequences on their own, in the order of ``rows``."""
        lengths = self.lengths[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        ids = self.ids[np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], lengths)]
        return TokenisedTexts(ids, offsets, self.owner[rows], self.truncated, self.pad_id)

    def padded(self, rows: NDArray[np.int64]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return ids and attention mask of ``rows``, each (len(rows), longest of them)."""
        starts, lengths = self.offsets[rows], self.lengths[rows]
        columns = np.arange(int(lengths.max()))
        inside = columns[None, :] < lengths[:, None]
        positions = np.where(inside, starts[:, None] + columns[None, :], 0)
        ids = np.where(inside, self.ids[positions], self.pad_id)
        return torch.from_numpy(ids.astype(np.int64)), torch.from_numpy(inside)


def length_groups(lengths: NDArray[np.int64], tokens: int = TOKENS_PER_GROUP) -> Iterator[NDArray[np.int64]]:
    """Yield row indices in groups of like length, longest first, about ``tokens`` tokens each.

    Longest first, so that the largest memory need comes at once and the time left is never too optimistic.

    Examples
    --------
    >>> [group.tolist() for group in length_groups(np.array([3, 9, 4, 8]), tokens=18)]
    [[1, 3], [2, 0]]
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        size = max(1, tokens // max(1, int(lengths[order[start]])))
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
        The most tokens a sequence may have, special tokens included.
    chunk : bool, default=False
        Cut a long text into several sequences instead of truncating it.

    Returns
    -------
    TokenisedTexts
        One sequence a text, or several for the long ones when ``chunk``.
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
                # A model without special tokens cannot read an empty text: one padding token stands for it.
                pieces.append([*prefix, *ids[start : min(start + room, last)], *suffix] or [pad_id])
                owner.append(row)
    lengths = np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces))
    flat = np.fromiter((i for piece in pieces for i in piece), dtype=np.int32, count=int(lengths.sum()))
    return TokenisedTexts(flat, np.concatenate([[0], np.cumsum(lengths)]), np.array(owner, np.int64), truncated, pad_id)


def _token_ids(tokenizer: Any, texts: Sequence[str], room: int, chunk: bool) -> list[list[int]]:
    """Token ids without special tokens; of a very long text only the head, if that fills the window."""
    limit = (room + UNSURE_TOKENS) * CHARACTERS_PER_TOKEN
    heads = [text if chunk or len(text) <= limit else text[:limit] for text in texts]
    ids: list[list[int]] = tokenizer(heads, add_special_tokens=False, verbose=False)["input_ids"]
    for row, (text, head) in enumerate(zip(texts, heads, strict=True)):
        if len(head) < len(text) and len(ids[row]) <= room + UNSURE_TOKENS:
            ids[row] = tokenizer([text], add_special_tokens=False, verbose=False)["input_ids"][0]
    return ids


def special_tokens(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Return the ids that the tokenizer puts before and behind a text."""
    bare = tokenizer(["a"], add_special_tokens=False)["input_ids"][0]
    full = tokenizer(["a"], add_special_tokens=True)["input_ids"][0]
    for start in range(len(full) - len(bare) + 1):
        if full[start : start + len(bare)] == bare:
            return full[:start], full[start + len(bare) :]
    return [], []
