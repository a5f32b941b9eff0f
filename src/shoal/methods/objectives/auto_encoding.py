"""Pre-training of an auto-encoder of vectors: as a whole, or layer by layer (DEC, section 3.3)."""

from __future__ import annotations

from typing import cast

from torch import Tensor, nn
from torch.nn.functional import dropout, mse_loss

from shoal.encoder.auto_encoder import AutoEncoder
from shoal.training import Objective, VectorBatch


class Reconstruction(Objective):
    """Denoising: reconstruct the vectors from the codes of noisy copies.

    Parameters
    ----------
    auto_encoder : AutoEncoder
        Both halves are trained.
    noise : float
        Share of the values set to zero.
    """

    def __init__(self, auto_encoder: AutoEncoder, noise: float) -> None:
        super().__init__(auto_encoder.encoder)
        self.decoder = auto_encoder.decoder
        self.noise = noise

    def forward(self, batch: VectorBatch) -> dict[str, Tensor]:
        """Return the mean squared error."""
        z = self.encoder(dropout(batch.vectors, self.noise, self.training))
        return {"reconstruction": mse_loss(self.decoder(z), batch.vectors)}


class LayerReconstruction(Reconstruction):
    """Greedy pre-training of one layer: reconstruct its input from its output (DEC, section 3.3).

    Parameters
    ----------
    auto_encoder : AutoEncoder
        One layer of each half is trained.
    noise : float
        Share of the values set to zero, before and after the layer.
    layer : int
        Index of the layer; 0 is the encoder's first.
    """

    def __init__(self, auto_encoder: AutoEncoder, noise: float, layer: int) -> None:
        super().__init__(auto_encoder, noise)
        self.layer = layer

    def forward(self, batch: VectorBatch) -> dict[str, Tensor]:
        """Return the mean squared error."""
        encoder = cast(nn.Sequential, self.encoder)
        down = 2 * self.layer  # there is a ReLU between two layers
        up = len(encoder) - 1 - down
        x = encoder[:down](batch.vectors).detach()
        h = encoder[down : down + 2](dropout(x, self.noise, self.training))
        return {"reconstruction": mse_loss(self.decoder[up : up + 2](dropout(h, self.noise, self.training)), x)}
