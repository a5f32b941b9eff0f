"""Features by words: TF-IDF and its singular vectors, used alongside the vectors of a transformer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from scipy.sparse import csr_matrix
from sklearn.utils.extmath import randomized_svd

from shoal.clusterers import threads_for
from shoal.errors import ParameterError
from shoal.text.tfidf import inverse_document_frequency, tfidf
from shoal.text.words import folded, has_glyphs, pieces, pieces_or_pairs
from shoal.vectors import unit_rows

_TERMS, _ARRAYS = "word_view.json", "word_view.safetensors"
# Terms that are in a smaller share of the texts than this say little about the corpus.
_ENOUGH = 0.5
# A share of the corpus is no sign of a common word if it is fewer texts than this.
_FEW = 10
# Lengths and singular values below this, relative to 1 and to the largest, are rounding errors of float32.
_NOTHING = 1e-6

# With fewer texts, words are trusted less.
TEXTS_FOR_WORDS = 1_000


def weight_of_words(n_texts: int) -> float:
    """Return the weight of the words of so many texts, up to 1.

    A word's frequency is the less certain, the fewer texts it is taken from, by the square root of their number, and
    fillers look like themes.

    Examples
    --------
    >>> weight_of_words(250), weight_of_words(5000)
    (0.5, 1.0)
    """
    return min(1.0, float(np.sqrt(n_texts / TEXTS_FOR_WORDS)))


class WordStatistics:
    """Unit vectors from sublinear TF-IDF, as they are or reduced by an SVD (latent semantic analysis).

    The terms are the :func:`~shoal.text.words.pieces` of the texts in lower case; where half of the texts are in a
    script without spaces, pairs of neighbouring characters of that script. If fewer than half of the texts have such a
    term, ``max_df`` is dropped (all texts alike); if none has, ``min_df`` is too (no two texts alike). A text without a
    term, such as a rare word on its own, is then left to its meaning: pairs of letters would say how it is spelt.

    Parameters
    ----------
    n_components : int, default=200
        Dimensions of :meth:`encode`; fewer if the corpus has fewer.
    min_df : int, default=2
        A term is in at least this many texts: a term in a single text connects it with no other.
    max_df : float, default=0.2
        A term is in at most this share of the texts, or in at most ten. This replaces a list of stop words, in any
        language.

    Examples
    --------
    >>> words = WordStatistics().fit(["c++ pointer", "pointer in c++", "bread oven", "an oven for bread"])
    >>> (words.encode(["C++!"]) @ words.encode(["pointer", "bread", "unheard"]).T).round(3).tolist()
    [[1.0, 0.0, 0.0]]
    """

    truncated = 0

    def __init__(self, *, n_components: int = 200, min_df: int = 2, max_df: float = 0.2) -> None:
        self.n_components = n_components
        self.min_df = min_df
        self.max_df = max_df

    def fit(self, texts: Sequence[str]) -> WordStatistics:
        """Learn the terms, their weights and the singular vectors; the same texts give the same statistics."""
        if self.n_components < 1 or self.min_df < 1 or not 0 < self.max_df <= 1:
            raise ParameterError(
                f"n_components={self.n_components}, min_df={self.min_df}, max_df={self.max_df} but the first two are "
                "at least 1 and max_df is a share above 0 and up to 1; pass values in these ranges."
            )
        counts = self._choose_terms(texts)
        self._idf = inverse_document_frequency(counts)
        weights = tfidf(counts, self._idf, sublinear=True)
        self._components = _right_singular_vectors(weights, self.n_components)
        return self

    @property
    def dimension(self) -> int:
        """Length of a vector of :meth:`encode`: fewer than ``n_components`` if there are fewer words."""
        return int(self._components.shape[1])

    def tfidf(self, texts: Sequence[str]) -> csr_matrix:
        """Return TF-IDF weights, (len(texts), number of terms), rows of length one or zero."""
        return tfidf(_count(texts, self._columns, self._pairs, self._glyphs), self._idf, sublinear=True)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (len(texts), dimension), rows of length one; a text without a known term is the zero vector."""
        return self.projected(self.tfidf(texts))

    def projected(self, weights: csr_matrix) -> NDArray[np.float32]:
        """Return what :meth:`encode` returns, from what :meth:`tfidf` returns."""
        vectors = np.asarray(weights @ self._components, dtype=np.float32)
        vectors[np.linalg.norm(vectors, axis=1) < _NOTHING] = 0
        return unit_rows(vectors)

    def save(self, folder: Path) -> None:
        """Write terms, weights and singular vectors into ``folder``."""
        content = {"pairs": self._pairs, "glyphs": self._glyphs, "terms": list(self._columns)}
        (folder / _TERMS).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        save_file({"idf": self._idf, "components": self._components}, folder / _ARRAYS)

    @classmethod
    def load(cls, folder: Path) -> WordStatistics:
        """Read what :meth:`save` wrote."""
        content = json.loads((folder / _TERMS).read_text(encoding="utf-8"))
        words, arrays = cls(), load_file(folder / _ARRAYS)
        # True only in files of earlier versions, which read some corpora by pairs of letters.
        words._pairs, words._columns = content["pairs"], _numbered(content["terms"])
        words._glyphs = content.get("glyphs", False)
        words._idf, words._components = arrays["idf"], arrays["components"]
        return words

    def _choose_terms(self, texts: Sequence[str]) -> csr_matrix:
        """Keep the terms that are neither too rare nor too frequent; count them."""
        best = -1.0
        self._glyphs = sum(map(has_glyphs, texts)) >= _ENOUGH * max(len(texts), 1)
        terms = sorted({term for text in texts for term in _terms(text, False, self._glyphs)})
        counts = _count(texts, _numbered(terms), False, self._glyphs)
        frequency, n_filled = counts.getnnz(axis=0), max(_n_filled_rows(counts), 1)
        for min_df, max_df in ((self.min_df, self.max_df), (self.min_df, 1.0), (1, 1.0)):
            if best >= _ENOUGH or (best > 0 and min_df < self.min_df):
                break
            kept = np.flatnonzero((frequency >= min_df) & (frequency <= max(max_df * len(texts), _FEW)))
            share = _n_filled_rows(counts[:, kept]) / n_filled
            if share > best:
                best, chosen = share, kept
        self._pairs, self._columns = False, _numbered([terms[column] for column in chosen])
        return counts[:, chosen]


