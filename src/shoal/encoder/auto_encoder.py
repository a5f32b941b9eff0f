"""Auto-encoders of vectors: to fewer dimensions, and back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

ROWS_PER_BLOCK = 4096
# Limits of the default width of the hidden layers. Wider ones are slow on a CPU; in narrower ones, which short vectors
# would get, too few ReLU units are ever active.
NARROWEST, WIDEST = 100, 500


class AutoEncoder(nn.Module):
    """Fully connected layers down to a code and, mirrored, up again (DEC, section 3.3).

    ReLU follows every layer but the last of each half, so that code and reconstruction may have any sign.

    Parameters
    ----------
    sizes : sequence of int
        Width of the input, of the hidden layers and of the code; (d, 500, 500, 2000, 10) in DEC.

    Attributes
    ----------
    dimension : int
        Length of the code.
    encoder, decoder : nn.Sequential
        The two halves.

    Examples
    --------
    >>> machine = AutoEncoder((8, 4, 2))
    >>> machine.encoder(torch.ones(3, 8)).shape, machine(torch.ones(3, 8)).shape
    (torch.Size([3, 2]), torch.Size([3, 8]))
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        super().__init__()
        self.dimension = sizes[-1]
        self.encoder = _layers(sizes)
        self.decoder = _layers(sizes[::-1])

    def forward(self, vectors: Tensor) -> Tensor:
        """Return the reconstruction."""
        reconstruction: Tensor = self.decoder(self.encoder(vectors))
        return reconstruction


class VectorEncoder:
    """The encoding half after training, in double precision: a row's code does not depend on the other rows.

    Parameters
    ----------
    layers : nn.Sequential
        The encoding half; moved to the CPU.
    scale : float, default=1
        The factor that vectors were multiplied by in training; it is multiplied into the first layer's weights.
    """

    def __init__(self, layers: nn.Sequential, scale: float = 1.0) -> None:
        with torch.no_grad():
            next(layers.parameters()).mul_(scale)
        self.layers = layers.eval().requires_grad_(False).cpu().double()

    def encode(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the codes, (n, dimension)."""
        with torch.inference_mode():
            codes = [
                self.layers(torch.from_numpy(vectors[first : first + ROWS_PER_BLOCK].astype(np.float64))).float()
                for first in range(0, len(vectors), ROWS_PER_BLOCK)
            ]
        found: NDArray[np.float32] = torch.cat(codes).numpy()
        return found

    def state(self) -> dict[str, NDArray[np.float32]]:
        """Return the weights, for safetensors."""
        return {name: tensor.float().numpy() for name, tensor in self.layers.state_dict().items()}

    @classmethod
    def from_state(cls, state: dict[str, NDArray[np.float32]]) -> VectorEncoder:
        """Build the encoder from :meth:`state`."""
        weights = {name: torch.from_numpy(np.array(array)) for name, array in state.items()}
        shapes = [weight.shape for weight in weights.values() if weight.ndim == 2]
        layers = _layers([shapes[0][1], *(shape[0] for shape in shapes)])
        layers.load_state_dict(weights)
        return cls(layers)


def hidden_sizes(dimension: int) -> tuple[int, ...]:
    """Return the default widths of the hidden layers: two, as wide as the vectors, from 100 to 500.

    Examples
    --------
    >>> hidden_sizes(7), hidden_sizes(384), hidden_sizes(1500)
    ((100, 100), (384, 384), (500, 500))
    """
    return (min(max(dimension, NARROWEST), WIDEST),) * 2


def unit_power_scale(vectors: NDArray[np.float32]) -> float:
    """Return the factor that makes the mean square of all values 1, as DEC scales its inputs.

    Examples
    --------
    >>> unit_power_scale(np.array([[2.0, -2.0], [2.0, 2.0]], dtype=np.float32))
    0.5
    """
    power = float(np.mean(np.square(vectors, dtype=np.float64)))
    return float(power**-0.5) if power > 0 else 1.0


def _layers(sizes: Sequence[int]) -> nn.Sequential:
    """Return linear layers with ReLU between them, Glorot-initialised as in IDEC."""
    parts: list[nn.Module] = []
    for width_in, width_out in pairwise(sizes):
        linear = nn.Linear(width_in, width_out)
        nn.init.xavier_uniform_(linear.weight)
        nn.init.zeros_(linear.bias)
        parts += [linear, nn.ReLU()]
    return nn.Sequential(*parts[:-1])
