"""``shoal-bench``, called as the shell calls it."""

from __future__ import annotations

import pytest

from command_line import caller
from shoal_bench.cli import main


@pytest.fixture
def shoal_bench(capsys, monkeypatch):
    """Return a function that runs ``shoal-bench ARGUMENTS`` in this process."""
    return caller("shoal-bench", main, capsys, monkeypatch)
