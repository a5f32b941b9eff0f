from shoal.naming.terms import terms


def test_terms_are_words_and_phrases_that_do_not_cross_punctuation():
    found = list(terms("open the red door, close window", {"the"}))
    assert found == [
        *("open", "open the red", "open the red door", "red", "red door", "door"),
        *("close", "close window", "window"),
    ]


def test_phrases_end_with_particles_and_start_with_negations_but_no_other_stop_word():
    stop_words = {"my", "up", "is", "not", "how", "for", "it"}
    assert list(terms("my top up is not working", stop_words)) == ["top", "top up", "not working", "working"]
    assert list(terms("how long for it", stop_words)) == ["how long", "long"]


def test_a_number_is_no_term_but_may_end_one():
    assert list(terms("2007 Windows 7 beta 3.5")) == ["Windows", "Windows 7", "beta", "beta 3.5"]


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
