import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.text.words import is_unspaced, pieces, split_words, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C++, C# and F#", ["C++", "C#", "and", "F#"]),
        ("C/C++ with g++", ["C", "C++", "with", "g++"]),
        ("ASP.NET on .NET (.NET 4.5)", ["ASP.NET", "on", ".NET", ".NET", "4.5"]),
        ("node.js app. Next one.Then", ["node.js", "app", "Next", "one", "Then"]),
        ("PL/SQL, TCP/IP, R&D and/or", ["PL/SQL", "TCP/IP", "R&D", "and", "or"]),
        ("state-of-the-art - snake_case", ["state-of-the-art", "snake_case"]),
        ("don\u2019t O'Brien's", ["don't", "O'Brien"]),
        ("l\u2019été, qu'il n'a d'une dell'arte", ["été", "il", "a", "une", "arte"]),
        ("Straße naïve Ærø Łódź", ["Straße", "naïve", "Ærø", "Łódź"]),
        ("cafe\u0301", ["café"]),
        ("हिन्दी भाषा।", ["हिन्दी", "भाषा"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("机器学习。你好", ["机器学习", "你好"]),
        ("データを分析する", ["データ", "分析"]),
        ("see https://example.org/a?b or me@example.org, #tag @you", ["see", "or", "tag", "you"]),
        ("a &amp; b", ["a", "b"]),
        ("", []),
        ("?!… --- ___", []),
    ],
)
def test_words_of_many_kinds_of_text(text, expected):
    assert words(text) == expected


def test_a_word_longer_than_any_real_one_is_left_out():
    assert words("short " + "x" * 41 + " end") == ["short", "end"]


def test_unspaced_scripts():
    assert is_unspaced("机器")
    assert is_unspaced("แมว")
    assert not any(map(is_unspaced, ["", "word", "データ", "한국어", "हिन्दी"]))


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
    found = split_words(text)
    assert [word.text for word in found] == expected
    assert [text[word.start : word.end] for word in found] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("?! -- 🐟 ❤️", []),
        ("c++, c# and .net!", ["c++", "c#", "and", ".net"]),
        ("don't well-known node.js", ["don", "t", "well", "known", "node", ".js"]),
        ("snake_case 20 हिन्दी", ["snake_case", "20", "हिन्दी"]),
        ("天气 e\u0301cole ދިވެހި", ["天气", "e\u0301cole", "ދިވެހި"]),
        # marks beyond the basic plane part pieces, and a mark alone is none
        ("\u0301a a\U00011100b", ["a", "a", "b"]),
    ],
)
def test_pieces(text, expected):
    assert pieces(text) == expected


@pytest.mark.parametrize("word", ["ދިވެހި", "བོད", "हिन्दी", "שָׁלוֹם", "tiếng"])
def test_all_three_keep_a_word_with_its_marks(word):
    assert words(word) == pieces(word) == [found.text for found in split_words(word)] == [word]


@pytest.mark.parametrize("mark", ["\u0301", "\U00011100", "\U000e0100"])
def test_marks_belong_to_the_word_they_end(mark):
    assert split_words(f"(a{mark})") == [(1, 2 + len(mark), f"a{mark}")]


def test_a_mark_without_a_letter_is_no_word():
    assert words("❤️ \u0301 x") == ["x"]


def is_letter_or_mark(character):
    return character.isalnum() or unicodedata.category(character).startswith("M")


@given(st.text(st.one_of(st.characters(), st.sampled_from("a_.'- \t\u3000\u0301\U00011100"))))
def test_split_words_are_runs_between_spaces_without_what_surrounds_them(text):
    found = split_words(text)
    assert [text[word.start : word.end] for word in found] == [word.text for word in found]
    inside = {place for word in found for place in range(word.start, word.end)}
    for word in found:
        assert is_letter_or_mark(word.text[0])
        assert is_letter_or_mark(word.text[-1])
        assert not any(map(str.isspace, word.text))
    assert not any(is_letter_or_mark(character) for place, character in enumerate(text) if place not in inside)


@given(st.text())
def test_pieces_hold_every_letter(text):
    letters = [character for character in text if character.isalnum() or character == "_"]
    assert [character for piece in pieces(text) for character in piece if character in letters] == letters
