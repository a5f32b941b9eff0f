"""A decoder that reconstructs a text from its vector alone (TSDAE; ClusterBERT, section 3.2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shoal.encoder.backbone import layer_stack
from shoal.encoder.masked_head import MaskedHead
from shoal.encoder.shared_work import in_order, own_groups
from shoal.encoder.tokens import TokenisedTexts, length_groups
from shoal.encoder.transformer import TransformerEncoder
from shoal.errors import ParameterError
from shoal.functional.reconstruction import token_nll

VOCABULARIES = ("full", "corpus")


class SentenceDecoder(nn.Module):
    """Predicts a text from its vector z, token by token, given the true tokens so far (teacher forcing).

    Embeddings, layers and output matrix are the encoder's own (tied weights). New are the attention to z and, unless
    the checkpoint has a language-model head, the dense layer before the output matrix, as in BERT's. The attention has
    a single key, z, so its weight is 1 whatever the query: queries and keys would never learn anything and are omitted,
    which leaves the value and output projections, the residual connection and its layer norm.

    Parameters
    ----------
    encoder : TransformerEncoder
        The encoder whose weights are shared.
    n_layers : int, optional
        How many of the encoder's last layers the decoder uses; all by default.
    vocabulary : ndarray of int, optional
        The token ids that may occur, ascending; all of the tokenizer's by default. The softmax over these is the full
        softmax given that the token is one of them: exact, no sampling. The loss is lower by the probability that the
        full softmax gives to tokens that never occur, and the embeddings of those tokens get no gradient.

    head : MaskedHead, optional
        The checkpoint's own language-model head: its dense layer, norm and bias are where training starts.

    Raises
    ------
    ModelError
        If the encoder's layers cannot be run one by one.
    ParameterError
        If the encoder has fewer layers.

    Examples
    --------
    >>> encoder = TransformerEncoder.load("builtin")
    >>> tokens = encoder.tokenise(["a small fish", "a large whale"])
    >>> rows = np.arange(2)
    >>> SentenceDecoder(encoder, n_layers=1)(encoder(tokens, rows), tokens, rows).shape
    torch.Size([2])
    """

    used: Tensor
    places: Tensor

    def __init__(
        self,
        encoder: TransformerEncoder,
        *,
        n_layers: int | None = None,
        vocabulary: NDArray[np.int64] | None = None,
        head: MaskedHead | None = None,
    ) -> None:
        super().__init__()
        model = encoder.model
        stack = layer_stack(model)
        self._kind = model.config.model_type
        n_layers = len(stack.layer) if n_layers is None else n_layers
        if not 1 <= n_layers <= len(stack.layer):
            raise ParameterError(
                f"decoder_layers={n_layers} but this backbone has {len(stack.layer)} layers; "
                f"pass 1 to {len(stack.layer)}, or None for all."
            )
        # In tuples, which nn.Module does not register: these weights belong to the encoder's state alone.
        self._tied: tuple[Any, Any] = (model, stack)
        self._layers = tuple(stack.layer[len(stack.layer) - n_layers :])
        width = encoder.dimension
        known = torch.arange(model.get_input_embeddings().num_embeddings)
        used = known if vocabulary is None else torch.from_numpy(vocabulary)
        places = torch.zeros_like(known)
        places[used] = torch.arange(len(used))
        self.register_buffer("used", used, persistent=False)
        self.register_buffer("places", places, persistent=False)
        self.attend = nn.ModuleList(_AttentionToOne(width) for _ in range(n_layers))
        self.dense = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.bias = nn.Parameter(torch.zeros(len(used)))
        spread = getattr(model.config, "initializer_range", 0.02)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=spread)
                nn.init.zeros_(module.bias)
        if head is not None:
            known_dense, _, known_norm = head.transform
            self.dense.load_state_dict(known_dense.state_dict())
            self.norm.load_state_dict(known_norm.state_dict())
            with torch.no_grad():
                self.bias.copy_(head.bias[used])

    def forward(self, z: Tensor, tokens: TokenisedTexts, rows: NDArray[np.int64]) -> Tensor:
        """Return the negative log-likelihood of each text given its vector, in nats per token, (len(rows),).

        Parameters
        ----------
        z : Tensor of shape (len(rows), dimension)
            The vectors.
        tokens : TokenisedTexts
            The undamaged texts.
        rows : ndarray of int64, shape (m,)
            Which of them.
        """
        # One look-up for all groups: each would otherwise add a gradient as large as the whole vocabulary.
        words = nn.functional.embedding(self.used, self._tied[0].get_input_embeddings().weight)
        groups, losses = [], []
        for group in own_groups(length_groups(tokens.lengths[rows])):
            groups.append(group)
            losses.append(self._group_nll(z[torch.from_numpy(group)], tokens, rows[group], words))
        return in_order(groups, losses, (len(rows),), z.device, source=z)

    def _group_nll(self, z: Tensor, tokens: TokenisedTexts, rows: NDArray[np.int64], words: Tensor) -> Tensor:
        """Decode one group of texts."""
        ids, real = (part.to(z.device) for part in tokens.padded(rows))
        ids = self.places[ids]
        states = self._states(z, nn.functional.embedding(ids[:, :-1], words))
        hidden = self.norm(nn.functional.gelu(self.dense(states)))
        return token_nll(nn.functional.linear(hidden, words, self.bias).float(), ids[:, 1:], real[:, 1:])

    def _states(self, z: Tensor, words: Tensor) -> Tensor:
        """Return the states at each position, which sees the positions before it, and z."""
        model, stack = self._tied
        states: Tensor = model.embeddings(input_ids=None, inputs_embeds=words)
        length = words.shape[1]
        # Padding comes after the text, where causal attention does not look.
        mask = torch.full((length, length), torch.finfo(words.dtype).min, device=z.device).triu(1)[None, None]
        if self._kind == "mpnet":
            mask = mask + stack.compute_position_bias(states)
        for layer, attend in zip(self._layers, self.attend, strict=True):
            if self._kind == "distilbert":
                states = layer.sa_layer_norm(layer.attention(states, attention_mask=mask)[0] + states)
                states = attend(states, z)
                states = layer.output_layer_norm(layer.ffn(states) + states)
            else:
                states = attend(layer.attention(states, mask)[0], z)
                states = layer.output(layer.intermediate(states), states)
        return states


class _AttentionToOne(nn.Module):
    """Attention with z as its only key and value: every position gets the same."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, states: Tensor, z: Tensor) -> Tensor:
        """Add the value of z to the states, (b, t, d)."""
        attended: Tensor = self.norm(states + self.output(self.value(z))[:, None])
        return attended


def corpus_vocabulary(tokens: TokenisedTexts) -> NDArray[np.int64]:
    """Return the ids that occur in ``tokens``, and that of the padding, ascending."""
    return np.union1d(tokens.ids, [tokens.pad_id]).astype(np.int64)
