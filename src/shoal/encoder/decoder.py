"""A decoder that knows of a text only its vector (TSDAE; ClusterBERT, section 3.2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shoal.encoder.frozen_layers import SUPPORTED
from shoal.encoder.tokens import TokenisedTexts, length_groups
from shoal.encoder.transformer import TransformerEncoder
from shoal.errors import ModelError, ParameterError
from shoal.functional.reconstruction import token_nll

VOCABULARIES = ("full", "corpus")


def layers_of(model: Any) -> Any:
    """Return the part of a backbone that has its layers.

    Raises
    ------
    ModelError
        If they cannot be used to decode.
    """
    kind = getattr(model.config, "model_type", "unknown")
    if kind not in SUPPORTED:
        raise ModelError(
            f"a {kind!r} backbone cannot decode with its own layers; pass a backbone of the kinds "
            f"{', '.join(SUPPORTED)}."
        )
    return model.transformer if kind == "distilbert" else model.encoder


class SentenceDecoder(nn.Module):
    """Asks a text back from its vector z, token after token, with the text so far at hand (teacher forcing).

    Embeddings, layers and output matrix are the encoder's own (tied weights); new are the attention to z and the
    dense layer before the output matrix, as in BERT's language-model head. The attention has one key, z, so its
    weights are 1 whatever the query: what is left of it is value and output projection, with the residual and its
    layer norm. Queries and keys would never learn anything and are left out.

    Parameters
    ----------
    encoder : TransformerEncoder
        Whose weights are tied.
    n_layers : int, optional
        How many of the encoder's last layers decode; by default all.
    vocabulary : ndarray of int, optional
        The token ids that may occur, ascending; by default all of the tokenizer's. The softmax over these alone is
        the full one on condition that the token is among them: exact, no sampling. The loss is smaller by what the
        full softmax wastes on tokens that never occur, and those tokens' embeddings are never pushed away.

    Raises
    ------
    ModelError
        If the encoder is of a family whose layers cannot be tied.
    ParameterError
        If it has fewer layers.

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
        self, encoder: TransformerEncoder, *, n_layers: int | None = None, vocabulary: NDArray[np.int64] | None = None
    ) -> None:
        super().__init__()
        model = encoder.model
        stack = layers_of(model)
        self._kind = model.config.model_type
        n_layers = len(stack.layer) if n_layers is None else n_layers
        if not 1 <= n_layers <= len(stack.layer):
            raise ParameterError(
                f"decoder_layers={n_layers} but this backbone has {len(stack.layer)} layers; "
                f"pass 1 to {len(stack.layer)}, or None for all."
            )
        # In tuples, which do not register: these weights are the encoder's and belong to its state alone.
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

    def forward(self, z: Tensor, tokens: TokenisedTexts, rows: NDArray[np.int64]) -> Tensor:
        """Return what each text costs to write down from its vector, in nats a token, (len(rows),).

        Parameters
        ----------
        z : Tensor of shape (len(rows), dimension)
            The vectors.
        tokens : TokenisedTexts
            The undamaged texts.
        rows : ndarray of int64, shape (m,)
            Which of them.
        """
        # Looked up once: every group would otherwise add a gradient as large as the whole vocabulary.
        words = nn.functional.embedding(self.used, self._tied[0].get_input_embeddings().weight)
        groups = list(length_groups(tokens.lengths[rows]))
        losses = [self._group_nll(z[torch.from_numpy(group)], tokens, rows[group], words) for group in groups]
        order = torch.from_numpy(np.argsort(np.concatenate(groups), kind="stable"))
        return torch.cat(losses)[order.to(z.device)]

    def _group_nll(self, z: Tensor, tokens: TokenisedTexts, rows: NDArray[np.int64], words: Tensor) -> Tensor:
        """Decode one group of texts, padded among themselves."""
        ids, real = (part.to(z.device) for part in tokens.padded(rows))
        ids = self.places[ids]
        states = self._states(z, nn.functional.embedding(ids[:, :-1], words))
        hidden = self.norm(nn.functional.gelu(self.dense(states)))
        return token_nll(nn.functional.linear(hidden, words, self.bias).float(), ids[:, 1:], real[:, 1:])

    def _states(self, z: Tensor, words: Tensor) -> Tensor:
        """Return the states after each of the places, which see the places before them, and z."""
        model, stack = self._tied
        states: Tensor = model.embeddings(input_ids=None, inputs_embeds=words)
        length = words.shape[1]
        # Padding stands behind the text, where no real token looks.
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
    """Attention whose only key and value is z: its value for everybody."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, states: Tensor, z: Tensor) -> Tensor:
        """Add what z says to the states, (b, t, d)."""
        attended: Tensor = self.norm(states + self.output(self.value(z))[:, None])
        return attended


def corpus_vocabulary(tokens: TokenisedTexts) -> NDArray[np.int64]:
    """Return the token ids that occur in ``tokens``, and the padding, ascending."""
    return np.union1d(tokens.ids, [tokens.pad_id]).astype(np.int64)
