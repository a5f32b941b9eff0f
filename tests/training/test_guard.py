from __future__ import annotations

import numpy as np
import pytest
import torch

from shoal.clusterers import fit_kmeans
from shoal.metrics import scores
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
        ({"mean_cosine": float("nan")}, "vectors are not finite"),
        ({"empty_clusters": 2, "size_entropy": 0.8, "agreement": 0.7, "effective_rank": 10.0}, "^$"),
        ({"empty_clusters": 3, "size_entropy": 0.7, "gain": 0.1}, "^$"),  # other sizes, but better clusters
        ({"mean_cosine": 0.7, "gain": 0.1}, "collapsed"),
    ],
)
def test_signs_of_decay_raise_the_alarm_and_changes_within_bounds_do_not(guard, now, reason):
    import re

    assert re.search(reason, guard.alarm(changed(**now)))


def test_the_end_is_regretted_only_if_the_best_was_clearly_better(guard):
    assert not guard.regret(GOOD, changed(gain=-0.001))
    assert not guard.regret(changed(gain=0.03), changed(gain=0.02))
    assert guard.regret(changed(gain=0.03), changed(gain=0.005))
    assert guard.regret(changed(gain=0.001), changed(gain=-0.01))
    assert not guard.regret(changed(gain=-0.01), changed(gain=-0.01))
    assert "gain over the start 0.000 at best, -0.100 at the end" in guard.regret(GOOD, changed(gain=-0.1))


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


def weak_and_clean(n=600, k=6, seed=0):
    """Returns a start in which noise hides the classes, a space that shows them, and the clusters of both."""
    rng = np.random.RandomState(seed)
    classes = np.arange(n) % k
    weak = (0.6 * np.eye(k, 20)[classes] + 0.35 * rng.normal(size=(n, 20))).astype(np.float32)
    clean = (np.eye(k, 20)[classes] + 0.15 * rng.normal(size=(n, 20))).astype(np.float32)
    labels = [fit_kmeans(space, k, rng).scores(space).argmax(axis=1) for space in (weak, clean)]
    return weak, clean, *labels, classes


@pytest.mark.parametrize("seed", range(3))
def test_a_far_better_space_after_a_weak_start_is_kept(seed):
    weak, clean, weak_labels, clean_labels, classes = weak_and_clean(seed=seed)
    assert scores(classes, weak_labels)["nmi"] < 60 < 95 < scores(classes, clean_labels)["nmi"]
    guard = Guard(weak, n_clusters=6, seed=0)
    start, end = guard.evaluate(weak, weak_labels), guard.evaluate(clean, clean_labels)
    assert (guard.alarm(end), guard.regret(start, end)) == ("", "")
    assert end.gain > 0.1


@pytest.mark.parametrize("seed", range(3))
def test_a_space_that_was_scrambled_is_not(seed):
    weak, clean, weak_labels, clean_labels, _ = weak_and_clean(seed=seed)
    guard = Guard(clean, n_clusters=6, seed=0)
    start, end = guard.evaluate(clean, clean_labels), guard.evaluate(weak, weak_labels)
    assert "neighbours were separated" in guard.regret(start, end)


def test_words_judge_where_there_are_any():
    weak, clean, weak_labels, clean_labels, classes = weak_and_clean()
    words = np.eye(6, dtype=np.float32)[classes]
    guard = Guard(weak, 6, seed=0, words=words)
    guard.evaluate(weak, weak_labels)
    better = guard.evaluate(clean, clean_labels)
    assert better.gain > 0.2
    # A space drawn together around wrong clusters is at one with itself; the words are not fooled.
    wrong = np.where(np.arange(600) % 5, weak_labels, (weak_labels + 1) % 6)
    sharp = np.eye(6, 20, dtype=np.float32)[wrong] + 0.01 * clean
    harmed = guard.evaluate(sharp, wrong)
    assert "neighbours were separated" in guard.regret(guard.start, harmed)
    again = Guard.from_state(guard.state_dict())
    assert again.evaluate(sharp, wrong) == harmed


def test_texts_without_words_do_not_judge():
    weak, clean, weak_labels, clean_labels, classes = weak_and_clean()
    words = np.eye(6, dtype=np.float32)[classes]
    words[::3] = 0
    guard = Guard(weak, 6, seed=0, words=words)
    assert len(guard.judged) == 400
    assert np.intersect1d(np.r_[guard.judged, guard.alike.ravel()], np.arange(0, 600, 3)).size == 0
    words[1::3] = 0  # two of three say nothing: the spaces judge
    silent, spaces = (Guard(weak, 6, seed=0, words=given) for given in (words, None))
    for each in (silent, spaces):
        each.evaluate(weak, weak_labels)
    assert silent.evaluate(clean, clean_labels) == spaces.evaluate(clean, clean_labels)


def test_the_gain_has_a_standard_error():
    words = np.eye(2, dtype=np.float32)[[0, 0, 1, 1]]  # one neighbour each, the other of the pair
    guard = Guard(words, n_clusters=2, seed=0, words=words)
    assert guard.evaluate(words, np.array([0, 1, 0, 1])).gain_error == 0
    now = guard.evaluate(words, np.array([0, 0, 0, 1]))
    # Kept at the start: (0 - 1/2) / (1/2) = -1 for each text; now, chance being 5/8: 1, 1, -5/3, -5/3.
    assert (now.gain, now.gain_error) == pytest.approx((2 / 3, 2 / 3))
    assert not now.proven
    assert guard.doubt(now) == "no gain beyond chance: 0.6667 over the start, with a standard error of 0.6667"


def test_only_other_clusters_need_proof(guard):
    assert not guard.doubt(GOOD)
    assert not guard.doubt(changed(gain=0.01, gain_error=0.004))
    assert guard.doubt(changed(gain=0.01, gain_error=0.006))
    assert guard.doubt(changed(gain=-0.001, gain_error=0.001))


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
    best.offer(0, changed(gain=0.5), module)
    kept = module.weight.detach().clone()
    with torch.no_grad():
        module.weight.add_(1)
    best.offer(1, changed(gain=0.4), module)
    assert best.step == 0
    latest = BestState()
    for step, gain in ((0, 0.5), (1, 0.4)):
        latest.offer(step, changed(gain=gain), module, always=True)
    assert latest.step == 1
    again = BestState()
    again.load_state_dict(best.state_dict())
    again.restore(module)
    assert torch.equal(module.weight, kept)
