"""How well the words of a topic go together: normalised pointwise mutual information (Bouma 2009)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray


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
