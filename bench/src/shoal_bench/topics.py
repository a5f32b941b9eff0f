"""What a record says of the topics that a method found: their words, and whether these go together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from shoal.encoder.word_counts import WordCounts
from shoal.methods.base import TextClusterer
from shoal.naming import c_tf_idf
from shoal.text.stop_words import resolve_stop_words

N_WORDS = 10


def topic_facts(model: TextClusterer, texts: Sequence[str]) -> dict[str, Any] | None:
    """Return the topics of a fitted model's clusters and their coherence.

    Parameters
    ----------
    model : TextClusterer
        Fitted on the texts.
    texts : sequence of str
        The texts; none of them empty.

    Returns
    -------
    dict or None
        ``clusters``: of each its ``name``, ``size`` and ``topics`` (DECCRL, table 4). ``npmi``: the mean coherence on
        these texts of all topics, of those that are not general, of the largest of each cluster, and of as many
        single words by class-based TF-IDF. None if the method finds no topics.
    """
    topics = [topic for cluster in model.clusters_ for topic in cluster.topics]
    if not topics:
        return None
    documents = [WordCounts.words(text) for text in texts]
    groups: dict[str, Sequence[Sequence[str]]] = {
        "topics": [topic.words for topic in topics],
        "telling": [topic.words for topic in topics if not topic.general],
        "largest": [cluster.topics[0].words for cluster in model.clusters_],
        "c_tf_idf": class_words(texts, model.labels_, model.n_clusters_),
    }
    means = {name: npmi_coherence([own[:N_WORDS] for own in words], documents) for name, words in groups.items()}
    described = (cluster.as_json() for cluster in model.clusters_)
    return {
        "clusters": [{name: cluster[name] for name in ("name", "size", "topics")} for cluster in described],
        "npmi": {
            name: float(np.nanmean(values)) if np.isfinite(values).any() else None for name, values in means.items()
        },
    }


def class_words(texts: Sequence[str], labels: np.ndarray, n_clusters: int) -> list[list[str]]:
    """Return the best single words of each cluster by class-based TF-IDF, without function words.

    Examples
    --------
    >>> class_words(["red wine", "dry wine", "green tea", "black tea"], np.array([0, 0, 1, 1]), 2)[1][0]
    'tea'
    """
    stop_words = {part for word in resolve_stop_words("auto", texts) for part in WordCounts.words(word)}
    counter = WordCounts(max_features=len(texts) * N_WORDS, stop_words=sorted(stop_words)).fit(texts)
    members = csr_matrix((np.ones(len(texts)), (labels, np.arange(len(texts)))), shape=(n_clusters, len(texts)))
    weights = c_tf_idf(csr_matrix(members @ counter.count(texts))).toarray()
    best = np.argsort(-weights, axis=1, kind="stable")[:, :N_WORDS]
    return [[counter.terms_[word] for word in own if weights[k, word] > 0] for k, own in enumerate(best)]


def npmi_coherence(topics: Sequence[Sequence[str]], documents: Sequence[Collection[str]]) -> NDArray[np.float64]:
    r"""Mean normalised pointwise mutual information over the pairs of words of each topic.

    .. math:: \mathrm{npmi}(a, b) = \frac{\log \frac{p(a, b)}{p(a) \, p(b)}}{-\log p(a, b)}

    where p is the share of documents with a word, or with both. Two words that are never in one document count -1,
    two that only occur together 1 (Lau, Newman and Baldwin 2014).

    Parameters
    ----------
    topics : sequence of sequences of str
        The words of each topic.
    documents : sequence of collections of str
        The words of each document; how often does not matter.

    Returns
    -------
    ndarray of shape (len(topics),)
        From -1 to 1; NaN for a topic of fewer than two words.

    Examples
    --------
    >>> documents = [{"salt", "pepper"}, {"salt", "pepper"}, {"salt", "road"}, {"road"}]
    >>> npmi_coherence([["salt", "pepper"], ["pepper", "road"]], documents).round(3).tolist()  # log(4/3) / log 2
    [0.415, -1.0]
    """
    wanted = {word: column for column, word in enumerate(dict.fromkeys(word for topic in topics for word in topic))}
    holds = np.zeros((len(documents), len(wanted)), dtype=bool)
    for row, document in enumerate(documents):
        holds[row, [wanted[word] for word in set(document) & wanted.keys()]] = True
    together = holds.T.astype(np.float64) @ holds / max(len(documents), 1)  # p(a, b); p(a) on the diagonal
    coherences = []
    for topic in topics:
        columns = [wanted[word] for word in dict.fromkeys(topic)]
        pairs = [_npmi(together[a, a], together[b, b], together[a, b]) for a, b in combinations(columns, 2)]
        coherences.append(float(np.mean(pairs)) if pairs else np.nan)
    return np.array(coherences)


def _npmi(first: float, second: float, both: float) -> float:
    """Normalised pointwise mutual information of two words by their shares of the documents."""
    if both in (0.0, 1.0):
        return 2 * both - 1
    return float(np.log(both / (first * second)) / -np.log(both))
