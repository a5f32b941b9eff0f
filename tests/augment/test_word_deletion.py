from __future__ import annotations

import pytest

from shoal.augment import WordDeletion


def test_what_is_left_is_a_subsequence():
    text = "one two, three four five six seven eight nine (ten)"
    for seed in range(20):
        left = iter(WordDeletion(0.3).augment([text], seed)[0].split())
        assert sum(word in text.split() for word in left) == 7


@pytest.mark.parametrize("text", ["word", "word !", "a b"])
def test_at_least_one_word_stays(text):
    for seed in range(5):
        (left,) = WordDeletion(1.0).augment([text], seed)
        assert any(character.isalpha() for character in left)


def test_one_word_stays_as_it_is():
    assert WordDeletion(1.0).augment(["  word ! "], seed=0) == ["  word ! "]
