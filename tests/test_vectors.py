from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from shoal import vectors as vectors_module
from shoal.vectors import cluster_means, membership, squared_distances, unit_rows


@pytest.fixture
def rng():
    return np.random.default_rng(0)


class TestUnitRows:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_every_row_keeps_its_direction_and_has_length_one(self, rng, dtype):
        given = rng.normal(size=(20, 7)).astype(dtype) * np.logspace(-3, 3, 20, dtype=dtype)[:, None]
        unit = unit_rows(given)
        assert unit.dtype == dtype
        np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, rtol=1e-5)
        np.testing.assert_allclose(unit * np.linalg.norm(given, axis=1, keepdims=True), given, rtol=1e-5)

    def test_a_zero_row_stays_zero(self):
        assert unit_rows(np.zeros((2, 3), np.float32)).tolist() == [[0, 0, 0]] * 2

    def test_no_rows(self):
        assert unit_rows(np.empty((0, 3), np.float32)).shape == (0, 3)

    def test_what_is_given_is_left_alone(self):
        given = np.full((1, 2), 3.0)
        unit_rows(given)
        assert given.tolist() == [[3, 3]]


class TestSquaredDistances:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("block", [1, 7, 20, 512])
    def test_they_are_scipys_in_blocks_of_any_size(self, rng, monkeypatch, block, dtype):
        monkeypatch.setattr(vectors_module, "BLOCK_ROWS", block)
        rows, columns = (rng.normal(size=(n, 5)).astype(dtype) for n in (20, 11))
        found = squared_distances(rows, columns)
        assert found.dtype == np.float64
        expected = cdist(rows.astype(np.float64), columns.astype(np.float64), "sqeuclidean")
        np.testing.assert_allclose(found, expected, rtol=1e-10)

    def test_more_rows_than_a_block(self, rng):
        rows, columns = rng.normal(size=(vectors_module.BLOCK_ROWS + 3, 4)), rng.normal(size=(2, 4))
        np.testing.assert_allclose(squared_distances(rows, columns), cdist(rows, columns, "sqeuclidean"), rtol=1e-10)

    def test_float32_far_from_the_origin_keeps_small_distances(self, rng):
        rows = (1000 + rng.normal(size=(20, 5))).astype(np.float32)
        expected = cdist(rows.astype(np.float64), rows.astype(np.float64), "sqeuclidean")
        np.testing.assert_allclose(squared_distances(rows, rows), expected, rtol=1e-6)

    @pytest.mark.parametrize("scale", [1e-6, 1, 1e6])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_equal_points_are_exactly_nothing_apart_and_no_distance_is_negative(self, rng, scale, dtype):
        rows = (scale * rng.normal(size=(200, 384))).astype(dtype)
        found = squared_distances(rows, rows)
        assert not found.diagonal().any()
        assert (found[~np.eye(200, dtype=bool)] > 0).all()

    def test_nothing_to_compare(self):
        assert squared_distances(np.empty((0, 3)), np.ones((2, 3))).shape == (0, 2)
        assert squared_distances(np.ones((2, 3)), np.empty((0, 3))).shape == (2, 0)


class TestMembership:
    def test_its_product_with_vectors_is_the_sum_of_each_cluster(self, rng):
        labels, rows = np.array([2, 0, 2, 2, 0]), rng.normal(size=(5, 3))
        sums = membership(labels, 4, np.float64) @ rows
        np.testing.assert_allclose(
            sums, [rows[[1, 4]].sum(axis=0), np.zeros(3), rows[[0, 2, 3]].sum(axis=0), np.zeros(3)]
        )

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_every_row_is_in_one_cluster(self, dtype):
        found = membership(np.array([1, 0, 1]), 3, dtype)
        assert (found.shape, found.dtype) == ((3, 3), dtype)
        assert found.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 0, 0]]


class TestClusterMeans:
    def test_they_are_numpys_means(self, rng):
        labels, rows = np.arange(30) % 3, rng.normal(size=(30, 4)).astype(np.float32)
        found = cluster_means(rows, labels, 3)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, [rows[labels == k].mean(axis=0) for k in range(3)], rtol=1e-5)

    def test_a_cluster_without_members_is_at_zero(self):
        assert cluster_means(np.ones((2, 2)), np.array([2, 2]), 4).tolist() == [[0, 0], [0, 0], [1, 1], [0, 0]]

    def test_many_float32_rows_lose_nothing(self):
        rows = np.full((100_000, 1), 0.1, np.float32)
        assert cluster_means(rows, np.zeros(100_000, np.int64), 1)[0, 0] == np.float32(0.1)
