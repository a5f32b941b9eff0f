from __future__ import annotations

import numpy as np
import pytest
import torch

from shoal.functional import neighbourhood_contrast, nt_xent
from shoal.methods.objectives.vascl import VaSCLObjective, nearest_in_batch
from shoal.methods.vascl import VaSCL
from tiny_backbone import tiny_backbone

ANIMALS = ["cat", "dog", "horse", "sheep", "goat"]
TEXTS = [f"the {animal} {verb}" for animal in ANIMALS for verb in ("ran", "slept")]


@pytest.fixture(scope="module")
def backbone(tmp_path_factory):
    return tiny_backbone(tmp_path_factory.mktemp("backbone"), ("the", "ran", "slept", *ANIMALS))


@pytest.fixture
def objective():
    torch.manual_seed(0)
    options = {"projection_dim": 4, "n_neighbors": 3, "temperature": 0.1, "radius": 0.5, "weight": 1.0}
    return VaSCLObjective(torch.nn.Identity(), **options, n_clusters=2, dimension=6, n_init=1)


class Pair:
    """A batch of two views, given as they are."""

    def __init__(self, left, right):
        self.both, self.length = torch.cat([left, right]), len(left)

    def __len__(self):
        return self.length

    def encoded_by(self, encoder):
        return encoder(self.both)


def test_the_worst_direction_is_worse_than_chance(objective):
    e = torch.randn(12, 6)
    neighbours, distance = nearest_in_batch(e, 3)
    z = objective.project(e).detach()

    def loss(direction):
        moved = objective.project(e + 0.5 * distance * direction)
        return neighbourhood_contrast(z, moved, neighbours, 0.1, both_ways=False).item()

    worst = objective.worst_direction(e, neighbours, distance)
    torch.testing.assert_close(worst.norm(dim=1), torch.ones(12))
    chance = [loss(torch.nn.functional.normalize(torch.randn(12, 6), dim=1)) for _ in range(20)]
    assert loss(worst) > max(chance)


def test_two_terms(objective):
    left, right = torch.randn(8, 6), torch.randn(8, 6)
    terms = objective(Pair(left, right))
    torch.testing.assert_close(terms["contrastive"], nt_xent(objective.project(left), objective.project(right), 0.1))
    assert terms["neighbourhood"] > 0
    objective.weight = 0.0
    assert list(objective(Pair(left, right))) == ["contrastive"]
    assert list(objective(Pair(left[:1], right[:1]))) == ["contrastive"]


def test_only_the_neighbours_count():
    v = torch.nn.functional.normalize(torch.randn(6, 5, generator=torch.Generator().manual_seed(0)), dim=1)
    neighbours = torch.tensor([[1], [0], [3], [2], [5], [4]])
    other = v.clone()
    other[4:] = -other[4:]
    ours, theirs = (neighbourhood_contrast(x[:4], x[:4], neighbours[:4], 0.5) for x in (v, other))
    torch.testing.assert_close(ours, theirs)


def test_both_ways_by_hand():
    v, w = torch.eye(2), torch.tensor([[0.6, 0.8], [0.0, 1.0]])
    neighbours = torch.tensor([[1], [0]])
    from_v = [(0.6, (0.0, 0.0)), (1.0, (0.0, 0.8))]  # own pair; the other's v and w
    from_w = [(0.6, (0.8, 0.8)), (1.0, (0.0, 0.8))]
    expected = np.mean([np.log(np.exp(p) + sum(np.exp(n))) - p for p, n in [*from_v, *from_w]])
    assert neighbourhood_contrast(v, w, neighbours, 1.0).item() == pytest.approx(expected, abs=1e-6)


def test_training_changes_the_vectors_and_the_presets_fit(backbone):
    model = VaSCL(2, backbone=backbone, batch_size=5, max_steps=4, learning_rate=1e-3, tolerance=None).fit(TEXTS)
    before, after = model.before_and_after(TEXTS)
    assert any(record.get("neighbourhood") for record in model.history_)
    assert np.isfinite(after).all()
    assert np.abs(before - after).max() > 0 or model.outcome_["rolled_back"]
    for preset in VaSCL.presets.values():
        VaSCL(2, **preset)
