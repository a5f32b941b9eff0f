from __future__ import annotations

import pytest

from shoal.augment import CharSwap


def slips(word: str) -> set[str]:
    return {CharSwap(1.0).augment([word], seed)[0] for seed in range(200)}


@pytest.mark.parametrize("word", ["connection", "abcd", "aaaa", "поезд", "Straße"])
def test_one_slip_inside_the_word(word):
    for slip in slips(word):
        assert slip != word
        assert slip[0] == word[0]
        assert slip[-1] == word[-1]
        assert abs(len(slip) - len(word)) <= 1


def test_all_four_kinds_of_slip_occur():
    found = slips("abcde")
    assert {len(slip) for slip in found} == {4, 5, 6}
    assert found & {"acbde", "abdce"}
    assert any(len(slip) == 5 and sorted(slip) != sorted("abcde") for slip in found)


@pytest.mark.parametrize("text", ["to be or not", "東京", "a b, c!"])
def test_short_words_stay(text):
    assert CharSwap(1.0).augment([text], seed=0) == [text]


def test_letters_come_from_the_script_of_the_word():
    assert all(slip.isalpha() and not any(letter.isascii() for letter in slip) for slip in slips("поезд"))
