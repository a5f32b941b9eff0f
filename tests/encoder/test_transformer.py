from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForMaskedLM

from shoal.encoder import tokens as tokens_module
from shoal.encoder.transformer import TransformerEncoder
from shoal.errors import ModelError, ParameterError
from tiny_backbone import tiny_backbone

TEXTS = [
    "the red fish",
    "",
    "fish",
    "the whale sleeps in the deep blue sea " * 3,
    "a squid, a crab!",
    "the red fish",
    "in the sea the green fish swims",
    "unheard 日本語",
]


@pytest.fixture(scope="module")
def load(backbone):
    return lambda **options: TransformerEncoder.load(backbone, **options)


def reference(encoder, texts, pooling="mean"):
    """One text at a time, as transformers' own example does it: no padding, no groups."""
    vectors = []
    for text in texts:
        inputs = encoder.tokenizer([text], truncation=True, max_length=encoder.max_length, return_tensors="pt")
        with torch.no_grad():
            states = encoder.model(input_ids=inputs["input_ids"]).last_hidden_state[0]
        vectors.append((states.mean(dim=0) if pooling == "mean" else states[0]).numpy())
    return np.stack(vectors)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_vectors_are_the_pooled_states(load, pooling, normalize):
    encoder = load(pooling=pooling, normalize=normalize, max_length=16)
    expected = reference(encoder, TEXTS, pooling)
    if normalize:
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("long_texts", ["truncate", "chunk"])
def test_the_answer_depends_neither_on_company_nor_on_order_nor_on_group_size(load, monkeypatch, pooling, long_texts):
    encoder = load(pooling=pooling, long_texts=long_texts, max_length=12)
    whole = encoder.encode(TEXTS)
    assert np.abs(whole[:, None] - whole[None]).max() > 0.01  # else any order would do
    order = np.random.default_rng(0).permutation(len(TEXTS))
    np.testing.assert_allclose(encoder.encode([TEXTS[i] for i in order]), whole[order], atol=1e-5)
    np.testing.assert_allclose(np.concatenate([encoder.encode([text]) for text in TEXTS]), whole, atol=1e-5)
    for budget in (1, 20, 100_000):
        monkeypatch.setattr(tokens_module.length_groups, "__defaults__", (budget,))
        np.testing.assert_allclose(encoder.encode(TEXTS), whole, atol=1e-5)


def test_chunk_and_average_by_hand(load):
    encoder = load(long_texts="chunk", max_length=6, normalize=False)
    # Nine words in windows of four: 4 + 4 + 1 tokens, and [CLS] and [SEP] around each.
    text = "the whale sleeps in the deep blue sea fish"
    first, second, third = reference(encoder, ["the whale sleeps in", "the deep blue sea", "fish"])
    expected = (6 * first + 6 * second + 3 * third) / 15
    np.testing.assert_allclose(encoder.encode(["red", text])[1], expected, atol=1e-5)
    unit = load(long_texts="chunk", max_length=6).encode([text])[0]
    np.testing.assert_allclose(unit, expected / np.linalg.norm(expected), atol=1e-5)


def test_truncation_is_counted_anew_each_time(load):
    encoder = load(max_length=6)
    encoder.encode(TEXTS)
    assert encoder.truncated == 4
    encoder.encode(["fish"])
    assert encoder.truncated == 0
    chunking = load(max_length=6, long_texts="chunk")
    chunking.encode(TEXTS)
    assert chunking.truncated == 0  # every text is read to its end


def test_no_text_one_text_and_a_text_without_tokens(load):
    encoder = load()
    assert encoder.encode([]).shape == (0, encoder.dimension)
    assert encoder.encode(["fish"]).shape == (1, encoder.dimension)
    np.testing.assert_allclose(np.linalg.norm(encoder.encode(["", " ", "\u200b"]), axis=1), 1, atol=1e-6)


def test_encode_leaves_the_mode_and_ignores_dropout(load):
    encoder = load()
    calm = encoder.encode(TEXTS)
    encoder.train()
    np.testing.assert_array_equal(encoder.encode(TEXTS), calm)
    assert encoder.training


def test_forward_gives_the_same_vectors_in_the_order_asked_with_gradients(load):
    encoder = load().eval()
    tokens = encoder.tokenise(TEXTS)
    rows = np.array([6, 0, 3, 0])
    vectors = encoder(tokens, rows)
    np.testing.assert_allclose(vectors.detach().numpy(), encoder.encode(TEXTS)[rows], atol=1e-5)
    vectors.sum().backward()
    assert all(p.grad is not None for name, p in encoder.model.named_parameters() if not name.startswith("pooler"))


@pytest.mark.parametrize(("family", "window"), [("roberta", 14), ("mpnet", 14), ("distilbert", 16), ("gpt2", 16)])
def test_window_of_other_families(kin, family, window):
    model, tokenizer = kin(family)
    encoder = TransformerEncoder(model, tokenizer, max_length=window)
    texts = [" ".join("abcdefghijklmnopqrstuvwxyz"), "a b", "c", ""]
    whole = encoder.encode(texts)
    assert encoder.truncated == 1
    np.testing.assert_allclose(np.concatenate([encoder.encode([text]) for text in texts]), whole, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(whole, axis=1), 1, atol=1e-5)
    with pytest.raises(ParameterError, match=f"max_length={window + 1} but this backbone reads 4 to {window} tokens"):
        TransformerEncoder(model, tokenizer, max_length=window + 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pooling": "max"}, "pooling='max' is unknown; pass one of mean, cls"),
        ({"long_texts": "drop"}, "long_texts='drop' is unknown; pass one of auto, truncate, chunk"),
        ({"max_length": 3}, "max_length=3 but this backbone reads 4 to 128 tokens"),
    ],
)
def test_wrong_options_are_named(load, options, message):
    with pytest.raises(ParameterError, match=message):
        load(**options)


