from __future__ import annotations

import numpy as np
import pytest

from shoal.encoder import packaged
from shoal.encoder.packaged import PACKAGED, WordLlama, parts_of
from shoal.errors import MissingExtraError

TEXTS = ["a cat sleeps", "", "a kitten naps in the afternoon sun, as it does on most days", "the share price fell", "x"]
HEAVY = pytest.mark.slow  # seconds to load
KINDS = ["wordllama", pytest.param("use", marks=HEAVY), pytest.param("e5", marks=HEAVY)]


@pytest.fixture(scope="module")
def loaded():
    kept = {}

    def load(name):
        if name not in kept:
            kept[name] = PACKAGED[name]()
        return kept[name]

    return load


@pytest.mark.parametrize("name", KINDS)
def test_vectors_are_unit_repeatable_and_independent_of_company(loaded, name, monkeypatch):
    encoder = loaded(name)
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.dimension)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1)[[0, 2, 3, 4]], 1, atol=1e-5)
    np.testing.assert_array_equal(encoder.encode(TEXTS), vectors)
    np.testing.assert_allclose(encoder.encode(TEXTS[3:4]), vectors[3:4], atol=1e-5)
    monkeypatch.setattr(packaged, "TEXTS_PER_CALL", 2)
    np.testing.assert_allclose(encoder.encode(TEXTS[::-1])[::-1], vectors, atol=1e-5)
    assert encoder.encode([]).shape == (0, encoder.dimension)


@pytest.mark.parametrize("name", KINDS)
def test_like_texts_are_near(loaded, name):
    cat, _, kitten, shares, _ = loaded(name).encode(TEXTS)
    assert cat @ kitten > cat @ shares


def test_wordllama_is_the_mean_of_its_token_vectors(loaded):
    red, fish, both = loaded("wordllama")._embed(["red", "fish", "red fish"])  # a token each
    np.testing.assert_allclose(both, (red + fish) / 2, atol=1e-6)


def test_wordllama_gives_a_text_without_tokens_the_zero_vector(loaded):
    assert not loaded("wordllama").encode([""]).any()


@pytest.mark.parametrize("name", sorted(PACKAGED))
def test_a_missing_package_names_its_extra(name, monkeypatch):
    monkeypatch.setattr(packaged, "find_spec", lambda package: None)
    message = rf"the encoder '{name}' needs an optional package; run: pip install 'shoal\[{PACKAGED[name].extra}\]'"
    with pytest.raises(MissingExtraError, match=message):
        PACKAGED[name]()


def test_the_fingerprint_is_package_and_version(monkeypatch):
    monkeypatch.setattr(packaged, "version", lambda distribution: "1.2.3")
    assert WordLlama().fingerprint == "wordllama==1.2.3"
    assert len({PACKAGED[name]().fingerprint for name in PACKAGED}) == len(PACKAGED)


@pytest.mark.slow
def test_a_long_text_is_the_mean_of_its_parts_weighted_by_length(loaded):
    encoder = loaded("use")
    text = "the share price fell again today " * 15
    parts = parts_of(text, encoder.longest)
    assert "".join(parts).replace(" ", "") == text.replace(" ", "")
    weights = np.array([len(part) for part in parts])[:, None]
    mean = (encoder.encode(parts) * weights).sum(axis=0)
    np.testing.assert_allclose(encoder.encode([text, "x"])[0], mean / np.linalg.norm(mean), atol=1e-5)
