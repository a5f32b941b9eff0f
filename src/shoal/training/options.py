"""How to train: every option of the loop, checked once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.errors import ParameterError
from shoal.parameters import (
    FLAG,
    Limit,
    check_parameters,
    declared,
    number,
    one_of,
    optional,
    parameter,
    parameters_of,
    whole,
)

if TYPE_CHECKING:
    import torch
    from torch import nn

OPTIMIZERS = {"adam": "Adam", "adamw": "AdamW"}  # by torch's name
ALL_LAYERS = "all"
_LAYERS = Limit(
    lambda value: value == ALL_LAYERS or whole().allows(value), "but it must be 'all' or a whole number >= 1."
)


@declared
class TrainingOptions:
    """How to train.

    Examples
    --------
    >>> TrainingOptions(epochs=2, schedule="linear").rate_factor(5, n_steps=10)
    0.5
    """

    batch_size: int = parameter(400, "Texts per batch.", whole())
    epochs: int = parameter(1, "Passes over the corpus, unless ``max_steps`` ends them earlier.", whole())
    max_steps: int | None = parameter(None, "The maximum number of steps in a stage.", optional(whole()))
    learning_rate: float = parameter(5e-6, "Learning rate of the encoder.", number(least=0))
    head_learning_rate: float = parameter(5e-4, "Learning rate of everything else that is trained.", number(least=0))
    optimizer: str = parameter("adam", "The optimiser.", one_of(*OPTIMIZERS))
    weight_decay: float = parameter(0.0, "Weight decay: coupled for Adam, decoupled for AdamW.", number(least=0))
    schedule: str = parameter(
        "constant",
        "Learning rates after the warm-up: constant, or falling to zero by the end of the stage.",
        one_of("constant", "linear", "cosine"),
    )
    warmup_steps: int = parameter(0, "Steps over which the learning rates rise from zero.", whole(0))
    clip_norm: float | None = parameter(None, "The largest norm of the whole gradient.", optional(number(above=0)))
    accumulate: int = parameter(1, "Batches whose gradients are averaged before a step.", whole())
    trainable_layers: str | int = parameter(
        ALL_LAYERS,
        "Train all layers, or only this many of the last ones; the rest are computed once and cached.",
        _LAYERS,
    )
    evaluate_every: int | None = parameter(
        None, "Steps between two evaluations of the whole corpus; by default once per epoch.", optional(whole())
    )
    guard: bool = parameter(
        True,
        "Whether an end of training that label-free signs judge worse than an earlier state is undone. Off, as in the "
        "papers, only vectors that are not finite are.",
        FLAG,
    )
    checkpoint_every: int = parameter(25, "Steps between two checkpoints.", whole())
    device: str = parameter(
        "auto", "Where to compute; auto takes the fastest device available.", one_of("auto", "cpu", "cuda", "mps")
    )
    precision: str = parameter(
        "auto",
        "bfloat16 is mixed precision, for CUDA devices and CPUs with instructions for it (AVX512-BF16 or AMX); auto "
        "uses it wherever they are. Vectors and clusters are computed in float32 in any case.",
        one_of("auto", "float32", "bfloat16"),
    )
    seed: int = parameter(0, "Seed of everything random.", whole(0))

    def __post_init__(self) -> None:
        check_parameters(self)

    def rate_factor(self, step: int, n_steps: int) -> float:
        """Return the factor on the learning rates at ``step`` (from 0) of ``n_steps``."""
        if step < self.warmup_steps:
            return (step + 1) / (self.warmup_steps + 1)
        gone = (step - self.warmup_steps) / max(1, n_steps - self.warmup_steps)
        if self.schedule == "linear":
            return max(0.0, 1 - gone)
        return 0.5 * (1 + math.cos(math.pi * min(1.0, gone))) if self.schedule == "cosine" else 1.0

    def resolve_device(self) -> torch.device:
        """Return the device, after checking that it is available."""
        import torch

        there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
        if self.device == "auto":
            return torch.device(next(name for name in ("cuda", "mps", "cpu") if there[name]))
        if not there[self.device]:
            raise ParameterError(f"device={self.device!r} but this machine has none; pass device='auto' or 'cpu'.")
        return torch.device(self.device)

    def mixed_precision(self, device: torch.device) -> bool:
        """Tell whether to compute in bfloat16 on ``device``, after checking that it is supported."""
        import torch

        able = (device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)) or (
            device.type == "cpu" and cpu_has_bfloat16()
        )
        if self.precision == "bfloat16" and not able:
            raise ParameterError(
                f"precision='bfloat16' but the device {device.type!r} has no bfloat16 arithmetic; "
                "pass precision='auto' or 'float32'."
            )
        return able and self.precision != "float32"

    def make_optimizer(self, module: nn.Module, backbone: nn.Module, device: torch.device) -> torch.optim.Optimizer:
        """Return an optimiser with two groups: ``backbone``, and everything else trained in ``module``."""
        import torch

        inside = {id(parameter) for parameter in backbone.parameters()}
        trained = [parameter for parameter in module.parameters() if parameter.requires_grad]
        optimizer: type[torch.optim.Adam] = getattr(torch.optim, OPTIMIZERS[self.optimizer])
        return optimizer(
            [
                {"params": [parameter for parameter in trained if id(parameter) in inside]},
                {"params": [parameter for parameter in trained if id(parameter) not in inside]},
            ],
            weight_decay=self.weight_decay,
            fused=device.type in ("cpu", "cuda"),  # one pass over the weights instead of a dozen
        )


def cpu_has_bfloat16() -> bool:
    """Tell whether the CPU multiplies bfloat16 matrices itself; emulated they would be slower than float32."""
    import torch

    checks = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")  # torch before 2.6 has neither
    return any(getattr(torch.cpu, check, lambda: False)() for check in checks)


def names_a_logger(name: object) -> bool:
    """Tell whether :func:`make_logger` knows a name."""
    plain = isinstance(name, str) and name.isprintable()
    return plain and (name == "mlflow" or str(name).partition(":")[0] == "tensorboard")


# The same declarations, for methods that pass their own parameters on to the trainer.
TRAINING: Mapping[str, Any] = parameters_of(TrainingOptions)