def _right_singular_vectors(weights: csr_matrix, n_components: int) -> NDArray[np.float32]:
    """Return (number of terms, dimension); one dimension of zeros for a corpus without terms."""
    if not weights.nnz:
        return np.zeros((weights.shape[1], 1), dtype=np.float32)
    most = max(1, min(weights.shape) - 1)
    with threads_for(n_components):  # what is factorised has so many columns
        _, singular, right = randomized_svd(weights, min(n_components, most), n_iter=4, random_state=0)
    # Directions that no text of the corpus has would be arbitrary ones for new texts.
    # Contiguous, because safetensors would write rows of any other layout in the wrong order.
    return np.ascontiguousarray(right[singular > _NOTHING * singular[0]].T, dtype=np.float32)


def _count(texts: Sequence[str], columns: dict[str, int], pairs: bool, glyphs: bool) -> csr_matrix:
    """Count the known terms of each text, (len(texts), len(columns)).

    CountVectorizer takes 1.3 to 1.5 times as long for a given vocabulary, and refuses an empty one.
    """
    found = [[columns[term] for term in _terms(text, pairs, glyphs) if term in columns] for text in texts]
    ends = np.cumsum([0, *map(len, found)])
    places = np.array([column for row in found for column in row], dtype=np.int32)
    counts = csr_matrix((np.ones(len(places), np.float32), places, ends), shape=(len(texts), len(columns)))
    counts.sum_duplicates()  # which also sorts: a row's sums do not depend on the order of its words
    return counts


def _terms(text: str, pairs: bool, glyphs: bool) -> list[str]:
    """Return the pieces of a text in lower case, or the pairs of neighbouring characters inside them."""
    found = pieces(folded(text))
    if not pairs:
        return pieces_or_pairs(folded(text)) if glyphs else found
    return [piece[i : i + 2] for piece in found for i in range(max(1, len(piece) - 1))]


def _n_filled_rows(counts: csr_matrix) -> int:
    """Return how many texts have any term."""
    return int(np.count_nonzero(counts.getnnz(axis=1)))


def _numbered(terms: Sequence[str]) -> dict[str, int]:
    """Return the column of each term."""
    return {term: column for column, term in enumerate(terms)}
