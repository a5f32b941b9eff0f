"""A cache folder for one measurement, so that no time depends on what earlier runs have left behind."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from unittest.mock import patch

from shoal.encoder.backbone import BUILTIN, builtin_folder


@contextlib.contextmanager
def private_cache(backbone: str | None) -> Iterator[None]:
    """Give some work a cache folder of its own that holds nothing but the proof that built-in weights are sound."""
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, SHOAL_CACHE=folder):
        if backbone == BUILTIN:
            builtin_folder()
        yield
