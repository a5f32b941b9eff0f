"""Masking some tokens of a text, and the states that a transformer has at the masks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shoal.encoder.shared_work import in_order
from shoal.encoder.token_states import TokenStatesEncoder
from shoal.encoder.tokens import TokenisedTexts
from shoal.errors import ModelError


@dataclass(frozen=True)
class Masking:
    """Replaces a random share of each text's tokens by the mask token.

    Every chosen token becomes the mask, as in MLM + DEC (section 3.2); BERT's pre-training leaves one in ten of them
    unchanged and replaces another one in ten by a random token. Special tokens, [UNK] included, are never chosen.

    Attributes
    ----------
    share : float
        Share of a text's tokens, special ones not counted; at least one, if the text has any.
    mask_id : int
        The mask token.
    special_ids : ndarray of int
        Tokens that are never chosen.
    """

    share: float
    mask_id: int
    special_ids: NDArray[np.int64]

    @classmethod
    def of(cls, tokenizer: Any, share: float) -> Masking:
        """Build the masking with a tokenizer's mask token.

        Raises
        ------
        ModelError
            If the tokenizer has none.
        """
        if tokenizer.mask_token_id is None:
            raise ModelError(
                "this backbone's tokenizer has no mask token; pass a backbone that was trained as a masked language "
                "model (BERT, RoBERTa, MPNet, …), or masked_lm=0 with mask_share=0."
            )
        return cls(share, int(tokenizer.mask_token_id), np.array(tokenizer.all_special_ids))

    def __call__(self, tokens: TokenisedTexts) -> TokenisedTexts:
        """Return the sequences with masks, drawn from torch's global generator at every call.

        Examples
        --------
        >>> tokens = TokenisedTexts(np.array([1, 7, 8, 2], dtype=np.int32), np.array([0, 4]), np.arange(1), 0, 0)
        >>> Masking(1.0, mask_id=9, special_ids=np.array([1, 2]))(tokens).ids.tolist()
        [1, 9, 9, 2]
        """
        free = ~np.isin(tokens.ids, self.special_ids)
        sequence = np.repeat(np.arange(len(tokens)), tokens.lengths)
        n_free = np.bincount(sequence[free], minlength=len(tokens))
        n_masks = np.minimum(n_free, np.maximum(1, np.rint(self.share * n_free).astype(np.int64)))
        # Each sequence in random order, special tokens last: its first n_masks tokens are masked.
        drawn = np.where(free, torch.rand(len(free)).numpy(), 2.0)
        order = np.lexsort((drawn, sequence))
        rank = np.arange(len(order)) - tokens.offsets[sequence[order]]
        chosen = order[rank < n_masks[sequence[order]]]
        ids = tokens.ids.copy()
        ids[chosen] = self.mask_id
        return replace(tokens, ids=ids)


@dataclass(frozen=True)
class MaskedOutput:
    """The result of one pass over masked texts.

    Attributes
    ----------
    vectors : Tensor of shape (n, d)
        The pooled vectors of the texts.
    states : Tensor of shape (n_masks, d)
        The states at the masks; if the work is shared, at those of the groups that this worker has read.
    answers : Tensor of int64, shape (n_masks,)
        The tokens behind the masks.
    """

    vectors: Tensor
    states: Tensor
    answers: Tensor


def read_masked(encoder: TokenStatesEncoder, texts: TokenisedTexts, masked: TokenisedTexts) -> MaskedOutput:
    """Run ``masked`` through the encoder once; ``texts`` are the same sequences without masks."""
    device = encoder.words.device
    groups, vectors = [], []
    states = [torch.zeros((0, encoder.dimension), device=device)]
    answers = [torch.zeros(0, dtype=torch.long, device=device)]
    for group, token_states, mask in encoder.states(masked, np.arange(len(masked))):
        original, seen = (tokens.padded(group)[0].to(token_states.device) for tokens in (texts, masked))
        groups.append(group)
        vectors.append(encoder.pool(token_states, mask))
        states.append(token_states[original != seen])
        answers.append(original[original != seen])
    pooled = in_order(groups, vectors, (len(masked), encoder.dimension), device)
    return MaskedOutput(pooled, torch.cat(states), torch.cat(answers))
