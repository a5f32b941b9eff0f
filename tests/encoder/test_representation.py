from __future__ import annotations

import numpy as np
import pytest

from shoal import TwoStage
from shoal.encoder import representation
from shoal.encoder.representation import REPRESENTATIONS, CachedEncoder, load_representation, make_representation
from shoal.encoder.transformer import TransformerEncoder
from shoal.errors import DataError, ParameterError

TEXTS = ["the red fish swims", "the red whale sleeps", "deep blue sea", "the deep sea"]


class Lengths:
    """An encoder of the user's own; counts the texts it was asked for."""

    fingerprint = "lengths-1"

    def __init__(self):
        self.asked = 0

    def encode(self, texts):
        self.asked += len(texts)
        return [[len(text), 1] for text in texts]


@pytest.fixture
def options(backbone):
    return {**TwoStage().get_params(), "backbone": backbone}


def test_vectors_of_a_corpus_are_computed_once():
    encoder = Lengths()
    first, second = (CachedEncoder(encoder).fit(TEXTS).encode(TEXTS) for _ in range(2))
    np.testing.assert_array_equal(first, [[len(text), 1] for text in TEXTS])
    np.testing.assert_array_equal(second, first)
    assert first.dtype == second.dtype == np.float32
    assert encoder.asked == len(TEXTS)


def test_another_fingerprint_finds_nothing():
    CachedEncoder(Lengths()).encode(TEXTS)
    other = Lengths()
    other.fingerprint = "lengths-2"
    CachedEncoder(other).encode(TEXTS)
    assert other.asked == len(TEXTS)


def test_without_the_cache_and_for_a_single_text_nothing_is_kept(cache):
    CachedEncoder(Lengths(), cache=False).encode(TEXTS)
    CachedEncoder(Lengths()).encode(TEXTS[:1])
    assert not cache.exists()


def test_truncation_is_remembered_with_the_vectors(backbone):
    encoder = TransformerEncoder.load(backbone, max_length=5)
    for _ in range(2):  # computed, then found
        frozen = CachedEncoder(TransformerEncoder.load(backbone, max_length=5))
        np.testing.assert_array_equal(frozen.encode(TEXTS), encoder.encode(TEXTS))
        assert frozen.truncated == 2
    frozen.encode(TEXTS[2:3])
    assert frozen.truncated == 0


@pytest.mark.parametrize("given", [np.zeros(4), np.zeros((3, 2)), np.zeros((4, 2, 2)), 0.0])
def test_an_encoder_that_does_not_give_one_row_a_text_is_refused(given):
    encoder = Lengths()
    encoder.encode = lambda texts: given
    with pytest.raises(DataError, match=r"Lengths\.encode gave an array of shape .* for 4 texts"):
        CachedEncoder(encoder).encode(TEXTS)


@pytest.mark.parametrize("kind", ["transformer", "meaning+words", "bow", "tfidf", "sif", "wordllama"])
def test_every_kind_is_made_saved_and_loaded(kind, options, tmp_path):
    made = make_representation(kind, options).fit(TEXTS)
    vectors = made.encode(TEXTS)
    assert vectors.shape[0] == len(TEXTS)
    assert vectors.dtype == np.float32
    assert made.truncated == 0
    made.save(tmp_path / "saved" if kind in ("transformer", "meaning+words") else tmp_path)
    loaded = load_representation(
        kind, tmp_path / "saved" if kind in ("transformer", "meaning+words") else tmp_path, options
    )
    options["cache"] = False
    np.testing.assert_allclose(loaded.encode(TEXTS), vectors, atol=1e-6)
    np.testing.assert_allclose(np.concatenate([loaded.encode([text]) for text in TEXTS]), vectors, atol=1e-5)


def test_options_reach_the_transformer(options):
    chosen = {"pooling": "cls", "max_length": 9, "long_texts": "chunk", "normalize": False, "cache": False}
    frozen = make_representation("transformer", {**options, **chosen})
    assert {name: getattr(frozen.encoder, name) for name in chosen if name != "cache"} | {
        "cache": frozen.cache
    } == chosen


def test_own_encoders_plug_in_and_strangers_are_named(options):
    encoder = Lengths()
    assert make_representation(encoder, options).encoder is encoder
    for stranger in ("word2vec", "", 3, None, object()):
        with pytest.raises(ParameterError, match=r"representation=.* is unknown; pass one of transformer, meaning"):
            make_representation(stranger, options)
    assert set(REPRESENTATIONS) == {"transformer", "meaning+words", "bow", "tfidf", "sif", "wordllama", "use", "e5"}


def test_a_large_corpus_is_cached_in_shards_and_continues_after_an_interruption(monkeypatch, tmp_path):
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path))
    monkeypatch.setattr(representation, "SHARD_TEXTS", 4)
    texts = [f"text {i}" for i in range(10)]
    asked: list[list[str]] = []

    class Interrupted:
        fingerprint = "lengths"
        truncated = 1

        def encode(self, texts):
            asked.append(list(texts))
            if len(asked) == 3:
                raise KeyboardInterrupt
            return np.array([[len(text), i] for i, text in enumerate(texts)], dtype=np.float32)

    encoder = CachedEncoder(Interrupted())
    with pytest.raises(KeyboardInterrupt):
        encoder.encode(texts)
    again = CachedEncoder(Interrupted())
    vectors = again.encode(texts)
    assert asked[3:] == [texts[8:]]
    assert vectors[:, 1].tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 0, 1]
    assert again.truncated == 3
