"""The clusters of a result: each with its size, confidence, name, keywords and examples."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.clustering import Cluster, Topic
from shoal.naming.describe import describe

# Names come from the beginning of each text: one text of megabytes must not outweigh the others, or slow naming down.
NAMED_CHARACTERS = 20_000


def describe_clusters(
    texts: list[str] | None,
    labels: NDArray[np.int64],
    probabilities: NDArray[np.float32],
    topics: Sequence[tuple[Topic, ...]],
    stop_words: Collection[str] = (),
) -> tuple[Cluster, ...]:
    """Name the clusters from their texts, or by number if there are only vectors.

    Parameters
    ----------
    texts : list of str of length n, or None
        The texts; None if there are only vectors.
    labels : ndarray of int64, shape (n,)
        The cluster of each row.
    probabilities : ndarray of float32, shape (n, n_clusters)
        The probability of each cluster.
    topics : sequence of tuple of Topic
        The topics of each cluster; empty where the method finds none.
    stop_words : collection of str
        Words that are never used in names and keywords, besides the function words of the texts' languages.

    Returns
    -------
    tuple of Cluster
        By number.

    Examples
    --------
    >>> labels, probabilities = np.array([0, 1, 1]), np.array([[1, 0], [0, 1], [0.5, 0.5]], dtype=np.float32)
    >>> [(cluster.name, cluster.size) for cluster in describe_clusters(None, labels, probabilities, [(), ()])]
    [('cluster 0', 1), ('cluster 1', 2)]
    """
    n_clusters = probabilities.shape[1]
    sizes = np.bincount(labels, minlength=n_clusters)
    own = probabilities[np.arange(len(labels)), labels]
    confidence = np.bincount(labels, own, n_clusters) / np.maximum(sizes, 1)
    facts = [(k, int(sizes[k]), float(confidence[k])) for k in range(n_clusters)]
    if texts is None:
        return tuple(Cluster(k, f"cluster {k}", size, mean) for k, size, mean in facts)
    heads = [text[:NAMED_CHARACTERS] for text in texts]
    telling = [{word for topic in each if not topic.general for word in topic.words} for each in topics]
    found = describe(heads, labels, n_clusters, centrality=own, own_stop_words=stop_words, telling=telling)
    return tuple(
        Cluster(k, about.name, size, mean, about.keywords, tuple(texts[i] for i in about.examples), each)
        for (k, size, mean), about, each in zip(facts, found, topics, strict=True)
    )
