"""From flags and a configuration file to the parameters of a method."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.errors import DataError, ParameterError

FILE_KEYS = ("text", "id", "label", "method", "preset", "clusters", "backbone", "seed", "set")


def parse_assignments(assignments: Sequence[str]) -> dict[str, Any]:
    """Turn ``name=value`` strings into parameters.

    A value is read as TOML where that works (numbers, ``true``, lists, quoted strings), ``none`` is None, and
    everything else is the string itself.

    Examples
    --------
    >>> parse_assignments(["n_init=3", "reducer=umap", "cache=false", "stop_words=none"])
    {'n_init': 3, 'reducer': 'umap', 'cache': False, 'stop_words': None}
    """
    params: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name.strip():
            raise ParameterError(f"--set {assignment!r} is not of the form name=value; e.g. --set n_init=3.")
        params[name.strip()] = _value(value.strip())
    return params


def _value(text: str) -> Any:
    """Read one value."""
    if text.lower() == "none":
        return None
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def read_config(file: Path | None) -> dict[str, Any]:
    """Read a configuration file: the long options' names as keys, parameters under ``[set]``."""
    if file is None:
        return {}
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as reason:
        raise DataError(f"--config {file} cannot be read ({reason.strerror}).") from reason
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as reason:
        raise ParameterError(f"--config {file} is not valid TOML ({reason}).") from reason
    for key in content:
        if key not in FILE_KEYS:
            raise ParameterError(f"--config {file} has the key {key!r}; the keys are {', '.join(FILE_KEYS)}.")
    if not isinstance(content.get("set", {}), dict):
        raise ParameterError(f"--config {file}: [set] must be a table of parameters, e.g. [set] then n_init = 3.")
    return content


def first_given(*values: Any) -> Any:
    """Return the first value that is not None."""
    return next((value for value in values if value is not None), None)


def method_parameters(
    method: Any, name: str, *, preset: str | None, config: Mapping[str, Any], flags: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the parameters to build a method with: preset, then file, then flags, the later winning.

    Raises
    ------
    ParameterError
        If the preset or a parameter does not exist.
    """
    if preset is not None and preset not in method.presets:
        there = ", ".join(method.presets) or "none"
        raise ParameterError(f"method {name!r} has no preset {preset!r}; its presets: {there}.")
    chosen = method.presets[preset] if preset is not None else {}
    params = {**chosen, **config, **{key: value for key, value in flags.items() if value is not None}}
    method.check_names(params)
    return params
