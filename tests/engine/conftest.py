"""A Ray cluster of a few processes on this machine, started once for all tests of a module."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import shoal.engine
from shoal.engine.ray import RayEngine

# One test has workers of its own beside those of the others.
WORKERS, CORES = 3, 6


@pytest.fixture(scope="module")
def cluster():
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RAY_ADDRESS", raising=False)
        patch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parents[1]), *sys.path]))  # for ray_work
        with RayEngine(CORES) as engine:
            engine._n_workers = WORKERS
            yield engine


@pytest.fixture
def on_cluster(cluster):
    """Compute this test's blocks on the cluster."""
    before = shoal.engine._current.set(cluster)
    yield cluster
    shoal.engine._current.reset(before)
