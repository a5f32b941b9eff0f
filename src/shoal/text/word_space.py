"""A corpus's own word vectors: positive PMI and a truncated SVD (Levy, Goldberg and Dagan, 2015)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

from shoal.text.words import split_words

_MAX_WORDS = 20_000  # further words are too rare to have reliable neighbours


@dataclass(frozen=True)
class WordSpace:
    """Words and their vectors.

    Parameters
    ----------
    words : list of str
        In lower case, most frequent first.
    vectors : array of shape (n_words, dimension)
        Rows of length 1, or 0 for a word that never occurs near another.
    """

    words: list[str]
    vectors: NDArray[np.float64]

    @classmethod
    def fit(cls, texts: Sequence[str], dimension: int = 100, window: int = 5, min_count: int = 2) -> WordSpace:
        """Learn the space from texts; the same texts give the same space.

        Parameters
        ----------
        texts : sequence of str
        dimension : int
            Number of singular vectors kept; fewer when there are fewer words.
        window : int
            Two words co-occur if they are at most this many positions apart.
        min_count : int
            Rarer words are omitted.

        Returns
        -------
        WordSpace

        Examples
        --------
        >>> space = WordSpace.fit(["red car fast", "red auto fast", "green tea hot"] * 5)
        >>> space.neighbours("car", 1)[0][0]
        'auto'
        """
        documents = [[word.text.lower() for word in split_words(text)] for text in texts]
        counts = Counter(word for document in documents for word in document)
        words = [word for word, count in counts.most_common(_MAX_WORDS) if count >= min_count]
        if len(words) < 2:
            return cls(words, np.zeros((len(words), 1)))
        ppmi = _positive_pmi(_cooccurrence(documents, words, window))
        left, singular, _ = randomized_svd(ppmi, n_components=min(dimension, len(words)), random_state=0)
        vectors = left * np.sqrt(singular)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return cls(words, vectors / np.where(norms > 0, norms, 1.0))

    def neighbours(self, word: str, n: int) -> list[tuple[str, float]]:
        """List the nearest words with their cosines, nearest first.

        Parameters
        ----------
        word : str
            In lower case.
        n : int
            The maximum number; words with a cosine of 0 or below are not neighbours.

        Returns
        -------
        list of (str, float)
            Empty for an unknown word.
        """
        row = self._rows.get(word)
        if row is None:
            return []
        # Rounded, so that ties are ordered by frequency and not by rounding errors.
        cosines = np.round(self.vectors @ self.vectors[row], 6)
        cosines[row] = -1.0
        n = min(n, len(cosines))
        near_enough = np.flatnonzero(cosines >= max(np.partition(cosines, -n)[-n], 1e-6))
        nearest = near_enough[np.argsort(-cosines[near_enough], kind="stable")][:n]
        return [(self.words[near], float(cosines[near])) for near in nearest]

    @cached_property
    def _rows(self) -> dict[str, int]:
        """Row of each word."""
        return {word: row for row, word in enumerate(self.words)}


def _cooccurrence(documents: list[list[str]], words: list[str], window: int) -> sparse.csr_array:
    """Count how often two words occur within the window, in both directions."""
    rows = {word: row for row, word in enumerate(words)}
    flat = np.array([rows.get(word, -1) for document in documents for word in document])
    owner = np.repeat(np.arange(len(documents)), [len(document) for document in documents])
    counts = sparse.csr_array((len(words), len(words)))
    for distance in range(1, window + 1):
        left, right = flat[:-distance], flat[distance:]
        together = (owner[:-distance] == owner[distance:]) & (left >= 0) & (right >= 0)
        places = (left[together], right[together])
        counts = counts + sparse.csr_array((np.ones(together.sum()), places), shape=counts.shape)
    return counts + counts.T


def _positive_pmi(counts: sparse.csr_array) -> sparse.csr_array:
    """PPMI with context counts raised to 0.75, which keeps rare contexts from dominating (Levy et al., 2015)."""
    by_word = np.asarray(counts.sum(axis=1)).ravel()
    by_context = np.asarray(counts.sum(axis=0)).ravel() ** 0.75
    share = by_context / max(by_context.sum(), 1.0)
    word, context = counts.nonzero()
    pmi = np.log(counts.data / (by_word[word] * share[context]))
    return sparse.csr_array((np.maximum(pmi, 0.0), (word, context)), shape=counts.shape)
