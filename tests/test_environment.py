from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

# In a process of its own, which has held little so far.
GROWING = """
import numpy as np
from shoal.environment import peak_memory_mb

before = peak_memory_mb()
held = np.ones(2 * int(before) * 2**17)  # twice as many megabytes as ever before
print(before, held.nbytes / 2**20, peak_memory_mb())
"""


def printed_by(program: str) -> list[float]:
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    return [float(number) for number in ended.stdout.split()]


@pytest.mark.skipif(sys.platform == "win32", reason="no count of memory")
def test_peak_memory_rises_with_what_is_held():
    before, held, after = printed_by(GROWING)
    assert after > before + held * 0.4


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems count from the parent's peak")
def test_a_child_does_not_inherit_its_parents_peak():
    held = np.ones(100 * 2**17)
    (peak,) = printed_by("from shoal.environment import peak_memory_mb; print(peak_memory_mb())")
    assert peak < held.nbytes / 2**20
