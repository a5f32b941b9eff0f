"""How to train: every knob of the loop, checked once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import nn

from shoal.errors import ParameterError

OPTIMIZERS: dict[str, type[torch.optim.Adam]] = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
SCHEDULES = ("constant", "linear", "cosine")
DEVICES = ("auto", "cpu", "cuda", "mps")
PRECISIONS = ("auto", "float32", "bfloat16")
ALL_LAYERS = "all"


@dataclass(frozen=True)
class TrainingOptions:
    """How to train.

    Parameters
    ----------
    batch_size : int, default=400
        Texts a batch.
    epochs : int, default=1
        Passes over the corpus, unless ``max_steps`` ends them before.
    max_steps : int, optional
        The most steps of a stage.
    learning_rate, head_learning_rate : float
        Of the backbone, and of everything else.
    optimizer : {"adam", "adamw"}, default="adam"
        The optimiser.
    weight_decay : float, default=0
        Its decay: coupled for Adam, decoupled for AdamW.
    schedule : {"constant", "linear", "cosine"}, default="constant"
        What the learning rates do after the warm-up: stay, or fall to zero at the stage's end.
    warmup_steps : int, default=0
        Steps over which the learning rates rise from zero.
    clip_norm : float, optional
        The largest norm of the whole gradient.
    accumulate : int, default=1
        Batches whose gradients are averaged before a step.
    evaluate_every : int, optional
        Steps between two looks at the whole corpus; by default at the end of each epoch.
    checkpoint_every : int, default=25
        Steps between two checkpoints.
    device : {"auto", "cpu", "cuda", "mps"}, default="auto"
        Where to compute; "auto" takes the fastest there is.
    precision : {"auto", "float32", "bfloat16"}, default="auto"
        "bfloat16" is mixed precision, for CUDA devices that have it; "auto" uses it exactly there.
    trainable_layers : "all" or int, default="all"
        Train everything, or only the last so many layers; what is below is then computed once and cached.
    seed : int, default=0
        Seed of everything random.

    Examples
    --------
    >>> TrainingOptions(epochs=2, schedule="linear").rate_factor(5, n_steps=10)
    0.5
    """

    batch_size: int = 400
    epochs: int = 1
    max_steps: int | None = None
    learning_rate: float = 5e-6
    head_learning_rate: float = 5e-4
    optimizer: str = "adam"
    weight_decay: float = 0.0
    schedule: str = "constant"
    warmup_steps: int = 0
    clip_norm: float | None = None
    accumulate: int = 1
    evaluate_every: int | None = None
    checkpoint_every: int = 25
    device: str = "auto"
    precision: str = "auto"
    trainable_layers: str | int = ALL_LAYERS
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("batch_size", "epochs", "accumulate", "checkpoint_every"):
            self._check_whole(name, 1)
        self._check_whole("warmup_steps", 0)
        for name in ("max_steps", "evaluate_every"):
            if getattr(self, name) is not None:
                self._check_whole(name, 1)
        if self.trainable_layers != ALL_LAYERS:
            self._check_whole("trainable_layers", 1)
        for name in ("learning_rate", "head_learning_rate", "weight_decay"):
            self._check_number(name)
        if self.clip_norm is not None:
            self._check_number("clip_norm", above_zero=True)
        for name, allowed in (
            ("optimizer", tuple(OPTIMIZERS)),
            ("schedule", SCHEDULES),
            ("device", DEVICES),
            ("precision", PRECISIONS),
        ):
            if getattr(self, name) not in allowed:
                raise ParameterError(f"{name}={getattr(self, name)!r} is unknown; pass one of {', '.join(allowed)}.")

    def _check_whole(self, name: str, least: int) -> None:
        """Refuse what is not a whole number of at least ``least``."""
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            also = "'all' or " if name == "trainable_layers" else ""
            raise ParameterError(f"{name}={value!r} but it must be {also}a whole number >= {least}.")

    def _check_number(self, name: str, above_zero: bool = False) -> None:
        """Refuse what is not a finite number >= 0, or > 0."""
        value = getattr(self, name)
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not number or value < 0 or (above_zero and value == 0):
            raise ParameterError(f"{name}={value!r} but it must be a number {'>' if above_zero else '>='} 0.")

    def rate_factor(self, step: int, n_steps: int) -> float:
        """Return what the learning rates are multiplied with at ``step`` (from 0) of ``n_steps``."""
        if step < self.warmup_steps:
            return (step + 1) / (self.warmup_steps + 1)
        gone = (step - self.warmup_steps) / max(1, n_steps - self.warmup_steps)
        if self.schedule == "linear":
            return max(0.0, 1 - gone)
        return 0.5 * (1 + math.cos(math.pi * min(1.0, gone))) if self.schedule == "cosine" else 1.0

    def resolve_device(self) -> torch.device:
        """Return the device, after checking that it is there."""
        there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
        if self.device == "auto":
            return torch.device(next(name for name in ("cuda", "mps", "cpu") if there[name]))
        if not there[self.device]:
            raise ParameterError(f"device={self.device!r} but this machine has none; pass device='auto' or 'cpu'.")
        return torch.device(self.device)

    def mixed_precision(self, device: torch.device) -> bool:
        """Tell whether to compute in bfloat16 on ``device``, after checking that it can."""
        able = device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
        if self.precision == "bfloat16" and not able:
            raise ParameterError(
                f"precision='bfloat16' but the device {device.type!r} has no bfloat16 arithmetic; "
                "pass precision='auto' or 'float32'."
            )
        return able and self.precision != "float32"

    def make_optimizer(self, module: nn.Module, backbone: nn.Module, device: torch.device) -> torch.optim.Optimizer:
        """Return an optimiser with two groups: ``backbone``, and what else is trained in ``module``."""
        inside = {id(parameter) for parameter in backbone.parameters()}
        trained = [parameter for parameter in module.parameters() if parameter.requires_grad]
        return OPTIMIZERS[self.optimizer](
            [
                {"params": [parameter for parameter in trained if id(parameter) in inside]},
                {"params": [parameter for parameter in trained if id(parameter) not in inside]},
            ],
            weight_decay=self.weight_decay,
            fused=device.type in ("cpu", "cuda"),  # one pass over the weights instead of a dozen
        )
