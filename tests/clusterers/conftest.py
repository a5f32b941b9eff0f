from __future__ import annotations

import numpy as np
import pytest
from safetensors.numpy import load, save


@pytest.fixture
def rng():
    return np.random.RandomState(0)


@pytest.fixture
def groups():
    """Ninety points around three far directions, and which is whose."""
    noise = np.random.default_rng(0).normal(scale=0.1, size=(90, 5))
    labels = np.arange(90) % 3
    return (10 * np.eye(3, 5)[labels] + noise).astype(np.float32), labels


@pytest.fixture
def cloud():
    """Points without any order, so that every rule has boundaries to decide about."""
    return np.random.default_rng(1).normal(size=(200, 6)).astype(np.float32)


@pytest.fixture
def reborn():
    """Build it again from its state, by way of safetensors."""

    def through_safetensors(model):
        return type(model).from_state(load(save(model.state())))

    return through_safetensors
