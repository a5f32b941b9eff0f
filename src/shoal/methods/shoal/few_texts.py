"""6. Few texts: of the candidates, and k-means from many starts, the one whose clusters are furthest apart.

A mean, a word's frequency and a neighbour graph are estimates, and poor ones from few texts. If most of twenty texts
belong to one group, their mean is nearly that group's centre, and centring takes away what the group has in common.
So few texts are not centred, and what the evidence has chosen must beat k-means by meaning.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.clusterers import fit_spherical_kmeans
from shoal.encoder.word_statistics import weight_of_words
from shoal.methods.shoal.candidates import PartitionOptions
from shoal.methods.shoal.evidence import SAFE, START, Evidence
from shoal.methods.shoal.features import Features
from shoal.methods.shoal.partition import Hear, Partition, find_partition
from shoal.methods.shoal.regrouping import Labels
from shoal.metrics import silhouette
from shoal.vectors import Vectors

FEW_TEXTS = 250
# Of ten starts with a handful of texts per cluster, often none ends well; with so few texts a hundred cost nothing.
STARTS = 100


def center_of(vectors: Vectors) -> Vectors:
    """Return the mean of the encoder's vectors; zeros if they are too few for one.

    Examples
    --------
    >>> center_of(np.ones((FEW_TEXTS, 2))).tolist(), center_of(np.ones((FEW_TEXTS + 1, 2))).tolist()
    ([0.0, 0.0], [1.0, 1.0])
    """
    mean: Vectors = vectors.mean(axis=0)
    return mean if len(vectors) > FEW_TEXTS else np.zeros_like(mean)


def find_partition_of_few(
    features: Features,
    n_clusters: int,
    rng: np.random.RandomState,
    options: PartitionOptions,
    *,
    hear: Hear | None = None,
) -> Partition:
    """Find the partition of few rows: that of :func:`find_partition`, or k-means if its clusters are further apart.

    Parameters
    ----------
    features : Features
        The rows; their meaning is not centred.
    n_clusters : int
        The number of clusters.
    rng : RandomState
        The random generator.
    options : PartitionOptions
        The constants and switches.
    hear : callable, optional
        Called with the evidence and the labels of every partition considered.

    Returns
    -------
    Partition

    Examples
    --------
    >>> from shoal.vectors import unit_rows
    >>> rng = np.random.RandomState(0)
    >>> meaning = unit_rows(np.repeat(np.eye(2), [9, 3], axis=0) + rng.normal(scale=0.1, size=(12, 2)))
    >>> found = find_partition_of_few(Features(meaning.astype(np.float32)), 2, rng, PartitionOptions())
    >>> sorted(np.bincount(found.labels).tolist())
    [3, 9]
    """
    considered: dict[str, Labels] = {}

    def consider(evidence: Evidence, labels: Labels) -> None:
        considered[evidence.branch] = labels
        if hear is not None:
            hear(evidence, labels)

    found = find_partition(features, n_clusters, rng, options, hear=consider)
    if n_clusters < 2:
        return found
    plain = fit_spherical_kmeans(features.meaning, n_clusters, rng, n_init=STARTS)
    considered |= {found.branch: found.labels, START: plain.scores(features.meaning).argmax(axis=1)}
    rows = features.weighted(weight_of_words(len(features.meaning))).joint
    clearness = {
        branch: silhouette(rows, considered[branch], metric="cosine").value for branch in (found.branch, SAFE, START)
    }
    clearest = max(clearness, key=lambda branch: clearness[branch])
    if clearest == found.branch:
        return found
    labels = considered[clearest]
    reason = f"{clearest}: with so few texts the candidate whose clusters are furthest apart."
    return replace(
        found, labels=labels, assignment=np.eye(n_clusters, dtype=np.float32)[labels], branch=clearest, reason=reason
    )
