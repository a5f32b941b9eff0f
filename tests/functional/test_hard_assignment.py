from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shoal.functional import kmeans_term, nearest_center, running_centers


@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(1, 6), st.integers(1, 8))
def test_the_assignment_step_never_raises_the_kmeans_term(seed, n, k, d):
    torch.manual_seed(seed)
    z, centers, before = torch.randn(n, d).double(), torch.randn(k, d).double(), torch.randint(k, (n,))
    after = nearest_center(z, centers)
    assert kmeans_term(z, centers, after) <= kmeans_term(z, centers, before) + 1e-12
    # Row by row no other centre is nearer: whatever the assignment was before, its term was no less.
    own = (z - centers[after]).square().sum(dim=1)
    for other in centers:
        assert (own <= (z - other).square().sum(dim=1) + 1e-12).all()


def test_kmeans_term_by_hand():
    z, centers = torch.tensor([[0.0, 0.0], [3.0, 4.0], [1.0, 0.0]]), torch.tensor([[0.0, 0.0], [1.0, 1.0]])
    assert kmeans_term(z, centers, torch.tensor([0, 0, 1])).item() == pytest.approx((0 + 25 + 1) / 3)
    assert nearest_center(z, centers).tolist() == [0, 1, 0]  # the last is as near to either: the first wins


def test_the_batch_step_is_the_papers_step_vector_by_vector():
    torch.manual_seed(0)
    z, assigned = torch.randn(20, 3).double(), torch.randint(4, (20,))
    centers, counts = torch.randn(4, 3).double(), torch.tensor([5.0, 1.0, 9.0, 2.0]).double()
    one_by_one, so_far = centers.clone(), counts.clone()
    for vector, k in zip(z, assigned, strict=True):
        so_far[k] += 1
        one_by_one[k] -= (one_by_one[k] - vector) / so_far[k]
    found, after = running_centers(z, assigned, centers, counts)
    torch.testing.assert_close(found, one_by_one)
    assert torch.equal(after, so_far)


def test_a_centre_without_vectors_stays():
    centers, counts = running_centers(torch.ones(2, 1), torch.tensor([1, 1]), torch.zeros(2, 1), torch.ones(2))
    assert centers[0].item() == 0
    assert counts.tolist() == [1, 3]
