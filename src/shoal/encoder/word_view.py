"""Which words a text has: TF-IDF and its singular vectors, a view beside that of a transformer."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from scipy.sparse import csr_matrix
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from shoal.errors import ParameterError
from shoal.vectors import unit_rows

_TERMS, _ARRAYS = "word_view.json", "word_view.safetensors"
# Terms that reach fewer of the texts than this say little about the corpus.
_ENOUGH = 0.5
# A share of fewer texts than this is no sign of a common word.
_FEW = 10
# Lengths and singular values below this, relative to 1 and to the largest, are rounding errors of float32.
_NOTHING = 1e-6


class WordView:
    """Unit vectors from sublinear TF-IDF, as they are or reduced by an SVD (latent semantic analysis).

    The terms are words, or pairs of neighbouring characters where words reach fewer than half of the texts, as in
    languages written without spaces. Where neither do, ``max_df`` is dropped first (all texts alike), then
    ``min_df`` (no two texts alike).

    Parameters
    ----------
    n_components : int, default=200
        Dimensions of :meth:`encode`; fewer if the corpus has not as many.
    min_df : int, default=2
        A term is in as many texts at least: one that is in a single text connects it with no other.
    max_df : float, default=0.2
        A term is in this share of the texts at most, or in ten. It takes the place of a list of stop words, in any
        language.

    Examples
    --------
    >>> view = WordView().fit(["c++ pointer", "pointer in c++", "bread oven", "an oven for bread"])
    >>> (view.encode(["C++!"]) @ view.encode(["pointer", "bread", "unheard"]).T).round(3).tolist()
    [[1.0, 0.0, 0.0]]
    """

    truncated = 0

    def __init__(self, *, n_components: int = 200, min_df: int = 2, max_df: float = 0.2) -> None:
        self.n_components = n_components
        self.min_df = min_df
        self.max_df = max_df

    def fit(self, texts: Sequence[str]) -> WordView:
        """Learn the terms, their weights and the singular vectors; the same texts give the same view."""
        if self.n_components < 1 or self.min_df < 1 or not 0 < self.max_df <= 1:
            raise ParameterError(
                f"n_components={self.n_components}, min_df={self.min_df}, max_df={self.max_df} but the first two are "
                "at least 1 and max_df is a share above 0 and up to 1; pass values in these ranges."
            )
        counts = self._choose_terms(texts)
        frequency = counts.getnnz(axis=0)
        # scikit-learn's smoothed form: ln((1 + n) / (1 + df)) + 1
        self._idf = (np.log((1 + len(texts)) / (1 + frequency)) + 1).astype(np.float32)
        self._components = _right_singular_vectors(self._weighted(counts), self.n_components)
        return self

    def tfidf(self, texts: Sequence[str]) -> csr_matrix:
        """Return TF-IDF weights, (len(texts), number of terms), rows of length one or zero."""
        return self._weighted(_count(texts, self._columns, self._pairs))

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (len(texts), dimension), rows of length one; a text without a known term is the zero vector."""
        vectors = np.asarray(self.tfidf(texts) @ self._components, dtype=np.float32)
        vectors[np.linalg.norm(vectors, axis=1) < _NOTHING] = 0
        return unit_rows(vectors)

    def save(self, folder: Path) -> None:
        """Write terms, weights and singular vectors into ``folder``."""
        content = {"pairs": self._pairs, "terms": list(self._columns)}
        (folder / _TERMS).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        save_file({"idf": self._idf, "components": self._components}, folder / _ARRAYS)

    @classmethod
    def load(cls, folder: Path) -> WordView:
        """Read what :meth:`save` wrote."""
        content = json.loads((folder / _TERMS).read_text(encoding="utf-8"))
        view, arrays = cls(), load_file(folder / _ARRAYS)
        view._pairs = content["pairs"]
        view._columns = {term: column for column, term in enumerate(content["terms"])}
        view._idf, view._components = arrays["idf"], arrays["components"]
        return view

    def _choose_terms(self, texts: Sequence[str]) -> csr_matrix:
        """Keep the first kind of terms that reaches enough texts, or else the one that reaches most; count them."""
        best = -1.0
        for pairs, min_df, max_df in (
            (False, self.min_df, self.max_df),
            (True, self.min_df, self.max_df),
            (False, self.min_df, 1.0),
            (True, self.min_df, 1.0),
            (False, 1, 1.0),
        ):
            columns = {term: column for column, term in enumerate(sorted(set(_all_terms(texts, pairs))))}
            counts = _count(texts, columns, pairs)
            n_speaking = max(int((counts.getnnz(axis=1) > 0).sum()), 1)  # texts with any term at all
            frequency = counts.getnnz(axis=0)
            kept = np.flatnonzero((frequency >= min_df) & (frequency <= max(max_df * len(texts), _FEW)))
            reached = float((counts[:, kept].getnnz(axis=1) > 0).sum() / n_speaking)
            if reached > best:
                best, chosen = reached, counts[:, kept]
                terms = list(columns)
                self._pairs, self._columns = pairs, {terms[old]: new for new, old in enumerate(kept)}
            if best >= _ENOUGH:
                break
        return chosen

    def _weighted(self, counts: csr_matrix) -> csr_matrix:
        """Return (1 + ln tf) · idf, rows scaled to length one."""
        weights = (1 + np.log(counts.data)) * self._idf[counts.indices]
        weighted = csr_matrix((weights, counts.indices, counts.indptr), shape=counts.shape)
        # scikit-learn's refuses a matrix without rows or columns
        return normalize(weighted) if weighted.nnz else weighted


