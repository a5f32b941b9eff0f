"""A cache folder for one measurement, so that no time depends on what earlier runs have left behind."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator

from shoal.encoder.backbone import BUILTIN, builtin_folder


@contextlib.contextmanager
def private_cache(backbone: str | None) -> Iterator[None]:
    """Give some work a cache folder of its own that holds nothing but the proof that built-in weights are sound."""
    before = os.environ.get("SHOAL_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SHOAL_CACHE"] = folder
        try:
            if backbone == BUILTIN:
                builtin_folder()
            yield
        finally:
            del os.environ["SHOAL_CACHE"]
            if before is not None:
                os.environ["SHOAL_CACHE"] = before
