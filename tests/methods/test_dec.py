"""DEC and IDEC: target, divergence and gradients, and when they stop."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import mse_loss

from shoal import DEC, IDEC
from shoal.encoder.auto_encoder import AutoEncoder
from shoal.methods.objectives.dec import DECObjective, IDECObjective
from shoal.training import VectorCorpus

HEAD = {"n_texts": 3, "n_clusters": 2, "dimension": 1, "alpha": 1.0, "n_init": 1}


@pytest.fixture
def on_a_line():
    """Three points on a line, their own codes, and two centres: at 0 and at 2."""
    objective = DECObjective(nn.Identity(), **HEAD)
    with torch.no_grad():
        objective.centers.copy_(torch.tensor([[0.0], [2.0]]))
    points = np.array([[0.0], [1.0], [2.0]], dtype=np.float32)
    objective.refresh(points)
    return objective, VectorCorpus(points)


def test_target_and_divergence_by_hand(on_a_line):
    objective, corpus = on_a_line
    # q: kernels 1 and 1/5, 1/2 and 1/2, 1/5 and 1; so f = 3/2 for both clusters, and p is q² made to sum to 1.
    p = np.array([[25 / 26, 1 / 26], [1 / 2, 1 / 2], [1 / 26, 25 / 26]])
    np.testing.assert_allclose(objective.target.numpy(), p, rtol=1e-5)
    # The middle row has p = q; the outer ones have the same divergence.
    outer = 25 / 26 * np.log((25 / 26) / (5 / 6)) + 1 / 26 * np.log((1 / 26) / (1 / 6))
    terms = objective(corpus.batch(np.array([2, 1, 0])))
    assert list(terms) == ["cluster"]
    assert terms["cluster"].item() == pytest.approx(2 * outer / 3, rel=1e-5)
    assert objective.labels(np.array([[-5.0], [5.0]], dtype=np.float32)).tolist() == [0, 1]


@pytest.mark.parametrize("alpha", [1.0, 3.0])
def test_gradients_are_equations_4_and_5(alpha):
    rng = np.random.default_rng(0)
    objective = DECObjective(nn.Identity(), n_texts=6, n_clusters=3, dimension=4, alpha=alpha, n_init=1).double()
    z = torch.from_numpy(rng.normal(size=(6, 4))).requires_grad_()
    with torch.no_grad():
        objective.centers.copy_(torch.from_numpy(rng.normal(size=(3, 4))))
        objective.target.copy_(torch.softmax(torch.from_numpy(rng.normal(size=(6, 3))), dim=1))
    loss = objective.divergence(z, np.arange(6))
    by_code, by_centers = torch.autograd.grad(loss, [z, objective.centers])
    offsets = z.detach()[:, None] - objective.centers.detach()[None]  # (i, j, d)
    kernel = 1 / (1 + offsets.square().sum(dim=2) / alpha)
    q = kernel ** ((alpha + 1) / 2)
    q = q / q.sum(dim=1, keepdim=True)
    pull = (alpha + 1) / alpha * (kernel * (objective.target - q))[:, :, None] * offsets / len(z)  # ours is a mean
    torch.testing.assert_close(by_code, pull.sum(dim=1))  # eq. 4
    torch.testing.assert_close(by_centers, -pull.sum(dim=0))  # eq. 5


def test_the_target_stays_between_two_refreshes(on_a_line):
    objective, corpus = on_a_line
    before = objective.target.clone()
    with torch.no_grad():
        objective.centers.add_(0.3)
    objective(corpus.batch(np.arange(3)))
    assert torch.equal(objective.target, before)
    objective.refresh(corpus.matrix)
    assert not torch.equal(objective.target, before)


def test_idec_adds_the_reconstruction():
    torch.manual_seed(0)
    machine = AutoEncoder((5, 4, 2))
    head = {"n_texts": 8, "n_clusters": 2, "dimension": 2, "alpha": 1.0, "n_init": 1}
    idec = IDECObjective(machine.encoder, machine.decoder, gamma=0.1, **head)
    dec = DECObjective(machine.encoder, **head)
    vectors = np.random.default_rng(0).normal(size=(8, 5)).astype(np.float32)
    batch = VectorCorpus(vectors).batch(np.array([1, 6, 3]))
    codes = machine.encoder(torch.from_numpy(vectors)).detach().numpy()
    for objective in (idec, dec):
        objective.initialise(codes, np.random.RandomState(0))
    terms = idec(batch)
    torch.testing.assert_close(terms["cluster"], 0.1 * dec(batch)["cluster"])
    torch.testing.assert_close(terms["reconstruction"], mse_loss(machine(batch.vectors), batch.vectors))
    trained = {name for name, parameter in idec.named_parameters() if parameter.requires_grad}
    assert {name.split(".")[0] for name in trained} == {"encoder", "decoder", "centers"}


@pytest.mark.parametrize("method", [DEC, IDEC])
def test_targets_are_renewed_and_labels_counted_every_update_interval(method, monkeypatch, short_pretraining):
    vectors = np.random.default_rng(0).normal(size=(64, 6)).astype(np.float32)
    renewed = []
    refresh = DECObjective.refresh
    monkeypatch.setattr(DECObjective, "refresh", lambda self, codes: (renewed.append(len(codes)), refresh(self, codes)))
    small = {"batch_size": 16, "pretrain_epochs": 2, "epochs": 3, "n_init": 1, "hidden": [4]}

    def evaluations(**params):
        renewed.clear()
        history = method(3, **small, **params).fit(vectors).history_
        return [record["step"] for record in history if record.get("event") == "evaluation"]

    assert evaluations(update_interval=3, tolerance=None) == [0, 3, 6, 9, 12]
    assert renewed == [64] * 5  # the first is the start's
    assert evaluations(tolerance=None) == [0, 4, 8, 12]
    assert renewed == [64] * 4
    assert evaluations(update_interval=3, tolerance=1.0) == [0, 3]  # all labels may move: it stops at the first count
