"""Random states: set for a run, saved in its checkpoints, and restored afterwards."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch inside the block; the caller's random state is restored afterwards.

    Examples
    --------
    >>> with seeded(1):
    ...     first = torch.rand(1)
    >>> with seeded(1):
    ...     bool(torch.rand(1) == first)
    True
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


def random_states(rng: np.random.RandomState) -> dict[str, Any]:
    """Return every random state that training may use: the run's own, torch's, numpy's and Python's."""
    states = {
        "run": _numpy_state(rng.get_state(legacy=False)),
        "numpy": _numpy_state(np.random.get_state(legacy=False)),  # noqa: NPY002 - foreign code may use it
        "python": list(random.getstate()[1]),
        "torch": torch.get_rng_state(),
    }
    if torch.cuda.is_available():
        states["cuda"] = dict(enumerate(torch.cuda.get_rng_state_all()))
    return states


def restore_random_states(rng: np.random.RandomState, states: dict[str, Any]) -> None:
    """Restore what :func:`random_states` returned."""
    rng.set_state(_numpy_tuple(states["run"]))
    np.random.set_state(_numpy_tuple(states["numpy"]))  # noqa: NPY002 - foreign code may use it
    random.setstate((random.getstate()[0], tuple(states["python"]), None))
    torch.set_rng_state(states["torch"])
    if torch.cuda.is_available() and "cuda" in states:
        torch.cuda.set_rng_state_all(list(states["cuda"].values()))


def _numpy_state(state: Any) -> dict[str, Any]:
    """Split numpy's Mersenne Twister state into an array and plain numbers."""
    inner = state["state"]
    return {
        "key": np.asarray(inner["key"]),
        "pos": int(inner["pos"]),
        "has_gauss": int(state["has_gauss"]),
        "gauss": float(state["gauss"]),
    }


def _numpy_tuple(state: dict[str, Any]) -> tuple[str, Any, int, int, float]:
    """Rebuild numpy's state."""
    return ("MT19937", np.asarray(state["key"]), state["pos"], state["has_gauss"], state["gauss"])
