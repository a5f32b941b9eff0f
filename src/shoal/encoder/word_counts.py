"""Bag of words and TF-IDF, as the papers' baselines use them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer

from shoal.errors import DataError, ParameterError
from shoal.text.tfidf import inverse_document_frequency, tfidf
from shoal.vectors import unit_rows

_FILE = "vocabulary.json"


class WordCounts:
    """Vectors of word counts or of TF-IDF weights over the most frequent words.

    scikit-learn splits the texts, by the default pattern of its CountVectorizer (two or more letters, digits or
    underscores), not :func:`shoal.text.words.pieces`: these are the papers' baselines, and the two differ on a
    third of the texts of common data sets, mostly in words of one letter.

    Parameters
    ----------
    tfidf : bool, default=False
        Weight by inverse document frequency and scale rows to length one, as scikit-learn does.
    max_features : int, default=1500
        How many words are kept: 1500 in SCCL and DECCRL, 2000 in ClusterBERT.
    stop_words : {"english"} or list of str or None, default=None
        Words to omit: none in SCCL, a selection of English ones in ClusterBERT.

    Examples
    --------
    >>> WordCounts().fit(["red fish", "blue fish"]).encode(["fish fish"]).tolist()
    [[0.0, 2.0, 0.0]]
    """

    truncated = 0

    def __init__(
        self, *, tfidf: bool = False, max_features: int | None = 1500, stop_words: str | list[str] | None = None
    ) -> None:
        self.tfidf = tfidf
        self.max_features = max_features
        self.stop_words = stop_words

    def fit(self, texts: Sequence[str]) -> WordCounts:
        """Learn the vocabulary, and the weights for TF-IDF."""
        if self.stop_words not in (None, "english") and not isinstance(self.stop_words, list):
            raise ParameterError(f"stop_words={self.stop_words!r} is unknown; pass 'english', a list of words or None.")
        counter = CountVectorizer(max_features=self.max_features, stop_words=self.stop_words, dtype=np.float32)
        try:
            counts = counter.fit_transform(texts)
        except ValueError as reason:
            raise DataError(
                f"the {len(texts)} texts hold no word of two letters or more"
                f"{' besides stop words' if self.stop_words else ''}; use representation='transformer'."
            ) from reason
        self.terms_ = [str(term) for term in counter.get_feature_names_out()]
        self.idf_ = inverse_document_frequency(counts)
        return self

    @staticmethod
    def words(text: str) -> list[str]:
        """Return the words of a text as they are counted."""
        found: list[str] = CountVectorizer().build_analyzer()(text)
        return found

    def count(self, texts: Sequence[str]) -> csr_matrix:
        """Return the plain counts, (len(texts), number of words), in sparse form."""
        return CountVectorizer(vocabulary=self.terms_, dtype=np.float32).transform(texts)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (len(texts), number of words); a text without a known word is the zero vector."""
        counts = self.count(texts)
        if not self.tfidf:
            return np.asarray(counts.toarray())
        # Scaled here: scikit-learn's own scaling rounds differently, and k-means then misses the published results.
        return unit_rows(tfidf(counts, self.idf_, norm=None).toarray())

    def save(self, folder: Path) -> None:
        """Write the vocabulary into ``folder``."""
        content = {"tfidf": self.tfidf, "terms": self.terms_, "idf": [float(weight) for weight in self.idf_]}
        (folder / _FILE).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> WordCounts:
        """Read what :meth:`save` wrote."""
        content = json.loads((folder / _FILE).read_text(encoding="utf-8"))
        counts = cls(tfidf=content["tfidf"])
        counts.terms_ = content["terms"]
        counts.idf_ = np.array(content["idf"], dtype=np.float32)
        return counts
