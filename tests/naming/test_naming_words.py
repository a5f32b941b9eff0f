import pytest

from shoal.naming.words import is_unspaced, terms, words


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


def test_terms_are_words_and_pairs_that_do_not_cross_punctuation_or_stop_words():
    found = list(terms("open the red door, close window", {"the"}))
    assert found == ["open", "red", "door", "red door", "close", "window", "close window"]


def test_a_number_is_no_term_but_may_end_one():
    assert list(terms("2007 was Windows 7 beta 3.5")) == [
        "was",
        "Windows",
        "was Windows",
        "Windows 7",
        "beta",
        "beta 3.5",
    ]


def test_a_lone_small_letter_is_no_term_and_a_capital_is():
    assert list(terms("R x")) == ["R", "R x"]


def test_han_gives_two_to_four_characters_and_none_across_a_stop_character():
    assert list(terms("我的苹果", {"的", "我"})) == ["苹果"]
    assert set(terms("自然语言处")) == {
        *("自然", "然语", "语言", "言处"),
        *("自然语", "然语言", "语言处"),
        *("自然语言", "然语言处"),
    }


def test_a_lone_han_character_is_a_term():
    assert list(terms("猫がいる")) == ["猫"]


def test_thai_marks_stay_with_their_letters():
    assert "รถยนต์" in set(terms("รถยนต์"))
    assert not any(term.startswith("์") for term in terms("รถยนต์"))


def test_unspaced_scripts():
    assert is_unspaced("机器")
    assert is_unspaced("แมว")
    assert not any(map(is_unspaced, ["", "word", "データ", "한국어", "हिन्दी"]))
