from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers import (
    AutoTokenizer,
    BertConfig,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
    GPT2Config,
    GPT2Model,
    MPNetConfig,
    MPNetModel,
    RobertaConfig,
    RobertaModel,
)

from shoal.encoder import last_layers
from shoal.encoder.last_layers import LastLayersEncoder
from shoal.encoder.masking import Masking
from shoal.encoder.transformer import TransformerEncoder
from shoal.errors import ModelError, ParameterError

TEXTS = ["cat", "a dog barks at night", "the horse it", "mouse", "sheep and goats", "saw", "dog"]
SMALL = {"vocab_size": 120, "hidden_size": 32, "num_attention_heads": 4, "max_position_embeddings": 64}
DISTIL = {"vocab_size": 120, "dim": 32, "n_heads": 4, "hidden_dim": 64, "max_position_embeddings": 64}
MODELS = {
    "bert": lambda: BertModel(BertConfig(**SMALL, intermediate_size=64, num_hidden_layers=3)),
    "roberta": lambda: RobertaModel(RobertaConfig(**SMALL, intermediate_size=64, num_hidden_layers=3, pad_token_id=0)),
    "mpnet": lambda: MPNetModel(MPNetConfig(**SMALL, intermediate_size=64, num_hidden_layers=3, pad_token_id=0)),
    "distilbert": lambda: DistilBertModel(DistilBertConfig(**DISTIL, n_layers=3)),
}


@pytest.fixture
def make(backbone):
    def build(kind, **options):
        torch.manual_seed(0)
        tokenizer = AutoTokenizer.from_pretrained(backbone)
        return TransformerEncoder(MODELS[kind]().eval(), tokenizer, max_length=32, **options)

    return build


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_its_vectors_are_those_of_the_whole_model(make, kind, n_layers):
    encoder = make(kind, normalize=kind != "bert")
    tokens = encoder.tokenise(TEXTS)
    upper = LastLayersEncoder(encoder, tokens, n_layers).eval()
    rows = np.array([3, 1, 6, 0, 4, 2, 5])
    found = upper(tokens, rows).detach().numpy()
    np.testing.assert_allclose(found, encoder.encode([TEXTS[i] for i in rows]), atol=1e-5)


@pytest.mark.parametrize("kind", MODELS)
def test_its_gradients_are_those_of_the_whole_model(make, kind):
    encoder = make(kind)
    tokens, rows = encoder.tokenise(TEXTS), np.arange(len(TEXTS))
    upper = LastLayersEncoder(encoder, tokens, 2).eval()
    trained = [p for p in encoder.parameters() if p.requires_grad]
    assert trained
    assert len(trained) == len([p for p in upper.parameters() if p.requires_grad])
    weights = torch.linspace(-1, 1, 32)
    found = torch.autograd.grad((upper(tokens, rows) @ weights).sum(), trained)
    expected = torch.autograd.grad((encoder(tokens, rows) @ weights).sum(), trained)
    for left, right in zip(found, expected, strict=True):
        torch.testing.assert_close(left, right, atol=1e-5, rtol=1e-4)


def test_training_the_last_layer_trains_the_encoder_and_leaves_the_rest(make):
    encoder = make("bert")
    before = {name: p.clone() for name, p in encoder.named_parameters()}
    tokens = encoder.tokenise(TEXTS)
    upper = LastLayersEncoder(encoder, tokens, 1)
    optimizer = torch.optim.SGD([p for p in upper.parameters() if p.requires_grad], lr=0.5)
    upper.train()
    upper(tokens, np.arange(7))[:, 0].sum().backward()
    optimizer.step()
    moved = {name for name, p in encoder.named_parameters() if not torch.equal(p, before[name])}
    assert moved
    assert all(name.startswith("model.encoder.layer.2.") for name in moved)
    np.testing.assert_allclose(upper.eval()(tokens, np.arange(7)).detach().numpy(), encoder.encode(TEXTS), atol=1e-5)


def test_past_the_limit_states_are_mapped_from_a_file(make, monkeypatch):
    encoder = make("bert")
    tokens = encoder.tokenise(TEXTS)
    in_memory = LastLayersEncoder(encoder, tokens, 1).eval()(tokens, np.arange(7))
    monkeypatch.setattr(last_layers, "MEMORY_LIMIT", 0)
    mapped = LastLayersEncoder(encoder, tokens, 1).eval()
    assert isinstance(mapped._states, np.memmap)
    torch.testing.assert_close(mapped(tokens, np.arange(7)), in_memory, atol=0, rtol=0)


def test_more_layers_than_there_are_is_refused(make):
    encoder = make("bert")
    with pytest.raises(ParameterError, match="trainable_layers=4 but this backbone has 3 layers; pass an int <= 3"):
        LastLayersEncoder(encoder, encoder.tokenise(TEXTS), 4)


def test_a_backbone_whose_layers_cannot_be_run_one_by_one_is_refused(make):
    encoder = make("bert")
    encoder.model = GPT2Model(GPT2Config(n_layer=1, n_head=2, n_embd=32, vocab_size=120, n_positions=64))
    with pytest.raises(ModelError, match="the layers of a 'gpt2' backbone cannot be run one by one; pass a backbone"):
        LastLayersEncoder(encoder, encoder.tokenise(TEXTS), 1)


@pytest.mark.parametrize("kind", MODELS)
def test_states_of_masked_texts_are_those_of_the_whole_model(make, kind):
    encoder = make(kind)
    tokens = encoder.tokenise(TEXTS)
    upper = LastLayersEncoder(encoder, tokens, 1).eval()
    encoder.eval()
    masked = Masking.of(encoder.tokenizer, 0.5)(tokens)
    rows = np.array([3, 1, 6, 0])
    for texts in (tokens, masked):
        for found, expected in zip(upper.states(texts, rows), encoder.states(texts, rows), strict=True):
            np.testing.assert_array_equal(found[0], expected[0])
            torch.testing.assert_close(found[1][found[2]], expected[1][expected[2]], atol=1e-5, rtol=1e-4)
            assert torch.equal(found[2], expected[2])
    torch.testing.assert_close(upper.words, encoder.words)


def test_lower_layers_have_no_dropout_and_no_gradient(make):
    encoder = make("bert")
    tokens = encoder.tokenise(TEXTS)
    upper = LastLayersEncoder(encoder, tokens, 1)
    upper.train()
    upper.upper.eval()  # what is left of the dropout would be below
    masked = Masking.of(encoder.tokenizer, 0.5)(tokens)
    (_, first, _), (_, again, _) = (next(upper.states(masked, np.arange(7))) for _ in range(2))
    torch.testing.assert_close(first, again, atol=0, rtol=0)
    first.sum().backward()
    assert encoder.words.grad is None


@pytest.mark.parametrize("kind", MODELS)
def test_other_texts_than_the_prepared_ones_pass_through_the_whole_model(make, kind):
    encoder = make(kind)
    upper = LastLayersEncoder(encoder, encoder.tokenise(TEXTS[:2]), 1).eval()
    others = encoder.tokenise(TEXTS[2:])
    vectors = upper(others, np.arange(5))
    np.testing.assert_allclose(vectors.detach().numpy(), encoder.encode(TEXTS[2:]), atol=1e-5)
    vectors.sum().backward()
    reached = {name.split(".")[3] for name, p in encoder.named_parameters() if p.grad is not None}
    assert reached == {"2"}  # the last of three layers
