from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random_array
from sklearn.feature_extraction.text import TfidfTransformer

from shoal.text.tfidf import inverse_document_frequency, tfidf


@pytest.fixture(scope="module")
def counts():
    drawn = random_array((200, 40), density=0.1, rng=np.random.default_rng(0)).tocsr()
    drawn.data = np.ceil(4 * drawn.data)
    return csr_matrix(drawn, dtype=np.float32)


def test_by_hand():
    counts = csr_matrix(np.array([[2, 1], [0, 1]], dtype=np.float32))
    idf = inverse_document_frequency(counts)
    np.testing.assert_allclose(idf, [np.log(3 / 2) + 1, 1], rtol=1e-6)
    for sublinear, tf in ((False, 2), (True, 1 + np.log(2))):
        row = np.array([tf * idf[0], 1])
        found = tfidf(counts, idf, sublinear=sublinear).toarray()
        np.testing.assert_allclose(found, [row / np.linalg.norm(row), [0, 1]], rtol=1e-6)


@pytest.mark.parametrize("sublinear", [False, True])
def test_equals_scikit_learn_and_leaves_the_counts_alone(counts, sublinear):
    before = counts.copy()
    found = tfidf(counts, inverse_document_frequency(counts), sublinear=sublinear)
    theirs = TfidfTransformer(sublinear_tf=sublinear).fit_transform(counts.astype(np.float64))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.toarray(), theirs.toarray(), atol=1e-6)
    assert (counts != before).nnz == 0


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 3)])
def test_nothing_counted(shape):
    counts = csr_matrix(shape, dtype=np.float32)
    idf = inverse_document_frequency(counts)
    assert idf.shape == shape[1:]
    assert tfidf(counts, idf).shape == shape