def test_a_backbone_without_a_window_is_refused(load):
    encoder = load()
    model = torch.nn.Module()
    model.config = BertConfig(max_position_embeddings=0)
    with pytest.raises(ModelError, match="max_position_embeddings=0"):
        TransformerEncoder(model, encoder.tokenizer)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_sentence_transformers_opens_the_saved_folder(load, tmp_path, pooling, normalize):
    from sentence_transformers import SentenceTransformer

    encoder = load(pooling=pooling, normalize=normalize, max_length=12)
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"format": "shoal-model", "params": {}}))
    encoder.save(folder)
    opened = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    np.testing.assert_allclose(opened.encode(TEXTS), encoder.encode(TEXTS), atol=1e-5)
    assert opened.max_seq_length == 12
    assert json.loads((folder / "config.json").read_text())["format"] == "shoal-model"


def test_saved_and_loaded_it_is_the_same_encoder(load, tmp_path):
    encoder = load(max_length=12)
    encoder.save(tmp_path / "model")
    again = TransformerEncoder.load(str(tmp_path / "model"), max_length=12)
    assert again.fingerprint == encoder.fingerprint
    np.testing.assert_array_equal(again.encode(TEXTS), encoder.encode(TEXTS))
    assert again.fingerprint == encoder.fingerprint  # encoding leaves it as it was


def test_no_pickle_is_saved(load, tmp_path):
    load().save(tmp_path / "model")
    suffixes = {file.suffix for file in (tmp_path / "model").rglob("*") if file.is_file()}
    assert suffixes <= {".json", ".safetensors", ".txt"}


def test_the_fingerprint_changes_with_all_that_changes_the_vectors(load, tmp_path):
    encoder = load()
    prints = {
        "as it is": encoder.fingerprint,
        "pooling": load(pooling="cls").fingerprint,
        "max_length": load(max_length=32).fingerprint,
        "normalize": load(normalize=False).fingerprint,
        "long_texts": load(long_texts="chunk").fingerprint,
        "weights": TransformerEncoder.load(tiny_backbone(tmp_path / "other", seed=1)).fingerprint,
    }
    with torch.no_grad():
        next(iter(encoder.model.parameters()))[0, 0] += 1e-3
    prints["one weight"] = encoder.fingerprint
    cased = load()
    rules = json.loads(cased.tokenizer.backend_tokenizer.to_str())
    rules["normalizer"]["lowercase"] = False
    folder = Path(tmp_path / "cased")
    cased.save(folder)
    (folder / "0_Transformer" / "tokenizer.json").write_text(json.dumps(rules))
    prints["letter case"] = TransformerEncoder.load(str(folder)).fingerprint
    assert len(set(prints.values())) == len(prints)
    assert load().fingerprint == prints["as it is"]


def test_a_checkpoint_without_a_pooler_has_one_fingerprint(load, tmp_path):
    encoder = load()
    encoder.tokenizer.save_pretrained(tmp_path)
    BertForMaskedLM(encoder.model.config).save_pretrained(tmp_path)
    first, second = (TransformerEncoder.load(str(tmp_path)).fingerprint for _ in range(2))
    assert first == second


@pytest.mark.slow
def test_the_built_in_encoder_opens_in_sentence_transformers(tmp_path):
    from sentence_transformers import SentenceTransformer

    encoder = TransformerEncoder.load()
    encoder.save(tmp_path)
    opened = SentenceTransformer(str(tmp_path), device="cpu", local_files_only=True)
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    np.testing.assert_allclose(opened.encode(TEXTS), vectors, atol=1e-5)
    np.testing.assert_allclose(np.concatenate([encoder.encode([text]) for text in TEXTS]), vectors, atol=1e-5)
    order = np.random.default_rng(0).permutation(len(TEXTS))
    np.testing.assert_allclose(encoder.encode([TEXTS[i] for i in order]), vectors[order], atol=1e-5)
    assert TransformerEncoder.load(str(tmp_path)).fingerprint == encoder.fingerprint


@pytest.mark.slow
def test_the_built_in_encoder_knows_what_texts_mean():
    vectors = TransformerEncoder.load().encode(["a cat sleeps", "a kitten naps", "the share price fell"])
    cosines = vectors @ vectors.T
    assert cosines[0, 1] > 0.6 > 0.2 > cosines[0, 2]


def test_auto_reads_chunks_if_more_than_a_tenth_would_be_cut(load):
    short, long = "red fish", " ".join(["red", "green", "blue"] * 20)
    few, many = load(max_length=16, long_texts="auto"), load(max_length=16, long_texts="auto")
    few.settle_long_texts([short] * 9 + [long])
    many.settle_long_texts([short] * 8 + [long] * 2)
    assert (few.long_texts, many.long_texts) == ("truncate", "chunk")
    given = load(max_length=16, long_texts="truncate")
    given.settle_long_texts([long])
    assert given.long_texts == "truncate"


def test_equal_texts_are_encoded_once(load, monkeypatch):
    encoder, seen = load(), []
    own = type(encoder)._group_states
    monkeypatch.setattr(
        type(encoder), "_group_states", lambda self, tokens, rows: seen.extend(rows) or own(self, tokens, rows)
    )
    texts = ["the red fish", "fish", "the red fish", "The red  fish"]
    vectors = encoder.encode(texts)
    assert len(seen) == 2
    assert (vectors[0] == vectors[2]).all()
    assert (vectors[0] == vectors[3]).all()
