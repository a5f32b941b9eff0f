from __future__ import annotations

import numpy as np
import pytest
import torch

from shoal.training import BestState, Guard, Signs

GOOD = Signs(size_entropy=0.9, empty_clusters=0, mean_cosine=0.2, effective_rank=20.0, agreement=0.8, quality=0.6)


def two_groups(n=20, dimension=8, seed=0):
    rng = np.random.default_rng(seed)
    centers = np.eye(dimension)[:2] * 3
    labels = np.repeat([0, 1], n // 2)
    return (centers[labels] + 0.3 * rng.normal(size=(n, dimension))).astype(np.float32), labels


def changed(**signs):
    return Signs(**{**GOOD.as_dict(), **signs})


@pytest.fixture
def guard():
    vectors, _ = two_groups()
    guard = Guard(vectors, n_clusters=20, seed=0)
    guard.start = GOOD
    return guard


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        ({"empty_clusters": 3}, "clusters ran empty: 0 at the start, 3 now"),
        ({"size_entropy": 0.7}, "uneven: entropy 0.90, now 0.70"),
        ({"mean_cosine": 0.7}, "collapsed: mean cosine 0.20, now 0.70"),
        ({"effective_rank": 4.0}, "lost directions: rank 20.0, now 4.0"),
        ({"agreement": 0.6}, "separated: agreement 0.80, now 0.60"),
        ({"mean_cosine": float("nan")}, "vectors are not finite"),
        ({"empty_clusters": 2, "size_entropy": 0.8, "agreement": 0.7, "effective_rank": 10.0}, "^$"),
        ({"agreement": 0.9, "quality": 0.7}, "^$"),
    ],
)
def test_signs_of_decay_raise_the_alarm_and_changes_within_bounds_do_not(guard, now, reason):
    import re

    assert re.search(reason, guard.alarm(changed(**now)))


def test_the_end_is_regretted_only_if_the_best_was_clearly_better(guard):
    assert not guard.regret(GOOD, changed(quality=0.59))
    assert guard.regret(GOOD, changed(quality=0.5)) == "quality fell: 0.600 at best, 0.500 at the end"


def test_signs_of_two_clean_groups():
    vectors, labels = two_groups()
    guard = Guard(vectors, n_clusters=2, seed=0)
    signs = guard.evaluate(vectors, labels)
    assert guard.neighbours.shape == (20, 5)  # half a cluster
    assert signs.agreement == 1
    assert signs.quality == pytest.approx(0.5)  # chance gives a half
    assert (signs.size_entropy, signs.empty_clusters) == (1.0, 0)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = (unit @ unit.T)[~np.eye(20, dtype=bool)]
    assert signs.mean_cosine == pytest.approx(cosines.mean(), abs=1e-5)


def test_one_cluster_for_all_has_no_quality_and_random_labels_hardly_any():
    vectors, labels = two_groups(n=200)
    guard = Guard(vectors, n_clusters=2, seed=0)
    assert guard.evaluate(vectors, np.zeros(200, dtype=np.int64)).quality == pytest.approx(0)
    mixed = np.random.default_rng(0).permutation(labels)
    assert abs(guard.evaluate(vectors, mixed).quality) < 0.05 < guard.evaluate(vectors, labels).quality


def test_neighbours_are_those_of_the_starting_space():
    vectors, labels = two_groups()
    guard = Guard(vectors, n_clusters=2, seed=0)
    scrambled = np.random.default_rng(1).normal(size=vectors.shape).astype(np.float32)
    assert guard.evaluate(scrambled, labels).agreement == guard.evaluate(vectors, labels).agreement


def test_effective_rank_counts_directions():
    rng = np.random.default_rng(0)
    for rank in (1, 3):
        flat = (rng.normal(size=(400, rank)) @ np.eye(rank, 10)).astype(np.float32)
        signs = Guard(flat, 2, seed=0).evaluate(flat, np.arange(400) % 2)
        assert signs.effective_rank == pytest.approx(rank, rel=0.05)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_handful_of_texts_is_no_error(n):
    vectors = np.eye(n, 4, dtype=np.float32)
    guard = Guard(vectors, n_clusters=1, seed=0)
    assert guard.alarm(guard.evaluate(vectors, np.zeros(n, dtype=np.int64))) == ""


def test_its_state_comes_back():
    vectors, labels = two_groups()
    guard = Guard(vectors, n_clusters=2, seed=3)
    signs = guard.evaluate(vectors, labels)
    again = Guard.from_state(guard.state_dict())
    assert again.start == signs
    assert again.evaluate(vectors, labels) == signs


def test_the_best_state_is_kept_apart_from_what_follows():
    module = torch.nn.Linear(2, 1)
    best = BestState()
    best.offer(0, changed(quality=0.5), module)
    kept = module.weight.detach().clone()
    with torch.no_grad():
        module.weight.add_(1)
    best.offer(1, changed(quality=0.4), module)
    assert best.step == 0
    again = BestState()
    again.load_state_dict(best.state_dict())
    again.restore(module)
    assert torch.equal(module.weight, kept)
