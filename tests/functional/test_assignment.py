from __future__ import annotations

import math

import pytest
import torch

from shoal.functional import cluster_kl, student_t, target_distribution


def randn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


class TestStudentT:
    def test_by_hand(self):
        # squared distances 4 and 9: kernels 1/5 and 1/10
        q = student_t(torch.tensor([[2.0, 0.0]]), torch.tensor([[0.0, 0.0], [2.0, 3.0]]))
        torch.testing.assert_close(q, torch.tensor([[2 / 3, 1 / 3]]))

    def test_alpha_by_hand(self):
        # squared distances 3 and 0 with alpha 3: (1 + 1)^-2 = 1/4 and 1
        q = student_t(torch.tensor([[0.0]]), torch.tensor([[math.sqrt(3)], [0.0]]), alpha=3.0)
        torch.testing.assert_close(q, torch.tensor([[0.2, 0.8]]))

    def test_identical_points_are_evenly_unsure(self):
        q = student_t(torch.ones(3, 4), torch.ones(5, 4))
        torch.testing.assert_close(q, torch.full((3, 5), 0.2))

    def test_single_cluster_takes_all(self):
        assert student_t(torch.randn(3, 2), torch.randn(1, 2)).tolist() == [[1.0]] * 3

    @pytest.mark.parametrize("alpha", [0.1, 1.0, 10.0, 1000.0])
    def test_far_points_stay_finite(self, alpha):
        embeddings = torch.tensor([[1e9, 0.0], [0.0, 0.0]], requires_grad=True)
        q = student_t(embeddings, torch.tensor([[0.0, 0.0], [1e9, 1.0], [-1e9, 0.0]]), alpha)
        cluster_kl(target_distribution(q).detach(), q).backward()
        torch.testing.assert_close(q.sum(1), torch.ones(2))
        assert torch.isfinite(embeddings.grad).all()

    def test_far_from_the_origin_nothing_changes(self):
        embeddings, centers = torch.tensor([[2.0, 0.0]]) + 4096, torch.tensor([[0.0, 0.0], [2.0, 3.0]]) + 4096
        torch.testing.assert_close(student_t(embeddings, centers), torch.tensor([[2 / 3, 1 / 3]]))

    def test_gradient(self):
        embeddings, centers = randn(4, 3), randn(5, 3)[2:]
        embeddings[0] = centers[0]  # on top of a center as well
        inputs = (embeddings.clone().requires_grad_(), centers.clone().requires_grad_())
        assert torch.autograd.gradcheck(student_t, inputs)


class TestTargetDistribution:
    def test_by_hand(self):
        q = torch.tensor([[0.9, 0.1], [0.6, 0.4]])
        # f = 1.5, 0.5; row 0: .54 : .02; row 1: .24 : .32
        expected = torch.tensor([[54 / 56, 2 / 56], [24 / 56, 32 / 56]])
        torch.testing.assert_close(target_distribution(q), expected)

    def test_even_stays_even(self):
        torch.testing.assert_close(target_distribution(torch.full((3, 4), 0.25)), torch.full((3, 4), 0.25))

    def test_single_cluster(self):
        torch.testing.assert_close(target_distribution(torch.ones(3, 1)), torch.ones(3, 1))

    @pytest.mark.parametrize("faint", [0.0, 1e-30, 1e-42])
    def test_a_deserted_cluster_stays_finite(self, faint):
        p = target_distribution(torch.tensor([[1.0, faint], [1.0, faint]]))
        assert torch.isfinite(p).all()
        torch.testing.assert_close(p.sum(1), torch.ones(2))


class TestClusterKL:
    def test_by_hand(self):
        p, q = torch.tensor([[0.5, 0.5], [1.0, 0.0]]), torch.tensor([[0.25, 0.75], [0.5, 0.5]])
        first = 0.5 * math.log(2) + 0.5 * math.log(2 / 3)
        assert cluster_kl(p, q).item() == pytest.approx((first + math.log(2)) / 2)

    def test_zero_for_equals(self):
        q = student_t(randn(5, 3), randn(4, 3))
        assert cluster_kl(q, q).item() == pytest.approx(0.0, abs=1e-12)

    def test_zeros_are_safe(self):
        q = torch.tensor([[1.0, 0.0], [0.0, 1.0]], requires_grad=True)
        loss = cluster_kl(torch.tensor([[1.0, 0.0], [1.0, 0.0]]), q)
        loss.backward()
        assert torch.isfinite(loss)
        assert loss.item() > 10
        assert torch.isfinite(q.grad).all()

    def test_gradient(self):
        q = student_t(randn(4, 3), randn(5, 3)).requires_grad_()
        p = target_distribution(q).detach()
        assert torch.autograd.gradcheck(lambda q: cluster_kl(p, q), q)
