from __future__ import annotations

import time

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from shoal.encoder import tokens as tokens_module
from shoal.encoder.tokens import length_groups, tokenise

TEXTS = ["the red fish", "", "fish", "the whale sleeps in the deep blue sea", "qi"]


def rows(tokens):
    return [tokens.ids[a:b].tolist() for a, b in zip(tokens.offsets[:-1], tokens.offsets[1:], strict=True)]


def test_ids_are_the_tokenizers_own(tokenizer):
    tokens = tokenise(tokenizer, TEXTS, 64)
    assert rows(tokens) == tokenizer(TEXTS)["input_ids"]
    assert tokens.owner.tolist() == [0, 1, 2, 3, 4]
    assert tokens.lengths.tolist() == [5, 2, 3, 10, 4]
    assert (len(tokens), tokens.truncated, tokens.pad_id) == (5, 0, tokenizer.pad_token_id)


def test_truncation_is_the_tokenizers_own_and_is_counted(tokenizer):
    tokens = tokenise(tokenizer, TEXTS, 5)
    assert rows(tokens) == tokenizer(TEXTS, truncation=True, max_length=5)["input_ids"]
    assert tokens.truncated == 1  # the whale; "the red fish" fills the window exactly


def test_chunks_cover_a_long_text_once_and_nothing_is_truncated(tokenizer):
    tokens = tokenise(tokenizer, TEXTS, 5, chunk=True)
    assert tokens.owner.tolist() == [0, 1, 2, 3, 3, 3, 4]
    cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
    chunks = rows(tokens)[3:6]
    assert all(chunk[0] == cls and chunk[-1] == sep and len(chunk) <= 5 for chunk in chunks)
    assert [i for chunk in chunks for i in chunk[1:-1]] == tokenizer(TEXTS[3], add_special_tokens=False)["input_ids"]
    assert tokens.truncated == 0


def test_no_texts(tokenizer):
    tokens = tokenise(tokenizer, [], 8)
    assert (len(tokens), tokens.ids.size, tokens.offsets.tolist()) == (0, 0, [0])
    assert list(length_groups(tokens.lengths)) == []


def test_blocks_of_texts_are_joined_in_order(tokenizer, monkeypatch):
    whole = tokenise(tokenizer, TEXTS, 6, chunk=True)
    monkeypatch.setattr(tokens_module, "TEXTS_PER_CALL", 2)
    pieces = tokenise(tokenizer, TEXTS, 6, chunk=True)
    assert rows(pieces) == rows(whole)
    assert pieces.owner.tolist() == whole.owner.tolist()


@pytest.mark.parametrize("family", ["roberta", "mpnet", "distilbert"])
def test_special_tokens_of_other_families(kin, family):
    _, tokenizer = kin(family)
    assert rows(tokenise(tokenizer, ["a b", "c"], 8)) == [[0, 4, 5, 2], [0, 6, 2]]
    assert rows(tokenise(tokenizer, ["a b c d"], 4)) == [[0, 4, 5, 2]]


def test_without_special_tokens_an_empty_text_is_one_padding_token(kin):
    _, tokenizer = kin("gpt2")
    tokens = tokenise(tokenizer, ["a b", ""], 8)
    assert rows(tokens) == [[1, 2], [0]]


def test_padded_fills_up_with_the_pad_id(kin):
    _, tokenizer = kin("roberta")
    tokens = tokenise(tokenizer, ["a", "a b c", "b"], 8)
    ids, mask = tokens.padded(np.array([2, 1]))
    assert ids.tolist() == [[0, 5, 2, 1, 1], [0, 4, 5, 6, 2]]
    assert mask.tolist() == [[True, True, True, False, False], [True] * 5]


@pytest.mark.parametrize("budget", [1, 7, 64, 10_000])
def test_length_groups_cover_each_row_once_longest_first(budget):
    lengths = np.random.default_rng(0).integers(1, 30, size=200)
    groups = list(length_groups(lengths, tokens=budget))
    order = np.concatenate(groups)
    assert sorted(order.tolist()) == list(range(200))
    assert (np.diff(lengths[order]) <= 0).all()
    assert all(len(group) == 1 or len(group) * lengths[group].max() <= budget for group in groups)


def test_a_text_of_ten_megabytes_is_its_head(tokenizer):
    head = "the whale sleeps in the deep blue sea " * 20
    long = head + "green fish " * 900_000
    started = time.perf_counter()
    tokens = tokenise(tokenizer, [long], 64)
    assert time.perf_counter() - started < 1  # read whole it takes ten times as long
    assert rows(tokens) == rows(tokenise(tokenizer, [head], 64))
    assert tokens.truncated == 1


@pytest.mark.parametrize("max_length", [4, 16, 64])
@pytest.mark.parametrize("blank", [0, 500, 1500, 3000, 6000])
def test_the_head_never_changes_the_answer(tokenizer, blank, max_length):
    # A word of a thousand letters is one unknown token; cut at the end of the head it would be many.
    words = ["sea" + " " * blank, "z" * 1000] * 8
    for shift in range(0, 300, 60):
        text = "x" * shift + " " + " ".join(words)
        expected = tokenizer([text], truncation=True, max_length=max_length)["input_ids"]
        assert rows(tokenise(tokenizer, [text], max_length)) == expected


def test_a_word_cut_in_two_by_the_head_lies_outside_the_window():
    # 100 letters are 100 pieces, 101 are one unknown token: the worst that cutting a word can do.
    vocabulary = {"[UNK]": 0, "a": 1, "##a": 2}
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[UNK]")
    room = 40
    limit = (room + tokens_module.UNTRUSTED_TOKENS) * tokens_module.CHARACTERS_PER_TOKEN
    for known in range(20, 80, 5):
        start = "a " * known
        blank = " " * (limit - len(start) - 100)
        text = start + blank + "a" * 5000
        assert rows(tokenise(tokenizer, [text], room)) == [([1] * known + [0])[:room]]


def test_equal_sequences_are_known(tokenizer):
    tokens = tokenise(tokenizer, ["the red fish", "fish", "The  RED fish", "", "fish"], 64)
    first, copies = tokens.distinct()
    assert first.tolist() == [0, 1, 3]
    assert copies.tolist() == [0, 1, 0, 2, 1]
