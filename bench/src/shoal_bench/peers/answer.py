"""The foreign side: run by the Python of a peer's own environment, with the standard library alone.

``python -I answer.py SCRIPT FOLDER`` reads ``texts.json``, ``request.json`` and, if it is there, ``vectors.npy`` in
FOLDER and writes ``answer.json`` there. SCRIPT defines ``PACKAGES``, whose versions are noted, and
``prepare(n_clusters, seed, **options)``, which does all imports and returns ``fit(texts, vectors) -> labels``.
Only the call of ``fit`` is timed.
"""

from __future__ import annotations

import json
import os
import platform
import runpy
import sys
import threading
import time
from importlib.metadata import version
from pathlib import Path

_PARENT_CHECK_SECONDS = 1.0


def peak_memory_mb() -> float | None:
    """Return the most memory this process has held, in megabytes, where the system counts it."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        # Not getrusage where this exists: on Linux its maximum begins with that of the parent process.
        return round(int(status.partition("VmHWM:")[2].split()[0]) / 1024, 1)
    except (OSError, IndexError, ValueError):
        pass
    try:
        import resource
    except ImportError:  # Windows has no such count
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024**2 if sys.platform == "darwin" else 1024), 1)


def run(script: Path, folder: Path) -> None:
    """Do what ``request.json`` asks for and write ``answer.json``."""
    request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    vectors = None
    if (folder / "vectors.npy").is_file():
        import numpy as np

        vectors = np.load(folder / "vectors.npy", allow_pickle=False)
    peer = runpy.run_path(str(script))
    fit = peer["prepare"](request["n_clusters"], request["seed"], **request["options"])
    started = time.perf_counter()
    labels = fit(texts, vectors)
    seconds = time.perf_counter() - started
    answer = {
        "labels": [int(label) for label in labels],
        "seconds": round(seconds, 3),
        "peak_memory_mb": peak_memory_mb(),
        "versions": {**{name: version(name) for name in peer["PACKAGES"]}, "python": platform.python_version()},
    }
    (folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")


def end_with_parent() -> None:
    """End this process soon after the one that started it: nobody waits for the answer any more."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_CHECK_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def main(arguments: list[str]) -> None:
    """Read the command line."""
    if len(arguments) != 2:
        sys.exit(f"{len(arguments)} arguments; usage: answer.py SCRIPT FOLDER")
    end_with_parent()
    run(Path(arguments[0]), Path(arguments[1]))


if __name__ == "__main__":
    main(sys.argv[1:])
