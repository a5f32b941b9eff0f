"""A linear layer on top of a sentence encoder, into the space that some methods cluster in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from shoal.encoder.tokens import TokenisedTexts
from shoal.encoder.transformer import add_module

_FOLDER, _WEIGHTS, _PREFIX = "Dense", "model.safetensors", "linear."


class LatentEncoder(nn.Module):
    """A sentence encoder followed by a linear layer.

    Parameters
    ----------
    encoder : nn.Module
        Called with tokens and row numbers, returns vectors.
    latent : nn.Linear
        The layer.
    """

    def __init__(self, encoder: nn.Module, latent: nn.Linear) -> None:
        super().__init__()
        self.encoder = encoder
        self.latent = latent

    def forward(self, tokens: TokenisedTexts, rows: NDArray[np.int64]) -> Tensor:
        """Return the vectors of some sequences, (len(rows), latent.out_features), with gradients."""
        vectors: Tensor = self.latent(self.encoder(tokens, rows).float())
        return vectors


def save_latent(latent: nn.Linear, folder: Path) -> None:
    """Add the layer to a folder that ``TransformerEncoder.save`` wrote; ``SentenceTransformer(folder)`` applies it."""
    config = {
        "in_features": latent.in_features,
        "out_features": latent.out_features,
        "bias": True,
        "activation_function": "torch.nn.modules.linear.Identity",
    }
    add_module(folder, _FOLDER, "Dense", config)
    weights = {_PREFIX + name: value.cpu().contiguous() for name, value in latent.state_dict().items()}
    save_file(weights, folder / _FOLDER / _WEIGHTS)


def load_latent(folder: Path) -> nn.Linear:
    """Read what :func:`save_latent` wrote."""
    weights = {name.removeprefix(_PREFIX): value for name, value in load_file(folder / _FOLDER / _WEIGHTS).items()}
    n_out, n_in = weights["weight"].shape
    latent = nn.Linear(n_in, n_out)
    latent.load_state_dict(weights)
    return latent
