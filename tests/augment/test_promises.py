"""What holds for every augmenter."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.augment import AUGMENTERS, AugmentReport, Compose, MarianRoundTrip, make_augmenter
from shoal.augment.words import n_changes
from shoal.errors import ParameterError
from shoal.text.words import split_words

TEXTS = [
    "the red car drives fast on a road every day",
    "hot green tea in town",
    "The Car stops, every day!",
    "naïve Straße café поезд 東京 नमस्ते 🐟🐟",
    "a",
    "car",
    "",
    "   ",
    "?!",
    "the red car drives fast on a road every day",
    " ".join(["red car"] * 40),
]
WORD_LEVEL = ["word_deletion", "char_swap", "wordnet", "contextual", "neighbour"]


def letters(texts):
    """A sentence encoder of sorts."""
    return np.array([[text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts], float)


@pytest.fixture
def make(masked_lm, other_masked_lm, marian, wordnet_dir):
    options = {
        "wordnet": {"wordnet_dir": wordnet_dir},
        "contextual": {"models": (masked_lm, other_masked_lm)},
        "neighbour": {"texts": TEXTS * 2, "encode": letters},
        "back_translation": {"engine": MarianRoundTrip(marian, marian), "n_candidates": 3},
    }
    return lambda spec: make_augmenter(spec, options)


@pytest.mark.parametrize("name", [*AUGMENTERS, "wordnet+char_swap"])
class TestEveryAugmenter:
    def test_same_seed_same_answer(self, make, name):
        assert make(name).augment(TEXTS, seed=3) == make(name).augment(TEXTS, seed=3)

    def test_order_and_company_do_not_matter(self, make, name):
        together = make(name).augment(TEXTS, seed=3, view=1)
        assert make(name).augment(TEXTS[::-1], seed=3, view=1) == together[::-1]
        assert [make(name).augment([text], seed=3, view=1)[0] for text in TEXTS[:4]] == together[:4]

    def test_seed_and_view_matter(self, make, name):
        augmenter = make(name)
        views = {tuple(augmenter.augment(TEXTS, seed, view)) for seed in (0, 1) for view in (0, 1)}
        assert len(views) == (4 if augmenter.changes_text else 1)

    def test_blank_and_wordless_texts_stay(self, make, name):
        assert make(name).augment(["", "  \n"], seed=0) == ["", "  \n"]
        assert len(make(name).augment(["?!", "🐟"], seed=0)) == 2

    def test_no_texts(self, make, name):
        assert make(name).augment([], seed=0) == []

    def test_fingerprint_is_stable_and_tells_apart(self, make, name):
        assert make(name).fingerprint == make(name).fingerprint
        others = {make(other).fingerprint for other in AUGMENTERS if other != name}
        assert make(name).fingerprint not in others


@pytest.mark.parametrize("name", WORD_LEVEL)
class TestWordLevel:
    @pytest.mark.parametrize("strength", [0.1, 0.2, 0.3])
    def test_share_of_words(self, make, name, strength):
        # words that every augmenter can change
        text = " ".join(["auto", "drive"] * 10) if name == "wordnet" else " ".join(["drives", "stops"] * 10)
        (changed,) = make(f"{name}:{strength}").augment([text], seed=0)
        if name == "word_deletion":
            n_changed = 20 - len(changed.split())
        else:
            new = split_words(changed.replace("motor vehicle", "motor-vehicle"))
            n_changed = sum(old.text != word.text for old, word in zip(split_words(text), new, strict=True))
        assert abs(n_changed - strength * 20) <= 1

    def test_a_share_below_one_word_still_changes_one(self, make, name):
        text = "auto drive" if name == "wordnet" else "drives stops"
        assert make(f"{name}:0.1").augment([text], seed=0) != [text]

    def test_fingerprint_follows_strength(self, make, name):
        assert make(f"{name}:0.1").fingerprint != make(f"{name}:0.3").fingerprint

    @pytest.mark.parametrize("strength", [0, -0.1, 1.1, float("nan")])
    def test_strength_outside_is_refused(self, make, name, strength):
        with pytest.raises(ParameterError, match=r"strength=.* pass 0\.1"):
            make(f"{name}:{strength}")

    def test_punctuation_and_spaces_stay(self, make, name):
        text = "  (drives),   auto!\n"
        (changed,) = make(name).augment([text], seed=0)
        if name != "word_deletion":
            assert changed.startswith("  (")
            assert "),   " in changed
            assert changed.endswith("!\n")


def test_unchanged_texts_are_counted(make):
    augmented = make("char_swap").augment(["ok", "", "connection"], seed=0)
    assert AugmentReport.compare(["ok", "", "connection"], augmented) == AugmentReport(n=3, unchanged=2)


def test_a_composition_is_its_steps_in_turn(make):
    once = make("wordnet").augment(TEXTS, seed=5, view=1)
    assert make("wordnet+char_swap").augment(TEXTS, 5, 1) == make("char_swap").augment(once, 5, 1)


def test_an_empty_composition_is_refused():
    with pytest.raises(ParameterError, match="at least one"):
        Compose([])


@pytest.mark.parametrize(
    ("n_words", "strength", "expected"), [(0, 0.3, 0), (1, 0.1, 1), (10, 0.3, 3), (23, 0.2, 5), (4, 1.0, 4)]
)
def test_n_changes(n_words, strength, expected):
    assert n_changes(n_words, strength) == expected
