from __future__ import annotations

import string

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    AutoModel,
    DistilBertConfig,
    GPT2Config,
    MPNetConfig,
    PreTrainedTokenizerFast,
    RobertaConfig,
)

from shoal.encoder.transformer import TransformerEncoder
from tiny_backbone import tiny_backbone

WORDS = ("red", "green", "blue", "fish", "whale", "swims", "sleeps", "deep", "the", "in", "sea")
KIN = {"roberta": RobertaConfig, "mpnet": MPNetConfig, "distilbert": DistilBertConfig, "gpt2": GPT2Config}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of the test's own, so that nothing is found that an earlier run left."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("SHOAL_CACHE", str(folder))
    return folder


@pytest.fixture(scope="session")
def backbone(tmp_path_factory) -> str:
    folder = tiny_backbone(tmp_path_factory.mktemp("backbone"), WORDS)
    model = AutoModel.from_pretrained(folder)
    with torch.no_grad():  # fresh weights hardly listen to the context; these do, so that a leak would show
        for weight in model.encoder.parameters():
            weight.mul_(10 if weight.ndim == 2 else 1)
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tokenizer(backbone):
    return TransformerEncoder.load(backbone).tokenizer


@pytest.fixture(scope="session")
def kin():
    """Other families: their special tokens, their padding, and 16 positions each, as transformers counts them."""

    def build(family: str):
        special = ["<s>", "<pad>", "</s>", "<unk>"] if family != "gpt2" else ["<unk>"]
        vocabulary = {token: i for i, token in enumerate([*special, *string.ascii_lowercase])}
        backend = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
        backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        names = {}
        if family != "gpt2":
            around = [("<s>", 0), ("</s>", 2)]
            backend.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=around)
            names = {"cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>"}
        sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
        config = KIN[family](vocab_size=len(vocabulary), max_position_embeddings=16, pad_token_id=1, **sizes)
        torch.manual_seed(0)
        model = AutoModel.from_config(config).eval()
        return model, PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>", **names)

    return build
