from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering

from shoal.clusterers import LINKAGES, Linkage, fit_linkage
from shoal.clusterers import linkage as linkage_module
from shoal.errors import DataError


@pytest.mark.parametrize("offset", [0, 1000])
@pytest.mark.parametrize("linkage", LINKAGES)
def test_its_own_points_repeat_scikit_learns_labels(cloud, linkage, offset):
    vectors = cloud + np.float32(offset)
    theirs = AgglomerativeClustering(9, linkage=linkage).fit_predict(vectors)
    assert (fit_linkage(vectors, 9, linkage=linkage).scores(vectors).argmax(axis=1) == theirs).all()


def test_a_new_text_goes_with_its_nearest_neighbour():
    members = np.array([[0, 0], [1, 0], [10, 0]], np.float32)
    found = Linkage(members, np.array([1, 1, 0]), bandwidth=2.0)
    assert found.scores(np.array([[3, 0]], np.float32)).tolist() == [[-24.5, -2]]
    assert found.centers.tolist() == [[10, 0], [0.5, 0]]


def test_blocks_do_not_show(cloud, monkeypatch):
    found = fit_linkage(cloud, 5)
    whole = found.scores(cloud)
    monkeypatch.setattr(linkage_module, "BLOCK_ROWS", 7)
    np.testing.assert_allclose(found.scores(cloud), whole, rtol=1e-9, atol=1e-9)
    one_by_one = np.concatenate([found.scores(row[None]) for row in cloud])
    np.testing.assert_allclose(one_by_one, whole, rtol=1e-9, atol=1e-9)


def test_state_goes_through_safetensors(cloud, reborn):
    found = fit_linkage(cloud, 5, linkage="ward")
    again = reborn(found)
    np.testing.assert_array_equal(again.scores(cloud), found.scores(cloud))
    np.testing.assert_array_equal(again.centers, found.centers)


def test_too_many_texts_are_refused(cloud, monkeypatch):
    monkeypatch.setattr(linkage_module, "MAX_TEXTS", 199)
    with pytest.raises(DataError, match=r"with 200 texts .* the limit is 199: pass clusterer='spherical-kmeans'"):
        fit_linkage(cloud, 5)
    monkeypatch.setattr(linkage_module, "MAX_TEXTS", 200)
    assert len(fit_linkage(cloud, 5).centers) == 5


def test_as_many_clusters_as_points():
    vectors = np.eye(6, dtype=np.float32)
    assert sorted(fit_linkage(vectors, 6).scores(vectors).argmax(axis=1)) == list(range(6))


@pytest.mark.parametrize("n_points", [1, 2, 5])
def test_one_cluster(n_points):
    vectors = np.arange(n_points * 2, dtype=np.float32).reshape(n_points, 2)
    found = fit_linkage(vectors, 1)
    np.testing.assert_allclose(found.centers, vectors.mean(axis=0, keepdims=True))
    assert found.scores(vectors).argmax(axis=1).tolist() == [0] * n_points


def test_duplicates_stay_together(same_partition):
    vectors = np.repeat(np.eye(3, dtype=np.float32), [50, 2, 1], axis=0)
    assert same_partition(fit_linkage(vectors, 3).scores(vectors).argmax(axis=1), np.repeat(range(3), [50, 2, 1]))
