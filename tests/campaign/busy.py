"""The default method while other programs keep every core busy: it may take longer, but not many times as long."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from campaign.table import Attack

SLOWER = 3.0
_FIT = """
import sys, time
import numpy as np
from shoal.methods import METHODS
vectors = np.load(sys.argv[1])
METHODS["shoal"](n_clusters=20).fit(vectors[:200])
started = time.perf_counter()
METHODS["shoal"](n_clusters=20).fit(vectors)
print(time.perf_counter() - started)
"""
_LOOP = "while True: pass"


class BusyMachine:
    """The same fit on an idle machine and next to one busy loop per core."""

    def __init__(self, folder: Path, rows: int) -> None:
        self.folder, self.rows = folder, rows
        self.file = folder / "vectors.npy"
        rng = np.random.default_rng(0)
        centres = rng.normal(size=(20, 64))
        np.save(self.file, (centres[rng.integers(20, size=rows)] + rng.normal(size=(rows, 64))).astype(np.float32))

    def attacks(self) -> Iterator[Attack]:
        """Fit twice, with as many threads as the machine has."""
        idle = self._seconds()
        with ExitStack() as stack:
            for _ in range(os.cpu_count() or 1):
                loop = stack.enter_context(subprocess.Popen([sys.executable, "-c", _LOOP]))
                stack.callback(loop.kill)
            time.sleep(1)
            busy = self._seconds()
        times = f"{busy / idle:.1f} times as long"
        what = f"{self.rows} vectors: {idle:.1f} s idle, {busy:.1f} s with a busy loop per core: {times}"
        failure = f"more than {SLOWER} times as long" if busy > SLOWER * idle else ""
        yield Attack("busy machine", what, failure)

    def _seconds(self) -> float:
        """Fit in a process of its own, which chooses its threads as a user's would."""
        environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
        call = [sys.executable, "-W", "ignore", "-c", _FIT, str(self.file)]
        ended = subprocess.run(call, capture_output=True, text=True, env=environment, timeout=3600, check=True)
        return float(ended.stdout.splitlines()[-1])
