"""TF-IDF: scikit-learn's, for word counts and for weights that were read from a file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfTransformer


def inverse_document_frequency(counts: csr_matrix) -> NDArray[np.float32]:
    """Return ln((1 + n) / (1 + df)) + 1 per column; n is the number of rows, df the number of rows it occurs in.

    Examples
    --------
    >>> inverse_document_frequency(csr_matrix([[1, 2], [0, 1]])).round(3)
    array([1.405, 1.   ], dtype=float32)
    """
    if not counts.nnz:  # scikit-learn refuses a matrix without rows or columns
        return np.ones(counts.shape[1], dtype=np.float32)
    # scikit-learn computes in the type of the counts; here only the result is rounded to float32.
    weights: NDArray[np.float32] = TfidfTransformer().fit(counts.astype(np.float64)).idf_.astype(np.float32)
    return weights


def tfidf(
    counts: csr_matrix, idf: NDArray[np.float32], *, sublinear: bool = False, norm: str | None = "l2"
) -> csr_matrix:
    """Return tf · idf, or (1 + ln tf) · idf if ``sublinear``; rows have length one or zero unless ``norm=None``.

    Examples
    --------
    >>> tfidf(csr_matrix([[3.0, 4.0], [0.0, 0.0]]), np.ones(2)).toarray().tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    if not counts.nnz:  # scikit-learn refuses a matrix without rows or columns
        return counts
    weights = TfidfTransformer(sublinear_tf=sublinear, norm=norm)
    weights.idf_ = idf
    return csr_matrix(weights.transform(counts))
