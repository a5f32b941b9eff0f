"""Values that the shell completes, besides the options themselves: `shoal --install-completion` turns it on."""

from __future__ import annotations

from typing import Annotated

import typer


def method_names(incomplete: str) -> list[str]:
    """Return the methods whose names begin like this."""
    from shoal.methods import METHODS

    return [name for name in METHODS if name.startswith(incomplete)]


Method = Annotated[
    str | None,
    typer.Option("--method", help="See `shoal methods`.  [default: shoal]", autocompletion=method_names),
]
