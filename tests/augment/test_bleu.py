from __future__ import annotations

import math

import pytest
from nltk.translate import bleu_score

from shoal.augment import bleu


def test_by_hand():
    # unigrams 3/4, bigrams (1+1)/(3+1), trigrams (0+1)/(2+1), 4-grams (0+1)/(1+1)
    expected = (3 / 4 * 2 / 4 * 1 / 3 * 1 / 2) ** (1 / 4)
    assert bleu("the cat sat here", "the cat there sat") == pytest.approx(expected)


def test_brevity_by_hand():
    # 1/1 and nothing longer: only the brevity penalty is left
    assert bleu("the", "the cat sat") == pytest.approx(math.exp(1 - 3))


def test_a_word_counts_no_more_often_than_in_the_reference():
    # Papineni's example: unigrams 1/4, then bigrams 1/4, trigrams 1/3, 4-grams 1/2
    assert bleu("the the the the", "the cat") == pytest.approx((1 / 4 * 1 / 4 * 1 / 3 * 1 / 2) ** 0.25)


@pytest.mark.parametrize("text", ["one", "one two", "One two three four five six"])
def test_a_text_and_itself(text):
    assert bleu(text, text.lower()) == pytest.approx(1.0)


@pytest.mark.parametrize(("candidate", "reference"), [("", "the cat"), ("the cat", ""), ("a b", "c d"), ("", "")])
def test_nothing_in_common(candidate, reference):
    assert bleu(candidate, reference) == 0.0


def test_agrees_with_nltk():
    candidate, reference = "he reads a very good book in the town", "he read a good book in town every day"
    smoothed = bleu_score.SmoothingFunction().method2
    expected = bleu_score.sentence_bleu([reference.split()], candidate.split(), smoothing_function=smoothed)
    assert bleu(candidate, reference) == pytest.approx(expected)
