"""A transformer whose lower layers are frozen, computed once for the corpus, and kept."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shoal.encoder.token_states import TokenStatesEncoder
from shoal.encoder.tokens import TokenisedTexts, length_groups
from shoal.encoder.transformer import TransformerEncoder
from shoal.errors import ParameterError
from shoal.progress import progress

# Activations of more bytes than this go to a file that is mapped into memory: about a million tokens of the
# built-in encoder's width. The file lies in the system's temporary folder and goes with the object.
MEMORY_LIMIT = 1_500_000_000
SUPPORTED = ("bert", "roberta", "xlm-roberta", "camembert", "distilbert", "mpnet")


class FrozenLayersEncoder(TokenStatesEncoder):
    """The last layers of a transformer, trained on the kept states of the layers below.

    Embeddings and lower layers run once, in evaluation mode, over one tokenised corpus; a step then costs only
    its last layers. Other sequences, such as damaged copies, run through the lower layers each time, without
    gradients. The layers are the encoder's own: when they have been trained, so has it.

    Parameters
    ----------
    encoder : TransformerEncoder
        The whole encoder; what is below the last layers is frozen.
    tokens : TokenisedTexts
        The sequences whose lower states are kept.
    n_layers : int
        How many of the last layers are trained.

    Raises
    ------
    ParameterError
        If the backbone has fewer layers, or its layers cannot be taken apart.
    """

    def __init__(self, encoder: TransformerEncoder, tokens: TokenisedTexts, n_layers: int) -> None:
        super().__init__()
        layers = _layers(encoder.model)
        if n_layers > len(layers):
            raise ParameterError(
                f"trainable_layers={n_layers} but this backbone has {len(layers)} layers; "
                f"pass an int <= {len(layers)}, or 'all'."
            )
        cut = len(layers) - n_layers
        for parameter in encoder.parameters():
            parameter.requires_grad_(False)
        for parameter in layers[cut:].parameters():
            parameter.requires_grad_(True)
        self.upper = _part(encoder.model, layers[cut:], embeddings=_AlreadyEmbedded())
        self.pooling = encoder.pooling
        self.normalize = encoder.normalize
        self._tokens = tokens
        # In a tuple, which does not register: nobody trains these weights or turns their dropout on.
        self._lower = (_part(encoder.model, layers[:cut]).eval(),)
        self._states = _frozen_states(encoder, self._lower[0], tokens)

    @property
    def words(self) -> Tensor:
        """The word embeddings, one row a token of the vocabulary; frozen."""
        embeddings: Tensor = self._lower[0].get_input_embeddings().weight
        return embeddings

    def states(
        self, tokens: TokenisedTexts, rows: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], Tensor, Tensor]]:
        """Yield, for groups of like length, their places in ``rows``, token states and mask."""
        device = next(self.upper.parameters()).device
        for group in length_groups(tokens.lengths[rows]):
            ids, mask = (part.to(device) for part in tokens.padded(rows[group]))
            if tokens is self._tokens:
                positions, _ = _positions(tokens, rows[group])
                below = torch.from_numpy(self._states[positions]).to(device)
            else:
                with torch.no_grad():
                    below = _run(self._lower[0], mask, input_ids=ids)
            yield group, _run(self.upper, mask, inputs_embeds=below), mask


class _AlreadyEmbedded(nn.Module):
    """Stands where a model's embeddings stand and hands on what it is given."""

    def forward(self, input_ids: Any = None, inputs_embeds: Any = None, *_: Any, **named: Any) -> Tensor:
        """Return the states; DistilBERT gives them by position, the others by name."""
        states: Tensor = inputs_embeds
        return states


def _layers(model: Any) -> nn.ModuleList:
    """Return the model's list of layers."""
    kind = getattr(model.config, "model_type", "unknown")
    if kind not in SUPPORTED:
        raise ParameterError(
            f"trainable_layers is an int but the layers of a {kind!r} backbone cannot be taken apart; pass 'all', "
            f"or a backbone of the kinds {', '.join(SUPPORTED)}."
        )
    layers: nn.ModuleList = (model.transformer if kind == "distilbert" else model.encoder).layer
    return layers


def _part(model: Any, layers: nn.ModuleList, embeddings: nn.Module | None = None) -> Any:
    """Return the model with only some of its layers, sharing their weights.

    The model's own ``forward`` then makes masks and position biases as it always does.
    """
    stack_name = "transformer" if model.config.model_type == "distilbert" else "encoder"
    part, stack = _shallow(model), _shallow(getattr(model, stack_name))
    stack.layer = layers
    setattr(part, stack_name, stack)
    if embeddings is not None:
        part.embeddings = embeddings
    if getattr(part, "pooler", None) is not None:
        part.pooler = None
    return part


def _shallow(module: nn.Module) -> Any:
    """Copy a module but not its weights."""
    twin = copy.copy(module)
    twin._modules = dict(module._modules)
    return twin


def _run(part: Any, mask: Tensor, **inputs: Tensor) -> Tensor:
    """Return a part's last states; without padding no mask is needed, and attention takes its faster way."""
    states: Tensor = part(**inputs, attention_mask=None if bool(mask.all()) else mask.long()).last_hidden_state
    return states


def _frozen_states(encoder: TransformerEncoder, lower: Any, tokens: TokenisedTexts) -> NDArray[np.float32]:
    """Run the lower layers over every sequence; return one state a token, (total tokens, width)."""
    states = _room((int(tokens.offsets[-1]), encoder.dimension))
    with torch.inference_mode(), progress("Frozen layers", len(tokens)) as bar:
        for group in length_groups(tokens.lengths):
            ids, mask = (part.to(encoder.device) for part in tokens.padded(group))
            positions, inside = _positions(tokens, group)
            states[positions[inside]] = _run(lower, mask, input_ids=ids)[mask].float().cpu().numpy()
            bar.advance(len(group))
    return states


def _positions(tokens: TokenisedTexts, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return where each token of ``rows`` lies in the flat array, and which places are not padding."""
    lengths = tokens.lengths[rows]
    columns = np.arange(int(lengths.max()))
    inside = columns[None, :] < lengths[:, None]
    return np.where(inside, tokens.offsets[rows][:, None] + columns[None, :], 0), inside


def _room(shape: tuple[int, int]) -> NDArray[np.float32]:
    """Return an array in memory, or in a file without a name if it is larger than ``MEMORY_LIMIT``."""
    if 4 * shape[0] * shape[1] <= MEMORY_LIMIT:
        return np.empty(shape, dtype=np.float32)
    with tempfile.TemporaryFile(dir=Path(tempfile.gettempdir())) as file:
        return np.memmap(file, dtype=np.float32, mode="w+", shape=shape)
