from __future__ import annotations

import itertools

import numpy as np
import pytest

from shoal.errors import DataError
from shoal.metrics import moved_pairs
from shoal.metrics.pairs import APART, LABELLED, STAYED, TOGETHER


def cosines(vectors):
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit @ unit.T


@pytest.fixture
def spaces():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 6)), rng.normal(size=(40, 4)), [f"class {i % 3}" for i in range(40)]


@pytest.mark.parametrize("block", [7, 512])
def test_the_strongest_pair_of_each_kind_is_the_strongest_of_all_pairs(spaces, block, monkeypatch):
    monkeypatch.setattr("shoal.metrics.pairs.BLOCK", block)
    before, after, labels = spaces
    was, now = cosines(before), cosines(after)
    strength = {
        STAYED: lambda i, j: min(was[i, j], now[i, j]),
        TOGETHER: lambda i, j: now[i, j] - was[i, j],
        APART: lambda i, j: was[i, j] - now[i, j],
    }
    found = {(pair.kind, pair.same_class): pair for pair in moved_pairs(before, after, labels, n=1)}
    assert list(found) == list(LABELLED)
    for (kind, same), pair in found.items():
        pairs = [(i, j) for i, j in itertools.combinations(range(40), 2) if (labels[i] == labels[j]) == same]
        assert (pair.left, pair.right) == max(pairs, key=lambda both, kind=kind: strength[kind](*both))
        assert (pair.before, pair.after) == pytest.approx((was[pair.left, pair.right], now[pair.left, pair.right]))
    unlabelled = moved_pairs(before, after, n=1)
    assert [(pair.kind, pair.same_class) for pair in unlabelled] == [(STAYED, None), (TOGETHER, None), (APART, None)]


def test_a_text_is_in_one_pair_of_a_kind_and_the_strongest_come_first(spaces):
    before, after, _ = spaces
    pairs = [pair for pair in moved_pairs(before, after, n=5) if pair.kind == TOGETHER]
    assert len({row for pair in pairs for row in (pair.left, pair.right)}) == 10
    moved = [pair.after - pair.before for pair in pairs]
    assert moved == sorted(moved, reverse=True)


def test_equal_texts_are_no_pair_and_what_did_not_move_did_not_move():
    vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    pairs = moved_pairs(vectors, vectors)
    assert {pair.kind for pair in pairs} == {STAYED}
    assert {(pair.left, pair.right) for pair in pairs} <= {(0, 2), (1, 2)}


def test_of_many_texts_a_fixed_sample_is_compared(spaces):
    before, after, _ = spaces
    pairs = moved_pairs(before, after, max_texts=10)
    assert len({row for pair in pairs for row in (pair.left, pair.right)}) <= 10
    assert pairs == moved_pairs(before, after, max_texts=10)
    assert moved_pairs(before[:1], after[:1]) == []


def test_rows_must_belong_together(spaces):
    before, after, labels = spaces
    with pytest.raises(DataError, match="before has 40 rows, after 39, labels none"):
        moved_pairs(before, after[1:])
    with pytest.raises(DataError, match="labels 39; pass one of each per text"):
        moved_pairs(before, after, labels[1:])
