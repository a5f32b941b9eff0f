"""``shoal methods``: the methods and their parameters."""

from __future__ import annotations

from typing import Any

import typer

from shoal.cli.completion import method_names
from shoal.cli.tables import Json

EXAMPLES = """
Examples:

    shoal methods

    shoal methods tfidf-kmeans
"""


def methods(
    name: str | None = typer.Argument(
        None, help="Show this method's parameters, defaults and presets.", autocompletion=method_names
    ),
    json: Json = False,
) -> None:
    """List the methods, the papers they are from, and their parameters."""
    from shoal.cli.console import print_json, print_table, say
    from shoal.methods import DEFAULT, METHODS, find_method
    from shoal.parameters import parameters_of

    chosen = METHODS if name is None else {name: find_method(name)}
    if json:
        print_json({key: _as_json(method) for key, method in chosen.items()})
        return
    rows = [
        [key + (" *" if key == DEFAULT else ""), method.summary, method.source, ", ".join(method.presets)]
        for key, method in chosen.items()
    ]
    print_table("Methods", ["name", "what it does", "from", "presets"], rows)
    if name is None:
        say("* the default. Parameters of a method: shoal methods NAME")
        return
    method = chosen[name]
    declared = parameters_of(method.estimator)
    rows = [[key, repr(value), declared[key].meaning] for key, value in method.defaults().items()]
    print_table("Parameters (--set NAME=VALUE)", ["name", "default", "meaning"], rows)
    for preset, values in method.presets.items():
        say(f"--preset {preset}: " + ", ".join(f"{key}={value!r}" for key, value in values.items()))


def _as_json(method: Any) -> dict[str, Any]:
    """Return what ``--json`` prints for a method."""
    presets = {preset: dict(values) for preset, values in method.presets.items()}
    facts = {"summary": method.summary, "source": method.source}
    return {**facts, "parameters": method.defaults(), "presets": presets}
