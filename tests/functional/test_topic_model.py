from __future__ import annotations

import math

import pytest
import torch

from shoal.functional import bag_nll, gaussian_kl, negative_elbo, topic_words


def bags(counts: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    owner, word = counts.nonzero(as_tuple=True)
    return owner, word, counts[owner, word]


def random_model(n: int, k: int, t: int, v: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    counts = torch.randint(0, 3, (n, v), generator=generator).double()
    theta = torch.randn(n, t, generator=generator, dtype=torch.float64).softmax(dim=1)
    beta = torch.randn(k, t, v, generator=generator, dtype=torch.float64).softmax(dim=2)
    return counts, theta, beta


def test_words_of_a_topic_by_hand():
    # logits 1 and 0: e / (e + 1); logits 2 and 4: 1 / (1 + e^2)
    beta = topic_words(torch.tensor([[[1.0, 0.0], [2.0, 4.0]]]), torch.eye(2))
    expected = [[math.e / (math.e + 1), 1 / (math.e + 1)], [1 / (1 + math.e**2), math.e**2 / (1 + math.e**2)]]
    torch.testing.assert_close(beta, torch.tensor([expected]))


def test_words_sum_to_one_over_the_vocabulary():
    generator = torch.Generator().manual_seed(1)
    beta = topic_words(torch.randn(3, 4, 6, generator=generator), 30 * torch.randn(50, 6, generator=generator))
    assert beta.shape == (3, 4, 50)
    torch.testing.assert_close(beta.sum(dim=-1), torch.ones(3, 4))


def test_a_bag_by_hand():
    # theta = (1/4, 3/4); word 0: 1/4 * 1/2 + 3/4 * 1/6 = 1/4; word 2: 1/4 * 1/4 + 3/4 * 1/2 = 7/16
    theta = torch.tensor([[0.25, 0.75]])
    beta = torch.tensor([[[1 / 2, 1 / 4, 1 / 4], [1 / 6, 1 / 3, 1 / 2]]])
    found = bag_nll(*bags(torch.tensor([[2.0, 0.0, 1.0]])), theta, beta)
    assert found.item() == pytest.approx(-(2 * math.log(1 / 4) + math.log(7 / 16)))


def test_the_sparse_form_is_equation_13():
    counts, theta, beta = random_model(n=6, k=3, t=2, v=5)
    counts[4] = 0
    dense = -(counts[:, None, :] * torch.einsum("nt,ktv->nkv", theta, beta).log()).sum(dim=2)
    torch.testing.assert_close(bag_nll(*bags(counts), theta, beta), dense)
    assert not dense[4].any()


def test_gradients_reach_proportions_and_words():
    counts, theta, beta = random_model(n=3, k=2, t=2, v=4)
    parts = bags(counts)
    assert torch.autograd.gradcheck(lambda t, b: bag_nll(*parts, t, b), (theta.requires_grad_(), beta.requires_grad_()))


def test_a_word_that_cannot_be_stays_finite():
    nll = bag_nll(*bags(torch.tensor([[1.0, 1.0]])), torch.ones(1, 1), torch.tensor([[[1.0, 0.0]]]))
    assert torch.isfinite(nll).all()


def test_gaussian_kl_by_hand_and_against_torch():
    # mu = 1, sigma^2 = e: (1 + e - 1 - 1) / 2
    assert gaussian_kl(torch.ones(1, 1), torch.ones(1, 1)).item() == pytest.approx((math.e - 1) / 2)
    mean, log_variance = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(0)).unbind()
    own = torch.distributions.Normal(mean, (0.5 * log_variance).exp())
    standard = torch.distributions.Normal(torch.zeros(5, 3), torch.ones(5, 3))
    torch.testing.assert_close(gaussian_kl(mean, log_variance), torch.distributions.kl_divergence(own, standard))


def test_the_elbo_of_a_tiny_case_by_hand():
    # two texts, two topics, one cluster; the first text: word 0 twice, the second: word 1 once
    beta = topic_words(torch.tensor([[[math.log(3.0), 0.0], [0.0, 0.0]]]), torch.eye(2))  # (3/4, 1/4), (1/2, 1/2)
    theta = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    nll = bag_nll(*bags(torch.tensor([[2.0, 0.0], [0.0, 1.0]])), theta, beta)[:, 0]
    kl = gaussian_kl(torch.tensor([[2.0, 0.0], [0.0, 1.0]]), torch.zeros(2, 2))  # 2 + 0, 0 + 1/2
    expected = (-2 * math.log(3 / 4) - math.log(3 / 8)) / 2 + (2 + 0.5) / 2
    assert negative_elbo(nll, kl).item() == pytest.approx(expected)
    # free bits of 1/2 lift only the second dimension's mean of 1/4
    assert negative_elbo(nll, kl, free_bits=0.5).item() == pytest.approx(expected + 0.25)


def test_free_bits_take_the_gradient_away():
    kl = torch.tensor([[0.1, 2.0]], requires_grad=True)
    negative_elbo(torch.zeros(1), kl, free_bits=0.5).backward()
    assert kl.grad.tolist() == [[0.0, 1.0]]