def _right_singular_vectors(weights: csr_matrix, n_components: int) -> NDArray[np.float32]:
    """Return (number of terms, dimension); one dimension of zeros for a corpus without terms."""
    if not weights.nnz:
        return np.zeros((weights.shape[1], 1), dtype=np.float32)
    most = max(1, min(weights.shape) - 1)
    _, singular, right = randomized_svd(weights, min(n_components, most), n_iter=4, random_state=0)
    # Directions that no text of the corpus has would be arbitrary ones for new texts.
    # Contiguous, because safetensors would write the rows of another layout in the wrong order.
    return np.ascontiguousarray(right[singular > _NOTHING * singular[0]].T, dtype=np.float32)


def _count(texts: Sequence[str], columns: dict[str, int], pairs: bool) -> csr_matrix:
    """Count the known terms of each text, (len(texts), len(columns))."""
    found = [[columns[term] for term in _terms(text, pairs) if term in columns] for text in texts]
    ends = np.cumsum([0, *map(len, found)])
    places = np.array([column for row in found for column in row], dtype=np.int32)
    counts = csr_matrix((np.ones(len(places), np.float32), places, ends), shape=(len(texts), len(columns)))
    counts.sum_duplicates()  # which also sorts: a row's sums do not depend on the order of its words
    return counts


def _all_terms(texts: Sequence[str], pairs: bool) -> Iterator[str]:
    """Terms of all texts."""
    return (term for text in texts for term in _terms(text, pairs))


def _terms(text: str, pairs: bool) -> list[str]:
    """Words of a text in small letters, or the pairs of neighbouring characters inside them."""
    words: list[str] = _word_pattern().findall(text.lower())
    if not pairs:
        return words
    return [word[i : i + 2] for word in words for i in range(max(1, len(word) - 1))]


@cache
def _word_pattern() -> re.Pattern[str]:
    """Match letters and digits with their marks, and a full stop before or plus and hash signs after them."""
    # Python's \w leaves out the vowel signs of many scripts, which are marks; those of the living ones are below 65536.
    marks = "".join(chr(code) for code in range(2**16) if unicodedata.category(chr(code)).startswith("M"))
    return re.compile(rf"\.?\w[\w{re.escape(marks)}]*[+#]*")
