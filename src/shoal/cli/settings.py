"""From flags and a configuration file to the parameters of a method."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from datetime import date, time
from pathlib import Path
from typing import Any

from shoal.errors import DataError, ParameterError, did_you_mean

# The keys of a configuration file, which are the long options of `shoal fit`, and the types of their values.
FILE_KEYS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(
        (
            "text",
            "id",
            "label",
            "encoding",
            "format",
            "sheet",
            "query",
            "vectors",
            "pairs",
            "method",
            "preset",
            "backbone",
            "date",
            "names_by",
            "llm_url",
            "llm_model",
            "reduce",
            "cluster",
            "refine",
            "level",
            "memory",
            "precision",
        ),
        (str,),
    ),
    "clusters": (int, str),
    "seed": (int,),
    **dict.fromkeys(("group_by", "stop_words"), (list,)),
    **dict.fromkeys(("report", "keep_language"), (bool,)),
    "set": (dict,),
}
_KINDS: dict[type, str] = {
    str: "a string",
    int: "a whole number",
    list: "a list",
    bool: "true or false",
    dict: "a table, [set]",
}
_PARAMETERS = {
    "clusters": "n_clusters",
    "backbone": "backbone",
    "keep_language": "keep_language",
    "precision": "encoder_precision",
    "seed": "random_state",
    "reduce": "reducer",
    "cluster": "clusterer",
    "refine": "refine",
}


def parse_assignments(assignments: Sequence[str]) -> dict[str, Any]:
    """Turn ``name=value`` strings into parameters.

    A value is parsed as TOML if possible (numbers, ``true``, lists, quoted strings), ``none`` is None, and anything
    else is a string.

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


def word_list(given: str) -> list[str]:
    """Return the words of a list with commas, or of a file with one word per line.

    Examples
    --------
    >>> word_list("Acme, ticket")
    ['Acme', 'ticket']
    """
    try:
        is_file = Path(given).is_file()
        words = Path(given).read_text(encoding="utf-8").splitlines() if is_file else given.split(",")
    except (OSError, UnicodeDecodeError) as reason:
        raise DataError(f"--stop-words {given} cannot be read ({reason}); pass words, or a file in UTF-8.") from reason
    return [word.strip() for word in words if word.strip()]


def whole_or_text(given: str) -> int | str:
    """Return a whole number as such, and anything else as it is.

    Examples
    --------
    >>> whole_or_text("20"), whole_or_text("5-80")
    (20, '5-80')
    """
    return int(given) if re.fullmatch(r"-?[0-9]{1,9}", given.strip()) else given


def _value(text: str) -> Any:
    """Read one value."""
    if text.lower() == "none":
        return None
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):  # also a number of more digits than Python reads
        return text
    return text if isinstance(value, date | time) else value


def read_config(file: Path | None) -> dict[str, Any]:
    """Read a configuration file: the names of long options as keys, parameters under ``[set]``."""
    if file is None:
        return {}
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as reason:
        raise DataError(f"--config {file} cannot be read ({reason.strerror}); check the path.") from reason
    except (ValueError, RecursionError) as reason:  # of TOML, of UTF-8, nested too deeply
        raise ParameterError(f"--config {file} is not valid TOML ({reason}); correct it.") from reason
    for key, value in content.items():
        if key not in FILE_KEYS:
            near = did_you_mean(key, FILE_KEYS)
            keys = ", ".join(FILE_KEYS)
            raise ParameterError(f"--config {file} has an unknown key {key!r}; the keys are {keys}.{near}")
        if type(value) not in FILE_KEYS[key]:  # true is no whole number here
            kind = " or ".join(_KINDS[each] for each in FILE_KEYS[key])
            raise ParameterError(f"--config {file}: {key} = {value!r} is invalid; {key} must be {kind}.")
    return content


def parameters_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the method's parameters from flags, or from the keys of a file.

    Examples
    --------
    >>> parameters_of({"text": "body", "set": {"n_init": 3}, "clusters": 5})
    {'n_init': 3, 'n_clusters': 5}
    """
    named = {name: options[option] for option, name in _PARAMETERS.items() if option in options}
    return {**options.get("set", {}), **named}
