from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.neighbors import NearestNeighbors

from shoal.clusterers import Neighbourhood, graph_of, nearest_neighbours, smoothed, smoothing_matrix
from shoal.clusterers import neighbour_graph as module
from shoal.errors import DataError
from shoal.vectors import unit_rows


@pytest.fixture
def word_rows():
    """Rows of few words, as TF-IDF gives them; the last has none."""
    rng = np.random.default_rng(2)
    rows = rng.random((80, 40)) * (rng.random((80, 40)) < 0.15)
    rows[-1] = 0
    return csr_matrix(unit_rows(rows.astype(np.float32)))


def test_dense_rows_have_scikit_learns_neighbours(cloud):
    vectors = unit_rows(cloud)
    distances, indices = NearestNeighbors(n_neighbors=8, metric="cosine").fit(vectors).kneighbors()
    found = nearest_neighbours(vectors, 8)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_allclose(found.cosines, 1 - distances, atol=1e-6)
    assert (found.indices.dtype, found.cosines.dtype) == (np.int64, np.float32)


def test_sparse_and_dense_rows_agree(word_rows):
    sparse, dense = nearest_neighbours(word_rows, 5), nearest_neighbours(word_rows.toarray(), 5)
    np.testing.assert_allclose(sparse.cosines, dense.cosines, atol=1e-6)
    clear = (np.diff(-sparse.cosines[:, :5], axis=1) > 1e-5).all(axis=1) & (sparse.cosines[:, -1] > 0)
    assert clear.sum() > 30
    np.testing.assert_array_equal(sparse.indices[clear, :4], dense.indices[clear, :4])


@pytest.mark.parametrize("block_rows", [1, 7, 1000])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_blocks_do_not_show(cloud, word_rows, kind, block_rows):
    vectors = unit_rows(cloud) if kind == "dense" else word_rows
    whole, blocked = nearest_neighbours(vectors, 4), nearest_neighbours(vectors, 4, block_rows)
    np.testing.assert_array_equal(blocked.indices, whole.indices)
    np.testing.assert_allclose(blocked.cosines, whole.cosines, atol=1e-6)


def test_no_block_holds_all_pairs(cloud, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_ENTRIES", 1000)
    monkeypatch.setattr(module, "BLOCK_ROWS", 1)
    shapes = []
    largest = module._largest
    monkeypatch.setattr(module, "_largest", lambda values, k: (shapes.append(values.shape), largest(values, k))[1])
    nearest_neighbours(unit_rows(cloud), 3)
    assert set(shapes) == {(5, 200)}


def test_the_lower_index_wins_a_tie():
    rows = np.eye(2, dtype=np.float32)[[0, 1, 0, 0, 1, 0]]
    found = nearest_neighbours(rows, 1)
    assert found.indices.tolist() == [[2], [4], [0], [0], [1], [0]]
    found = nearest_neighbours(rows, 2)
    assert found.indices[[0, 2, 3, 5]].tolist() == [[2, 3], [0, 3], [0, 2], [0, 2]]
    assert found.indices[[1, 4], 0].tolist() == [4, 1]  # the other has cosine 0, whichever it is
    assert found.cosines[[1, 4]].tolist() == [[1, 0], [1, 0]]


def test_ties_at_the_border_of_a_row_with_larger_values():
    # Two values above the tie of four, one of which has a place.
    values = np.array([[0.5, 0.9, 0.5, 0.1, 0.5, 0.8, 0.5]], np.float32)
    columns, found = module._largest(values, 3)
    assert columns.tolist() == [[1, 5, 0]]
    np.testing.assert_array_equal(found, np.array([[0.9, 0.8, 0.5]], np.float32))
    assert module._largest(values, 6)[0].tolist() == [[1, 5, 0, 2, 4, 6]]


def test_a_zero_row_has_cosine_0_to_all_and_no_edge(word_rows):
    found = nearest_neighbours(word_rows, 3)
    assert found.cosines[-1].tolist() == [0, 0, 0]
    assert graph_of(found)[79].nnz == 0


@pytest.mark.parametrize(("n_rows", "k"), [(1, 0), (2, 1), (5, 4)])
def test_k_is_cut_to_the_others(cloud, n_rows, k):
    found = nearest_neighbours(unit_rows(cloud[:n_rows]), 10)
    assert found.indices.shape == found.cosines.shape == (n_rows, k)
    for row, others in enumerate(found.indices.tolist()):
        assert sorted([row, *others]) == list(range(n_rows))
    assert graph_of(found).shape == (n_rows, n_rows)


def test_a_graph_by_hand():
    first = Neighbourhood(np.array([[1], [2], [0]]), np.array([[0.5], [-0.25], [0.125]], np.float32))
    second = Neighbourhood(np.array([[1], [0], [1]]), np.array([[0.25], [0.5], [-1]], np.float32))
    # 0 → 1 weighs 0.5 + 0.25, 1 → 0 weighs 0.5, 2 → 0 weighs 0.125; what is negative is no edge
    expected = [[0, 0.75, 0.125], [0.75, 0, 0], [0.125, 0, 0]]
    graph = graph_of(first, second)
    assert graph.toarray().tolist() == expected
    assert graph.nnz == 4


def test_neighbourhoods_of_other_rows_are_refused(cloud):
    with pytest.raises(DataError, match=r"have \[5, 4\] rows"):
        graph_of(nearest_neighbours(cloud[:5], 2), nearest_neighbours(cloud[:4], 2))


def test_the_smoothing_matrix_by_hand():
    # G + I has the row sums 4, 4 and 1
    matrix = smoothing_matrix(csr_matrix(np.array([[0, 3, 0], [3, 0, 0], [0, 0, 0]], np.float32)))
    np.testing.assert_allclose(matrix.toarray(), [[0.25, 0.75, 0], [0.75, 0.25, 0], [0, 0, 1]], atol=1e-6)
    assert matrix.dtype == np.float32


def test_the_smoothing_matrix_never_amplifies(cloud):
    matrix = smoothing_matrix(graph_of(nearest_neighbours(unit_rows(cloud), 5))).toarray()
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-7)
    assert np.abs(np.linalg.eigvalsh(matrix)).max() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(("steps", "strength"), [(1, 1.0), (2, 1.0), (2, 0.3)])
def test_smoothed_vectors_follow_the_formula(cloud, steps, strength):
    vectors = unit_rows(cloud)
    matrix = smoothing_matrix(graph_of(nearest_neighbours(vectors, 5)))
    power = np.linalg.matrix_power(matrix.toarray().astype(np.float64), steps)
    found = smoothed(vectors, matrix, steps, strength)
    np.testing.assert_allclose(found, unit_rows(vectors + strength * unit_rows(power @ vectors)), atol=1e-5)
    assert found.dtype == np.float32


def test_no_strength_leaves_the_vectors_alone(cloud):
    vectors = unit_rows(cloud)
    matrix = smoothing_matrix(graph_of(nearest_neighbours(vectors, 5)))
    np.testing.assert_allclose(smoothed(vectors, matrix, strength=0.0), vectors, atol=1e-6)
    assert not smoothed(np.zeros((200, 6), np.float32), matrix).any()
