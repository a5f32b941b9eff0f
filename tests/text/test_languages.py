from __future__ import annotations

import numpy as np
import pytest

from shoal.text.languages import Languages, find_languages

SENTENCES = {
    "en": "Why does the engine not start when it is cold?",
    "de": "Warum springt der Motor nicht an, wenn es kalt ist?",
    "fr": "Pourquoi le moteur ne démarre pas quand il fait froid ?",
    "es": "¿Por qué no arranca el motor cuando hace frío en la calle?",
    "it": "Perché il motore non parte quando fa freddo nella notte?",
    "pt": "Por que o motor não pega quando está frio na minha rua?",
    "nl": "Waarom start de motor niet als het koud is op straat?",
    "ru": "Почему мотор не заводится, когда на улице холодно?",
    "sv": "Varför startar inte motorn när det är kallt ute på gatan?",
    "tr": "Hava soğuk olduğunda motor neden çalışmıyor?",
    "zh": "天气冷的时候发动机为什么启动不了？",
    "ja": "寒いときにエンジンがかからないのはなぜですか？",
    "ko": "추울 때 엔진이 왜 시동이 걸리지 않나요?",
    "th": "ทำไมเครื่องยนต์ถึงสตาร์ทไม่ติดเมื่ออากาศหนาว",
    "ar": "لماذا لا يعمل المحرك عندما يكون الجو باردا؟",
    "hi": "ठंड होने पर इंजन क्यों नहीं चालू होता है?",
}


@pytest.mark.parametrize("code", SENTENCES)
def test_one_sentence_tells_its_language(code):
    assert find_languages([SENTENCES[code]]).codes == (code,)


@pytest.mark.parametrize(
    "texts",
    [
        [],
        ["x", "y"],
        ["12 34", "..."],
        ["red apple", "fast car", "engine start cold", "oil in Texas"],
        ["kubectl rollout status", "npm ERR! peer dep", "c++ std::vector"],
        [f"word{i} thing{i}" for i in range(30)],
    ],
)
def test_what_tells_nothing_is_english(texts):
    found = find_languages(texts)
    assert found.codes == ("en",)
    assert found.foreign == 0


def test_a_corpus_of_two_languages_is_mixed_and_each_text_has_its_own():
    english = [f"The engine number {i} does not start when it is cold outside" for i in range(30)]
    german = [f"Der Motor mit der Nummer {i} springt nicht an, wenn es draußen kalt ist" for i in range(10)]
    found = find_languages(english + german)
    assert found.codes == ("en", "de")
    assert found.mixed
    assert found.shares["de"] == pytest.approx(0.25)
    assert found.of([german[0], english[0], "ok"]).tolist() == [1, 0, 0]


def test_a_stray_text_makes_no_mixed_corpus():
    english = [f"Why does the engine number {i} not start when it is cold?" for i in range(200)]
    found = find_languages([*english, SENTENCES["de"]])
    assert (found.codes, found.mixed) == (("en",), False)


def test_the_answer_does_not_depend_on_the_order():
    texts = [f"{sentence} {i}" for i in range(80) for sentence in SENTENCES.values()]
    order = np.random.RandomState(0).permutation(len(texts))
    assert find_languages(texts) == find_languages([texts[i] for i in order])


def test_it_is_said_in_words():
    assert str(Languages({"de": 0.97, "en": 0.03})) == "German"
    assert str(Languages({"zh": 0.6, "qu": 0.4})) == "Chinese 60 %, qu 40 %"
