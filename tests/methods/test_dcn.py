"""DCN: three steps in turns, each as the paper has it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.functional import mse_loss

from shoal import DCN
from shoal.encoder.auto_encoder import AutoEncoder
from shoal.functional import kmeans_term, nearest_center, running_centers
from shoal.methods.objectives.dcn import FIRST_COUNT, DCNObjective
from shoal.training import VectorCorpus

VECTORS = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)


@pytest.fixture
def objective():
    torch.manual_seed(0)
    made = DCNObjective(AutoEncoder((5, 4, 2)), n_clusters=3, kmeans_weight=0.5, n_init=1)
    made.initialise(made.encoder(torch.from_numpy(VECTORS)).detach().numpy(), np.random.RandomState(0))
    return made


def test_centres_and_counts_start_by_kmeans(objective):
    codes = objective.encoder(torch.from_numpy(VECTORS)).detach()
    labels = objective.labels(codes.numpy())
    assert objective.counts.tolist() == np.bincount(labels).tolist()
    for k in range(3):
        torch.testing.assert_close(objective.centers[k], codes[labels == k].mean(dim=0))
    large = np.random.default_rng(0).normal(size=(1000, 2)).astype(np.float32)
    objective.initialise(large, np.random.RandomState(0))
    assert objective.counts.tolist() == [FIRST_COUNT] * 3


def test_a_step_moves_assignments_then_centres_and_returns_the_cost(objective):
    batch = VectorCorpus(VECTORS).batch(np.arange(8))
    z = objective.encoder(batch.vectors)
    assigned = nearest_center(z, objective.centers)
    centers, counts = running_centers(z.detach(), assigned, objective.centers, objective.counts)
    terms = objective.train()(batch)
    assert torch.equal(objective.centers, centers)
    assert torch.equal(objective.counts, counts)
    torch.testing.assert_close(terms["reconstruction"], mse_loss(objective.decoder(z), batch.vectors))
    torch.testing.assert_close(terms["kmeans"], 0.25 / 5 * kmeans_term(z, centers, assigned))
    objective.eval()(batch)
    assert torch.equal(objective.counts, counts)  # only training moves them


def test_only_the_network_has_gradients(objective):
    terms = objective.train()(VectorCorpus(VECTORS).batch(np.arange(8)))
    sum(terms.values()).backward()
    assert all(parameter.grad is not None for parameter in objective.parameters())
    assert {name.split(".")[0] for name, _ in objective.named_parameters()} == {"encoder", "decoder"}


def test_labels_are_the_nearest_centres():
    model = DCN(3, hidden=[4], pretrain_epochs=5, epochs=3, batch_size=16, n_init=1).fit(VECTORS)
    codes = model.transform(VECTORS)
    distances = ((codes[:, None] - model.cluster_centers_[None]) ** 2).sum(axis=2)
    assert (distances.argmin(axis=1) == model.labels_).all()
