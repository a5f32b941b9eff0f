from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers import (
    AutoModel,
    BertConfig,
    BertForMaskedLM,
    DistilBertConfig,
    DistilBertForMaskedLM,
    GPT2Config,
    GPT2Model,
    MPNetConfig,
    MPNetForMaskedLM,
    RobertaConfig,
    RobertaForMaskedLM,
)

from shoal.encoder.masked_head import load_masked_head, new_masked_head
from shoal.encoder.transformer import TransformerEncoder

SMALL = {"vocab_size": 30, "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 16}
FAMILIES = {
    "bert": lambda **more: BertForMaskedLM(BertConfig(**SMALL, **more)),
    "roberta": lambda **more: RobertaForMaskedLM(RobertaConfig(**SMALL, **more)),
    "mpnet": lambda **more: MPNetForMaskedLM(MPNetConfig(**SMALL, **more)),
    "distilbert": lambda **more: DistilBertForMaskedLM(
        DistilBertConfig(vocab_size=30, dim=16, n_heads=2, n_layers=1, hidden_dim=16, **more)
    ),
}


def made(family, **more):
    torch.manual_seed(0)
    model = FAMILIES[family](**more).eval()
    with torch.no_grad():  # fresh biases are zero and would hide one that is lost
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight), alpha=0.3)
    return model


@pytest.mark.parametrize("family", FAMILIES)
def test_a_backbones_own_head_gives_its_own_scores(family, tmp_path):
    model = made(family)
    model.save_pretrained(tmp_path)
    head = load_masked_head(str(tmp_path))
    backbone = AutoModel.from_pretrained(tmp_path).eval()  # what the encoder has loaded
    ids = torch.tensor([[5, 6, 7, 8]])
    found = head(backbone(input_ids=ids).last_hidden_state[0], backbone.get_input_embeddings().weight)
    torch.testing.assert_close(found, model(input_ids=ids).logits[0], atol=1e-5, rtol=1e-4)
    assert all(parameter.requires_grad for parameter in head.parameters())


@pytest.mark.parametrize("family", FAMILIES)
def test_a_checkpoint_without_a_head_has_none(family, tmp_path):
    made(family).base_model.save_pretrained(tmp_path)
    assert load_masked_head(str(tmp_path)) is None


def test_a_head_of_another_form_is_not_taken_for_a_known_one(tmp_path):
    made("bert", tie_word_embeddings=False).save_pretrained(tmp_path / "untied")
    made("bert", hidden_act="relu").save_pretrained(tmp_path / "relu")
    GPT2Model(GPT2Config(n_layer=1, n_head=2, n_embd=16, vocab_size=30)).save_pretrained(tmp_path / "gpt2")
    for name in ("untied", "relu", "gpt2"):
        assert load_masked_head(str(tmp_path / name)) is None


def test_a_new_head_begins_with_the_tokens_frequencies():
    words = torch.randn(4, 8, generator=torch.Generator().manual_seed(0))
    head = new_masked_head(8, words, np.array([1, 1, 1, 3], dtype=np.int32))
    counts = torch.tensor([0.1, 3.1, 0.1, 1.1])
    torch.testing.assert_close(head(torch.zeros(2, 8), words).softmax(dim=1), (counts / counts.sum()).expand(2, 4))
    states = torch.ones(1, 8)
    torch.testing.assert_close(head(states, words) - head.bias, 0.1 * states @ words.T)  # and near the identity


def test_word_embeddings_narrower_than_the_states():
    head = new_masked_head(8, torch.zeros(4, 3), np.array([0], dtype=np.int32))
    assert head(torch.zeros(2, 8), torch.zeros(4, 3)).shape == (2, 4)


@pytest.mark.slow
def test_the_built_in_model_has_no_head():
    assert load_masked_head("builtin") is None
    assert TransformerEncoder.load("builtin").words.shape == (30522, 384)
