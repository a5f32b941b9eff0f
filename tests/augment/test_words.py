from __future__ import annotations

import pytest

from shoal.augment.words import match_case, splice
from shoal.word_space import split_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("?! -- 🐟", []),
        ("Don't stop.", ["Don't", "stop"]),
        ("«Élan», (नमस्ते) 東京!", ["Élan", "नमस्ते", "東京"]),
        ("well-known C# e-mail: a@b.org", ["well-known", "C", "e-mail", "a@b.org"]),
        ("one\ttwo\u00a0three", ["one", "two", "three"]),
    ],
)
def test_split_words(text, expected):
    words = split_words(text)
    assert [word.text for word in words] == expected
    assert [text[word.start : word.end] for word in words] == expected


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
