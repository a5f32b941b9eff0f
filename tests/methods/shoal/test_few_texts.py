"""Few texts: not centred, and k-means is the answer where its clusters are further apart."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.methods.shoal import few_texts
from shoal.methods.shoal.candidates import PartitionOptions
from shoal.methods.shoal.evidence import SAFE, START
from shoal.methods.shoal.features import Features
from shoal.methods.shoal.few_texts import find_partition_of_few
from shoal.methods.shoal.partition import find_partition
from shoal.metrics import accuracy
from shoal.vectors import unit_rows


def rows_of(*sizes):
    """Return noisy copies of as many directions, which have much in common, as there are sizes."""
    rng = np.random.RandomState(0)
    directions = np.eye(len(sizes), 16) + 0.3
    noisy = np.repeat(directions, sizes, axis=0) + rng.normal(scale=0.25, size=(sum(sizes), 16))
    return unit_rows(noisy).astype(np.float32), np.repeat(np.arange(len(sizes)), sizes)


def found_in(vectors, n_clusters):
    return find_partition_of_few(Features(vectors), n_clusters, np.random.RandomState(0), PartitionOptions())


def test_a_small_group_is_found_beside_a_large_one():
    vectors, groups = rows_of(24, 6)
    centred = unit_rows(vectors - vectors.mean(axis=0)).astype(np.float32)
    usual = find_partition(Features(centred), 2, np.random.RandomState(0))
    assert accuracy(groups, usual.labels) < 1
    assert accuracy(groups, found_in(vectors, 2).labels) == 1


@pytest.mark.parametrize("n_clusters", [2, 3])
def test_k_means_replaces_clusters_that_are_less_far_apart(monkeypatch, n_clusters):
    vectors, groups = rows_of(*[8] * n_clusters)

    def mixed_up(*arguments, **keywords):
        found = find_partition(*arguments, **keywords)
        return few_texts.replace(found, labels=np.arange(8 * n_clusters) % n_clusters, branch="mixed up")

    monkeypatch.setattr(few_texts, "find_partition", mixed_up)
    found = found_in(vectors, n_clusters)
    assert found.branch in (START, SAFE)
    assert accuracy(groups, found.labels) == 1
    assert (found.assignment.argmax(axis=1) == found.labels).all()
    assert "few texts" in found.reason


def test_one_cluster_is_left_alone():
    vectors, _ = rows_of(5)
    assert not found_in(vectors, 1).labels.any()
