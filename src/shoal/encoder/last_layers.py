"""The last layers of a transformer, to be trained; the frozen layers below are computed once per corpus."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shoal.encoder.backbone import layer_stack, stack_name
from shoal.encoder.shared_work import own_groups, sum_rows_of_all
from shoal.encoder.token_states import TokenStatesEncoder, last_states
from shoal.encoder.tokens import TokenisedTexts, length_groups
from shoal.encoder.transformer import TransformerEncoder
from shoal.errors import ParameterError
from shoal.progress import progress

# States of more bytes than this go to a memory-mapped file: about a million tokens of the built-in encoder's width.
# The file is in the system's temporary folder and disappears with the object.
MEMORY_LIMIT = 1_500_000_000


class LastLayersEncoder(TokenStatesEncoder):
    """The last layers of a transformer, trained on the stored states of the frozen layers below.

    Embeddings and lower layers run once over a tokenised corpus, in evaluation mode, at the first use; a training step
    then costs only the last layers. Other sequences, such as damaged copies, run through the lower layers each time,
    without gradients. The layers are the encoder's own: training them trains the encoder.

    Parameters
    ----------
    encoder : TransformerEncoder
        The whole encoder; everything below its last layers is frozen.
    tokens : TokenisedTexts
        The sequences whose lower states are stored.
    n_layers : int
        How many of the last layers are trained.

    Raises
    ------
    ParameterError
        If the backbone has fewer layers.
    ModelError
        If its layers cannot be run one by one.
    """

    def __init__(self, encoder: TransformerEncoder, tokens: TokenisedTexts, n_layers: int) -> None:
        super().__init__()
        layers = layer_stack(encoder.model).layer
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
        # In a tuple, which nn.Module does not register: these weights are not trained, their dropout stays off.
        self._lower = (_part(encoder.model, layers[:cut]).eval(),)

    @cached_property
    def _states(self) -> NDArray[np.float32]:
        """The states of the corpus below the trained layers, one row per token; workers compute them together."""
        return _lower_states(self._lower[0], self._tokens)

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self._lower[0].config.hidden_size)

    @property
    def words(self) -> Tensor:
        """The word embeddings, one row per token of the vocabulary; frozen."""
        embeddings: Tensor = self._lower[0].get_input_embeddings().weight
        return embeddings

    def states(
        self, tokens: TokenisedTexts, rows: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], Tensor, Tensor]]:
        """Yield, for groups of similar length, their places in ``rows``, token states and mask."""
        device = next(self.upper.parameters()).device
        stored = self._states if tokens is self._tokens else None
        for group in own_groups(length_groups(tokens.lengths[rows])):
            ids, mask = (part.to(device) for part in tokens.padded(rows[group]))
            if stored is not None:
                below = torch.from_numpy(stored[tokens.positions(rows[group])[0]]).to(device)
            else:
                with torch.no_grad():
                    below = last_states(self._lower[0], mask, input_ids=ids)
            yield group, last_states(self.upper, mask, inputs_embeds=below), mask


class _AlreadyEmbedded(nn.Module):
    """Takes the place of a model's embeddings and returns its input."""

    def forward(self, input_ids: Any = None, inputs_embeds: Any = None, *_: Any, **named: Any) -> Tensor:
        """Return the states; DistilBERT passes them by position, the others by name."""
        states: Tensor = inputs_embeds
        return states


def _part(model: Any, layers: nn.ModuleList, embeddings: nn.Module | None = None) -> Any:
    """Return the model with only some of its layers, sharing their weights.

    The model's own ``forward`` still makes the masks and position biases.
    """
    part, stack = _shallow(model), _shallow(layer_stack(model))
    stack.layer = layers
    setattr(part, stack_name(model), stack)
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


def _lower_states(lower: Any, tokens: TokenisedTexts) -> NDArray[np.float32]:
    """Run the lower layers over every sequence, in float32; return one state per token, (total tokens, width)."""
    states = _zeros((int(tokens.offsets[-1]), int(lower.config.hidden_size)))
    exact = torch.autocast(lower.device.type, enabled=False)
    # A resumed run computes them at another moment than the run before: no random number may depend on that.
    with torch.inference_mode(), exact, torch.random.fork_rng(), progress("Frozen layers", len(tokens)) as bar:
        for group in own_groups(length_groups(tokens.lengths)):
            ids, mask = (part.to(lower.device) for part in tokens.padded(group))
            positions, real = tokens.positions(group)
            states[positions[real]] = last_states(lower, mask, input_ids=ids)[mask].float().cpu().numpy()
            bar.advance(len(group))
        sum_rows_of_all(states)
    return states


def _zeros(shape: tuple[int, int]) -> NDArray[np.float32]:
    """Return an array in memory, or in a temporary file if it is larger than ``MEMORY_LIMIT``."""
    if 4 * shape[0] * shape[1] <= MEMORY_LIMIT:
        return np.zeros(shape, dtype=np.float32)
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype=np.float32, mode="w+", shape=shape)
