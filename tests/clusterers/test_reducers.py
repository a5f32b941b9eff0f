from __future__ import annotations

import sys

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA

from shoal.clusterers import Neighbours, fit_pca, fit_umap
from shoal.clusterers import reducers as reducers_module
from shoal.errors import MissingExtraError, ParameterError


def test_pca_equals_scikit_learns_up_to_sign(cloud, rng):
    vectors = cloud * np.array([5, 4, 3, 2, 1, 0.5], np.float32) + 7
    ours = fit_pca(vectors, 3, rng).transform(vectors)
    theirs = PCA(3, svd_solver="full").fit_transform(vectors.astype(np.float64))
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours * np.sign((ours * theirs).sum(axis=0)), theirs, atol=1e-3)


def test_pca_of_a_row_is_a_matter_of_its_own(cloud, rng, reborn):
    found = fit_pca(cloud, 2, rng)
    whole = found.transform(cloud)
    np.testing.assert_allclose(np.concatenate([found.transform(row[None]) for row in cloud]), whole, atol=1e-5)
    np.testing.assert_array_equal(reborn(found).transform(cloud), whole)
    assert found.transform(cloud[:0]).shape == (0, 2)


@pytest.mark.parametrize("n_components", [0, 7, -1])
def test_pca_names_what_the_data_allow(cloud, rng, n_components):
    message = f"n_components={n_components} but 200 vectors of dimension 6 allow 1 to 6"
    with pytest.raises(ParameterError, match=message):
        fit_pca(cloud, n_components, rng)
    with pytest.raises(ParameterError, match="4 vectors of dimension 6 allow 1 to 4"):
        fit_pca(cloud[:4], 5, rng)


@pytest.mark.parametrize("scale", [1e-4, 1, 1e4])
def test_a_known_point_goes_where_it_was_put_at_any_scale(cloud, scale):
    places = np.random.default_rng(3).normal(size=(200, 2)).astype(np.float32)
    found = Neighbours(cloud * np.float32(scale), places, 15)
    np.testing.assert_allclose(found.transform(cloud * np.float32(scale)), places, atol=1e-4)


def test_a_new_point_goes_between_its_neighbours_by_hand():
    points = np.array([[0, 0], [3, 0], [100, 0]], np.float32)
    places = np.array([[0, 10], [17, 10], [-999, 0]], np.float32)
    # Distances 1 and 2, weights 1 and 1/16: a seventeenth of the way.
    found = Neighbours(points, places, 2).transform(np.array([[1, 0]], np.float32))
    np.testing.assert_allclose(found, [[1, 10]], rtol=1e-5)


def test_duplicates_share_the_mean_of_their_places():
    points, places = np.zeros((2, 3), np.float32), np.array([[0, 2], [4, 4]], np.float32)
    np.testing.assert_allclose(Neighbours(points, places, 2).transform(points), [[2, 3], [2, 3]])


def test_neighbours_do_not_depend_on_company_nor_blocks(cloud, monkeypatch, reborn):
    places = np.random.default_rng(3).normal(size=(150, 2)).astype(np.float32)
    found = Neighbours(cloud[:150], places, 15)
    whole = found.transform(cloud)
    order = np.random.default_rng(4).permutation(len(cloud))
    np.testing.assert_allclose(found.transform(cloud[order]), whole[order], atol=1e-6)
    np.testing.assert_allclose(np.concatenate([found.transform(row[None]) for row in cloud]), whole, atol=1e-6)
    np.testing.assert_array_equal(reborn(found).transform(cloud), whole)
    monkeypatch.setattr(reducers_module, "BLOCK_ROWS", 7)
    np.testing.assert_allclose(found.transform(cloud), whole, atol=1e-6)


def test_fewer_points_than_neighbours():
    points, places = np.eye(2, dtype=np.float32), np.array([[1], [3]], np.float32)
    np.testing.assert_allclose(Neighbours(points, places, 15).transform(points), places, atol=1e-4)


@pytest.mark.slow  # its compiler takes ten seconds to start
def test_umap_keeps_separate_groups_apart_and_repeats_its_own_places(groups, reborn):
    vectors, labels = groups
    found = fit_umap(vectors, 2, np.random.RandomState(0), n_neighbors=10)
    placed = found.transform(vectors)
    assert placed.shape == (90, 2)
    assert np.abs(placed - found.places).max() < 1e-3 * np.ptp(found.places)
    centers = np.stack([placed[labels == k].mean(axis=0) for k in range(3)])
    nearest = np.linalg.norm(placed[:, None] - centers[None], axis=2).argmin(axis=1)
    assert (nearest == labels).all()
    np.testing.assert_allclose(np.concatenate([found.transform(row[None]) for row in vectors]), placed, atol=1e-5)
    np.testing.assert_array_equal(reborn(found).transform(vectors), placed)


@pytest.mark.parametrize(
    ("n_components", "n_neighbors", "message"),
    [
        (9, 15, "n_components=9 but UMAP on 10 texts gives 1 to 8"),
        (0, 15, "n_components=0 but UMAP on 10 texts gives 1 to 8"),
        (2, 1, "n_neighbors=1 but UMAP needs at least 2"),
    ],
)
def test_umap_names_what_it_needs(cloud, rng, monkeypatch, n_components, n_neighbors, message):
    monkeypatch.setitem(sys.modules, "umap", object())  # refused before it is asked
    with pytest.raises(ParameterError, match=message):
        fit_umap(cloud[:10], n_components, rng, n_neighbors=n_neighbors)


def test_umap_that_is_not_installed_names_its_extra(cloud, rng, monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(MissingExtraError, match=r"reducer='umap' needs an optional package; .* 'shoal\[umap\]'"):
        fit_umap(cloud, 2, rng)


@pytest.mark.slow
def test_umap_leaves_the_number_of_threads_alone():
    before = torch.get_num_threads()
    fit_umap(np.random.RandomState(0).normal(size=(20, 4)).astype(np.float32), 2, np.random.RandomState(0))
    assert torch.get_num_threads() == before
