from importlib.resources import files

import pytest

from shoal.errors import ParameterError
from shoal.text.stop_words import STOP_WORDS, function_words, resolve_stop_words

SENTENCES = {
    "en": "Why does the engine not start when it is cold?",
    "de": "Warum springt der Motor nicht an, wenn es kalt ist?",
    "fr": "Pourquoi le moteur ne démarre pas quand il fait froid ?",
    "es": "¿Por qué no arranca el motor cuando hace frío en la calle?",
    "it": "Perché il motore non parte quando fa freddo nella notte?",
    "pt": "Por que o motor não pega quando está frio na minha rua?",
    "nl": "Waarom start de motor niet als het koud is op straat?",
    "ru": "Почему мотор не заводится, когда на улице холодно?",
}


def test_every_list_has_a_test_and_is_case_folded():
    assert set(STOP_WORDS) == set(SENTENCES)
    for listed in STOP_WORDS.values():
        assert all(word == word.casefold() for word in listed)


def test_auto_takes_only_the_languages_of_the_corpus():
    found = resolve_stop_words("auto", [SENTENCES["de"]])
    assert {"der", "nicht", "的"} <= found
    assert "the" not in found


def test_own_words_and_none():
    assert resolve_stop_words(["Foo", "bar"], ["the"]) == {"foo", "bar"}
    assert resolve_stop_words(None, ["the"]) == frozenset()


def test_another_string_is_an_error_that_names_the_choices():
    with pytest.raises(ParameterError, match=r'stop_words="english".*"auto", None or a list'):
        resolve_stop_words("english", [])


def test_one_file_per_language_and_one_word_per_line():
    folder = files("shoal.text.stop_words")
    lists = {file.name.removesuffix(".txt"): file for file in folder.iterdir() if file.name.endswith(".txt")}
    assert set(lists) == {*STOP_WORDS, "zh"}
    sizes = {"en": 259, "de": 216, "fr": 200, "es": 207, "it": 207, "pt": 211, "nl": 162, "ru": 127, "zh": 45}
    for code, file in lists.items():
        listed = file.read_text(encoding="utf-8").splitlines()
        assert len(listed) == len(set(listed)) == sizes[code]
        assert all(word == word.strip().casefold() != "" for word in listed)


def test_chinese_function_words_are_always_omitted():
    assert {"的", "可以"} <= resolve_stop_words("auto", []) & resolve_stop_words("auto", ["机器学习"])


def test_other_languages_have_lists_and_no_character_of_a_chinese_word_is_one():
    assert "och" in resolve_stop_words("auto", ["Varför startar inte motorn när det är kallt ute på gatan?"])
    assert {"为什么", "如果"} <= function_words("zh")
    assert not {"中", "人", "国"} & resolve_stop_words("auto", ["中国人民银行下调利率"])


def test_without_the_extra_only_our_own_lists_count(monkeypatch):
    monkeypatch.setattr("shoal.text.stop_words.find_spec", lambda name: None)
    assert function_words("sv") == frozenset()
    assert function_words("de")
