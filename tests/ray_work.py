"""What the tests let workers do: in a module of its own, so that a worker can import it."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from shoal.errors import DataError


def pid_and_double(block: int) -> tuple[int, int]:
    time.sleep(0.05)
    return os.getpid(), 2 * block


def slow_if_even(block: int) -> int:
    time.sleep(0.1 * (block % 2 == 0))
    return block


def refuse(block: int) -> int:
    raise DataError(f"block {block} is bad; leave it out.")


def end(block: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class DyingEncoder:
    """Encodes lengths; the first worker to come by ends its own process, as if it had been killed."""

    fingerprint = "dying"

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def encode(self, texts):
        import numpy as np

        try:
            self.mark.touch(exist_ok=False)
        except FileExistsError:
            return np.array([[len(text), sum(map(ord, text))] for text in texts], dtype=np.float32)
        os.kill(os.getpid(), signal.SIGKILL)


class CountedEncoder:
    """Encodes lengths, and notes in a folder each process that loads it."""

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.folder, self.fingerprint = folder, fingerprint

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.folder.mkdir(exist_ok=True)
        (self.folder / f"{os.getpid()}-{time.monotonic_ns()}").touch()

    def encode(self, texts):
        import numpy as np

        return np.array([[len(text)] for text in texts], dtype=np.float32)
