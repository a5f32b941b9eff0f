"""Topics of clusters in words, and which of them distinguish a cluster from the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.clustering import Topic

# Two topics are alike if they share this part of their words; a topic is general if this part of the other
# clusters has one like it.
_ALIKE = 0.5
_MANY = 0.5


def describe_topics(
    beta: np.ndarray, shares: np.ndarray, vocabulary: Sequence[str], *, n_words: int = 10
) -> list[tuple[Topic, ...]]:
    """Put topics into words.

    Parameters
    ----------
    beta : ndarray of shape (n_clusters, n_topics, n_words)
        The distribution of every topic of every cluster over the vocabulary.
    shares : ndarray of shape (n_clusters, n_topics)
        How much of a cluster's texts each of its topics makes up.
    vocabulary : sequence of str
        The words.
    n_words : int, default=10
        The maximum number of words per topic; only those that are likelier in it than by chance.

    Returns
    -------
    list of tuple of Topic
        The topics of each cluster, largest first. A topic is general if at least half of the other clusters have one
        that shares at least half of its words.

    Examples
    --------
    >>> words = ["excel", "oracle", "file"]
    >>> beta = np.array([[[0.8, 0.1, 0.1], [0.1, 0.0, 0.9]], [[0.1, 0.8, 0.1], [0.0, 0.1, 0.9]]])
    >>> first, second = describe_topics(beta, np.array([[0.7, 0.3], [0.7, 0.3]]), words, n_words=1)
    >>> [(topic.words, topic.general) for topic in first]
    [(('excel',), False), (('file',), True)]
    """
    best = np.argsort(-beta, axis=2, kind="stable")[:, :, :n_words]
    likely = np.take_along_axis(beta, best, axis=2) > 1 / len(vocabulary)
    general = _general(best, likely)
    return [
        tuple(
            Topic(
                tuple(vocabulary[word] for word in best[k, t, likely[k, t]]), float(shares[k, t]), bool(general[k, t])
            )
            for t in np.argsort(-shares[k], kind="stable")
        )
        for k in range(len(beta))
    ]


def _general(best: np.ndarray, likely: np.ndarray) -> np.ndarray:
    """Tell for each topic, by its best words and which of them count, whether many other clusters have one like it."""
    n_clusters, n_topics, n_words = best.shape
    holds = np.zeros((n_clusters * n_topics, best.max(initial=0) + 1), dtype=np.float32)
    np.put_along_axis(holds, best.reshape(-1, n_words), likely.reshape(-1, n_words), axis=1)
    alike = holds @ holds.T >= _ALIKE * holds.sum(axis=1, keepdims=True)
    alike = alike.reshape(n_clusters, n_topics, n_clusters, n_topics).any(axis=3)
    others = alike.sum(axis=2) - 1  # a topic is like itself
    return np.asarray(others >= max(1, _MANY * (n_clusters - 1)))
