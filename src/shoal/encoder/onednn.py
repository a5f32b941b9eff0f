"""Linear layers in float32 by oneDNN, on processors for which torch's default library is slow.

Torch multiplies float32 matrices with MKL, which uses AVX-512 only on processors of its own maker; oneDNN, which comes
with torch too, uses it on all. There a text takes about 0.6 of the time; its vector is the same to about 1e-6. Training
is not affected: it computes in bfloat16 on these processors.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from shoal.environment import cpu_fact


class OneDnnLinear(nn.Linear):
    """A linear layer that calls oneDNN where no gradient is needed; elsewhere it is the plain layer.

    Examples
    --------
    >>> layer = nn.Linear(8, 4)
    >>> x = torch.randn(2, 3, 8)
    >>> plain = layer(x)
    >>> layer.__class__ = OneDnnLinear
    >>> with torch.inference_mode():
    ...     bool(torch.allclose(layer(x), plain, atol=1e-6))
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the product with the weights, and the bias added."""
        exact = input.dtype == self.weight.dtype == torch.float32 and not torch.is_autocast_enabled("cpu")
        if torch.is_grad_enabled() or not exact or input.device.type != "cpu" or not input.numel():
            return super().forward(input)
        product: Tensor = torch.ops.mkldnn._linear_pointwise(input, self.weight, self.bias, "none", [], "")
        return product


def with_fast_layers(model: Any) -> Any:
    """Return the model; its linear layers use oneDNN from now on, if that is faster here."""
    if onednn_is_faster():
        for part in model.modules():
            if type(part) is nn.Linear:  # the weights and their names stay as they are
                part.__class__ = OneDnnLinear
    return model


@cache
def onednn_is_faster() -> bool:
    """Tell whether float32 matrices are multiplied faster by oneDNN than by torch's default library."""
    return (
        torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
        and torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
        and torch.backends.cpu.get_cpu_capability() == "AVX512"
        and cpu_fact("vendor_id") == "AuthenticAMD"
    )
