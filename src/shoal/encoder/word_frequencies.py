"""How often words are used: in a large corpus, or in the texts themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.errors import MissingExtraError

AUTO, RANK, WORDFREQ, CORPUS = "auto", "rank", "wordfreq", "corpus"
FREQUENCIES = (AUTO, RANK, WORDFREQ, CORPUS)


def word_shares(
    words: Sequence[str], source: str, *, documents: Iterable[Sequence[str]], ranked: bool
) -> NDArray[np.float64]:
    """Return each word's share of all words that are used.

    Parameters
    ----------
    words : sequence of str
        In lower case.
    source : {"auto", "rank", "wordfreq", "corpus"}
        ``"rank"``: Zipf's law, 1 / (rank · H), for a table that is sorted by frequency, as those of GloVe, word2vec and
        fastText are. ``"wordfreq"``: English frequencies of the package of that name, the extra ``wordfreq``.
        ``"corpus"``: counts in ``documents``. ``"auto"``: the rank if ``ranked``, or else the corpus.
    documents : iterable of sequences of str
        The words of each text.
    ranked : bool
        Whether the words come from such a table.

    Returns
    -------
    ndarray of shape (len(words),)
        0 for a word that the source does not know.

    Raises
    ------
    MissingExtraError
        If the package is needed and missing.

    Examples
    --------
    >>> word_shares(["the", "cat"], "rank", documents=[], ranked=True).round(3).tolist()
    [0.667, 0.333]
    >>> word_shares(["the", "cat"], "corpus", documents=[["the", "cat", "the", "hat"]], ranked=True).tolist()
    [0.5, 0.25]
    """
    if source == RANK or (source == AUTO and ranked):
        by_rank = 1 / np.arange(1, len(words) + 1)
        shares: NDArray[np.float64] = by_rank / by_rank.sum()
        return shares
    if source == WORDFREQ:
        try:
            from wordfreq import get_frequency_dict
        except ImportError as reason:
            raise MissingExtraError("word_frequencies='wordfreq'", "wordfreq") from reason
        known = get_frequency_dict("en")
        return np.array([known.get(word, 0.0) for word in words])
    counts = Counter(word for document in documents for word in document)
    return np.array([counts[word] / max(counts.total(), 1) for word in words])
