"""What a measured time depends on: versions, machine, threads, memory. No host name, no path."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from shoal._version import __version__

PACKAGES = ("numpy", "torch", "transformers", "scikit-learn")
MORE_PACKAGES = ("scipy", "tokenizers", "safetensors", "polars")  # noted in run folders too


def versions() -> dict[str, str]:
    """Return the versions of the packages that a result may depend on.

    Examples
    --------
    >>> sorted(versions())
    ['numpy', 'python', 'scikit-learn', 'shoal', 'torch', 'transformers']
    """
    packages = {name: version(name) for name in PACKAGES}
    return {"shoal": __version__, **packages, "python": platform.python_version()}


def run_environment() -> dict[str, Any]:
    """Return the versions and the facts about the machine that ``run.json`` notes."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: version(name) for name in (*PACKAGES, *MORE_PACKAGES)},
        "threads": threads(),
        "cpu_count": os.cpu_count(),
    }


def machine() -> dict[str, Any]:
    """Return the kind of machine: ``cpu``, ``cores``, ``memory_gb``, ``system``."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gb": memory_gb(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def threads() -> int:
    """Return the number of threads torch uses."""
    import torch

    return torch.get_num_threads()


def peak_memory_mb() -> float | None:
    """Return this process's peak memory in megabytes, if the system reports it."""
    status = Path("/proc/self/status")
    if status.is_file():  # getrusage starts at the parent's peak
        peaks = [line.split()[1] for line in status.read_text(encoding="utf-8").splitlines() if "VmHWM" in line]
        if peaks:
            return round(int(peaks[0]) / 1024, 1)
    try:
        import resource
    except ImportError:  # Windows has no such count
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024**2 if sys.platform == "darwin" else 1024), 1)


def _cpu() -> str:
    """Return the processor's name, if the system reports it."""
    return cpu_fact("model name") or platform.processor() or platform.machine()


def cpu_fact(name: str) -> str:
    """Return what Linux reports of the first processor under a name, such as ``vendor_id``; empty if it does not."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")


def memory_gb() -> float | None:
    """Return the machine's memory in gigabytes, if the system reports it."""
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (ValueError, OSError, AttributeError):
        return None
