"""Checks of parameters that several methods share: the first that does not work is named."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from shoal.errors import ParameterError


def check_choices(params: Mapping[str, Any], choices: Mapping[str, Collection[Any]]) -> None:
    """Refuse a value that is not among those allowed.

    Examples
    --------
    >>> check_choices({"cache": 3}, {"cache": (True, False)})
    Traceback (most recent call last):
    shoal.errors.ParameterError: cache=3 is unknown; pass one of True, False.
    """
    for name, allowed in choices.items():
        if params[name] not in allowed:
            raise ParameterError(f"{name}={params[name]!r} is unknown; pass one of {', '.join(map(str, allowed))}.")


def check_counts(params: Mapping[str, Any], names: Collection[str], least: int = 1) -> None:
    """Refuse what is not a whole number from ``least`` on.

    Examples
    --------
    >>> check_counts({"epochs": 1.5}, ["epochs"], least=0)
    Traceback (most recent call last):
    shoal.errors.ParameterError: epochs=1.5 but it must be a whole number >= 0.
    """
    for name in names:
        value = params[name]
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise ParameterError(f"{name}={value!r} but it must be a whole number >= {least}.")


def check_positive(params: Mapping[str, Any], examples: Mapping[str, float]) -> None:
    """Refuse what is not a number > 0; ``examples`` has a usual value of each parameter."""
    for name, example in examples.items():
        value = params[name]
        if not _is_number(value) or not value > 0:
            raise ParameterError(f"{name}={value!r} but it must be a number > 0, e.g. {example:g}.")


def check_not_negative(params: Mapping[str, Any], names: Collection[str]) -> None:
    """Refuse what is not a number >= 0."""
    for name in names:
        if not _is_number(params[name]) or not params[name] >= 0:
            raise ParameterError(f"{name}={params[name]!r} but it must be a number >= 0.")


def check_shares(params: Mapping[str, Any], names: Collection[str]) -> None:
    """Refuse what is not a number from 0 to 1."""
    for name in names:
        if not _is_number(params[name]) or not 0 <= params[name] <= 1:
            raise ParameterError(f"{name}={params[name]!r} but it must be a number from 0 to 1.")


def given(params: Mapping[str, Any], *names: str) -> tuple[str, ...]:
    """Return those of the names whose value is not None.

    Examples
    --------
    >>> given({"latent_dim": None, "word_dim": 128}, "latent_dim", "word_dim")
    ('word_dim',)
    """
    return tuple(name for name in names if params[name] is not None)


def _is_number(value: Any) -> bool:
    """Tell whether it is a number; a bool is none."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
