from __future__ import annotations

import os

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

from shoal.augment import MaskedLMSubstitution
from shoal.augment.contextual import _MaskedLM
from shoal.augment.pretrained import load_pretrained
from shoal.errors import ModelError

TEXT = "the red car drives fast"


def test_only_whole_words_are_drawn(masked_lm):
    augmenter = MaskedLMSubstitution(masked_lm, strength=0.2)
    drawn = set()
    for seed in range(60):
        old, new = TEXT.split(), augmenter.augment([TEXT], seed)[0].split()
        changed = [(before, after) for before, after in zip(old, new, strict=True) if before != after]
        assert len(changed) == 1  # the original word is never drawn
        drawn.add(changed[0][1])
    assert len(drawn) > 5
    assert all(word.isalpha() for word in drawn)


def test_the_likeliest_word_is_the_models_own(masked_lm):
    model = AutoModelForMaskedLM.from_pretrained(masked_lm).eval()
    tokenizer = AutoTokenizer.from_pretrained(masked_lm)
    batch = tokenizer("the red [MASK] drives fast", return_tensors="pt")
    with torch.no_grad():
        logits = model(**batch).logits[0, 3]
    words = {
        token: logits[number].item()
        for token, number in tokenizer.get_vocab().items()
        if token.isalpha() and token != "car"
    }
    best = sorted(words, key=words.get, reverse=True)[:4]
    (guess,) = _MaskedLM(model, tokenizer).fill(["the red [MASK] drives fast"], ["Car"], 4, 8)
    assert guess.words == best
    likelihood = np.exp([words[word] for word in best])
    np.testing.assert_allclose(guess.probabilities, likelihood / likelihood.sum(), rtol=1e-5)


def test_top_one_leaves_no_choice(masked_lm):
    augmenter = MaskedLMSubstitution(masked_lm, top_n=1)
    assert len({augmenter.augment(["car"], seed)[0] for seed in range(10)}) == 1


def test_each_view_has_its_model(masked_lm, other_masked_lm):
    both = MaskedLMSubstitution((masked_lm, other_masked_lm), top_n=1)
    for view, folder in enumerate((masked_lm, other_masked_lm)):
        alone = MaskedLMSubstitution(folder, top_n=1)
        assert both.augment([TEXT, "hot tea"], 0, view) == alone.augment([TEXT, "hot tea"], 0, view)
    assert set(both._loaded) == {masked_lm, other_masked_lm}


def test_batch_size_does_not_matter(masked_lm):
    texts = [" ".join(TEXT.split()[:length]) for length in range(1, 6)]
    small = MaskedLMSubstitution(masked_lm, strength=0.5, batch_size=1).augment(texts, seed=0)
    assert MaskedLMSubstitution(masked_lm, strength=0.5, batch_size=50).augment(texts, seed=0) == small


def test_words_beyond_the_models_length_stay(masked_lm):
    text = " ".join(["red"] * 60)
    changed = MaskedLMSubstitution(masked_lm, strength=1.0).augment([text], seed=0)[0].split()
    assert changed[0] != "red"
    assert changed[30:] == ["red"] * 30


def test_capitals_numbers_and_scripts(masked_lm):
    (changed,) = MaskedLMSubstitution(masked_lm, strength=1.0).augment(["Car 1984 RED"], seed=0)
    first, number, last = changed.split()
    assert first.istitle()
    assert number == "1984"
    assert last.isupper()


def test_byte_level_words_lose_their_marker():
    class Tokenizer:
        mask_token, mask_token_id, model_max_length, all_special_ids = "<mask>", 0, 8, (0,)

        def convert_ids_to_tokens(self, ids):
            return ["<mask>", "Ġcar", "ing", "Ġ,", "Ġ", None][: len(ids)]

    model = torch.nn.Module()
    model.config = type("Config", (), {"vocab_size": 6, "max_position_embeddings": 10})
    assert _MaskedLM(model, Tokenizer())._words == ["", "car", "", "", "", ""]


def test_a_model_without_a_head_is_refused(headless_bert):
    with pytest.raises(ModelError, match="no trained head for MaskedLM"):
        MaskedLMSubstitution(headless_bert).augment(["car"], seed=0)


def test_a_missing_model_is_named(tmp_path):
    with pytest.raises(ModelError, match=r"nowhere.*pass a hub name"):
        load_pretrained(AutoModelForMaskedLM, tmp_path / "nowhere")


def test_fingerprint_follows_the_files(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"123")
    before = MaskedLMSubstitution(tmp_path).fingerprint
    os.utime(tmp_path / "model.safetensors", ns=(1, 1))
    assert MaskedLMSubstitution(tmp_path).fingerprint != before
    assert MaskedLMSubstitution("a/b").fingerprint != MaskedLMSubstitution("a/c").fingerprint
