"""Rows of known clusters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from shoal.methods.shoal.features import Features
from shoal.vectors import unit_rows


def made_groups(sizes, dimension=20, noise=0.15, seed=0):
    rng = np.random.RandomState(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    points = np.eye(len(sizes), dimension)[labels] + rng.normal(scale=noise, size=(len(labels), dimension))
    return unit_rows(points.astype(np.float32)), labels


@pytest.fixture
def groups():
    """Returns unit rows around axes, and the number of each row's axis."""
    return made_groups


@pytest.fixture
def two():
    """Returns the features of rows around axes, in two views, and the number of each row's axis."""

    def make(sizes, **kwargs):
        meaning, labels = made_groups(sizes, seed=0, **kwargs)
        words, _ = made_groups(sizes, seed=1, **kwargs)
        return Features(meaning, words, csr_matrix(words.clip(0))), labels

    return make


@pytest.fixture
def dense_themes():
    """Two dense themes close to each other, eight wider ones, and three lone rows, a cluster each to linkage."""
    rng = np.random.RandomState(0)
    centers = np.eye(40)[:13]
    centers[1] = centers[0] + 0.5 * centers[1]
    centers[3:10:2] += centers[2:10:2]
    labels = np.repeat(np.arange(13), [90] * 2 + [30] * 8 + [1] * 3)
    noise = rng.normal(size=(len(labels), 40)) * np.where(labels < 2, 0.075, 0.15)[:, None]
    return Features(unit_rows((unit_rows(centers)[labels] + noise).astype(np.float32))), labels
