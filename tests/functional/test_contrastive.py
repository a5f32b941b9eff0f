from __future__ import annotations

import math

import pytest
import torch

from shoal.functional import cross_view_contrast, nt_xent


def random_views(m: int, d: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(m, d, generator=generator, dtype=torch.float64) for _ in range(2))


def test_by_hand_at_right_angles():
    left, right = torch.tensor([[2.0, 0.0], [0.0, 1.0]]), torch.tensor([[1.0, 0.0], [0.0, 3.0]])
    # every view: partner at cosine 1, two others at cosine 0; the lengths must not matter
    expected = -math.log(math.exp(2) / (math.exp(2) + 2))
    assert nt_xent(left, right, temperature=0.5).item() == pytest.approx(expected)


def test_equals_the_sum_written_out():
    left, right = random_views(5, 3)
    z = [row / row.norm() for row in (*left, *right)]
    terms = []
    for i in range(10):
        similarity = [math.exp(float(z[i] @ z[j]) / 0.3) for j in range(10)]
        terms.append(-math.log(similarity[(i + 5) % 10] / (sum(similarity) - similarity[i])))
    assert nt_xent(left, right, 0.3).item() == pytest.approx(sum(terms) / 10)


def test_gradient():
    left, right = (view.requires_grad_() for view in random_views(3, 4))
    assert torch.autograd.gradcheck(lambda a, b: nt_xent(a, b, 0.5), (left, right))


def test_views_are_exchangeable():
    left, right = random_views(6, 4)
    torch.testing.assert_close(nt_xent(left, right), nt_xent(right, left))


def test_order_of_texts_does_not_matter():
    left, right = random_views(6, 4)
    torch.testing.assert_close(nt_xent(left.flip(0), right.flip(0)), nt_xent(left, right))


def test_one_text_has_no_negatives():
    assert nt_xent(torch.ones(1, 3), torch.randn(1, 3)).item() == 0


def test_identical_points_cost_the_log_of_the_choices():
    same = torch.ones(4, 3)
    assert nt_xent(same, same).item() == pytest.approx(math.log(7))


def test_a_tiny_temperature_and_zero_vectors_stay_finite():
    left = torch.tensor([[1.0, 0.0], [0.0, 0.0]], requires_grad=True)
    loss = nt_xent(left, torch.tensor([[-1.0, 0.0], [0.0, 1.0]]), temperature=1e-3)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(left.grad).all()


def test_cross_view_equals_equations_2_to_4_written_out():
    left, right = random_views(4, 3)
    v1, v2 = ([row / row.norm() for row in view] for view in (left, right))
    total = 0.0
    for own, other in ((v1, v2), (v2, v1)):
        for i in range(4):
            similarity = [math.exp(float(own[i] @ other[m]) / 0.3) for m in range(4)]
            total += -math.log(similarity[i] / (sum(similarity) - similarity[i]))
    assert cross_view_contrast(left, right, 0.3).item() == pytest.approx(total / 4)


def test_cross_view_gradient_and_one_text():
    left, right = (view.requires_grad_() for view in random_views(3, 4))
    assert torch.autograd.gradcheck(lambda a, b: cross_view_contrast(a, b, 0.5), (left, right))
    one = torch.ones(1, 3, requires_grad=True)
    loss = cross_view_contrast(one, one)
    loss.backward()
    assert loss.item() == 0
    assert not one.grad.any()
