from __future__ import annotations

import pytest

from shoal.augment.words import match_case, splice
from shoal.text.words import split_words


def test_splice_keeps_everything_else():
    text = "  Red, red car!"
    first, second, _ = split_words(text)
    assert splice(text, {first: "Crimson", second: ""}) == "  Crimson,  car!"
    assert splice(text, {}) == text


@pytest.mark.parametrize(
    ("word", "like", "expected"),
    [
        ("auto", "I", "Auto"),
        ("auto", "USA", "AUTO"),
        ("NASA", "Agency", "NASA"),
        ("", "Car", ""),
        ("x", "", "x"),
    ],
)
def test_match_case(word, like, expected):
    assert match_case(word, like) == expected
