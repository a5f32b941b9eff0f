from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertModel,
    BertTokenizerFast,
    MarianConfig,
    MarianMTModel,
    PreTrainedTokenizerFast,
)

WORDS = [
    "the",
    "red",
    "green",
    "car",
    "auto",
    "tea",
    "drives",
    "stops",
    "fast",
    "hot",
    "on",
    "a",
    "road",
    "in",
    "town",
    "every",
    "day",
]


@pytest.fixture(scope="session")
def masked_lm(tmp_path_factory) -> Path:
    return build_bert(tmp_path_factory.mktemp("masked_lm"), BertForMaskedLM, seed=0)


@pytest.fixture(scope="session")
def other_masked_lm(tmp_path_factory) -> Path:
    return build_bert(tmp_path_factory.mktemp("other_masked_lm"), BertForMaskedLM, seed=1)


@pytest.fixture(scope="session")
def headless_bert(tmp_path_factory) -> Path:
    return build_bert(tmp_path_factory.mktemp("headless"), BertModel, seed=0)


def build_bert(folder: Path, model_class, seed: int) -> Path:
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "!", ",", "##s", "##ing", "7", *WORDS]
    vocabulary_file = folder / "words.txt"
    vocabulary_file.write_text("\n".join(vocabulary))
    tokenizer = BertTokenizerFast(vocab=str(vocabulary_file))
    vocabulary_file.unlink()
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=24,
        initializer_range=0.5,
    )
    model_class(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def marian(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("marian")
    vocabulary = {word: token for token, word in enumerate(["</s>", "<unk>", *WORDS, "<pad>"])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 0)])
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="</s>", unk_token="<unk>", pad_token="<pad>"
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = MarianConfig(
        vocab_size=len(vocabulary),
        d_model=32,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=12,
        pad_token_id=len(vocabulary) - 1,
        decoder_start_token_id=len(vocabulary) - 1,
        eos_token_id=0,
        forced_eos_token_id=0,
        dropout=0.0,
        init_std=0.1,
    )
    model = MarianMTModel(config)
    teach_to_copy(model, n_words=len(WORDS))
    model.save_pretrained(folder)
    return folder


def teach_to_copy(model: MarianMTModel, n_words: int) -> None:
    """An untrained decoder says the same whatever it reads; a few steps make it listen."""
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(100):
        texts = torch.cat([torch.randint(2, 2 + n_words, (32, 4)), torch.zeros(32, 1, dtype=torch.long)], dim=1)
        optimizer.zero_grad()
        model(input_ids=texts, labels=texts).loss.backward()
        optimizer.step()


@pytest.fixture(scope="session")
def wordnet_dir(tmp_path_factory) -> Path:
    """A WordNet of a few synsets, in the format of wndb(5WN)."""
    folder = tmp_path_factory.mktemp("wordnet")
    write_wordnet(
        folder,
        noun=[["car", "auto", "motor_vehicle"], ["car", "gondola"], ["in", "inch"], ["café", "coffeehouse"]],
        verb=[["drive", "steer"]],
        adj=[["fast(a)", "quick(p)"]],
        adv=[["fast", "tight"]],
    )
    return folder


def write_wordnet(folder: Path, **synsets: list[list[str]]) -> None:
    licence = "  1 This stands where the licence stands.  \n"
    for part, groups in synsets.items():
        data, index = licence.encode(), {}
        for group in groups:
            words = " ".join(f"{word} 0" for word in group)
            for word in group:
                index.setdefault(word.split("(")[0].lower(), []).append(len(data))
            head = f"{len(data):08d} 06 {part[0]} {len(group):02x} {words}"
            data += f"{head} 001 @ 00000000 n 0000 | a gloss; or two\n".encode()
        (folder / f"data.{part}").write_bytes(data)
        lines = [
            f"{word} {part[0]} {len(at)} 2 @ ~ {len(at)} 1 {' '.join(f'{offset:08d}' for offset in at)}  \n"
            for word, at in sorted(index.items())
        ]
        (folder / f"index.{part}").write_text(licence + "".join(lines), "utf-8")
