from __future__ import annotations

import numpy as np
import pytest
import torch

from shoal.encoder.masking import Masking, read_masked
from shoal.encoder.transformer import TransformerEncoder
from shoal.errors import ModelError

TEXTS = ["the red fish", "", "fish", "the whale sleeps in the deep blue sea " * 3, "the [MASK] fish", "日本 語"]


@pytest.fixture(scope="module")
def encoder(backbone):
    return TransformerEncoder.load(backbone, max_length=32).eval()


@pytest.fixture(scope="module")
def tokens(encoder):
    return encoder.tokenise(TEXTS)


def masks_a_text(tokens, masked):
    return [
        int((tokens.ids[a:b] != masked.ids[a:b]).sum())
        for a, b in zip(tokens.offsets[:-1], tokens.offsets[1:], strict=True)
    ]


@pytest.mark.parametrize(("share", "expected"), [(0.1, [1, 0, 1, 2, 1, 0]), (0.5, [2, 0, 1, 12, 1, 0])])
def test_a_share_of_each_text_and_at_least_one_token(encoder, tokens, share, expected):
    for _ in range(5):  # 24 words of the whale; of three words one and a half, of two one: halves to even
        assert masks_a_text(tokens, Masking.of(encoder.tokenizer, share)(tokens)) == expected


def test_only_masks_are_put_in_and_only_where_there_is_no_special_token(encoder, tokens):
    masking = Masking.of(encoder.tokenizer, 0.4)
    seen = set()
    for _ in range(50):
        masked = masking(tokens)
        changed = np.flatnonzero(masked.ids != tokens.ids)
        assert (masked.ids[changed] == encoder.tokenizer.mask_token_id).all()
        seen |= set(changed.tolist())
    special = np.isin(tokens.ids, encoder.tokenizer.all_special_ids)
    assert seen == set(np.flatnonzero(~special).tolist())  # every other token has its turn
    assert special.sum() > 2 * len(TEXTS)
    np.testing.assert_array_equal(masked.offsets, tokens.offsets)


def test_masks_are_fresh_and_come_from_torchs_generator(encoder, tokens):
    masking = Masking.of(encoder.tokenizer, 0.2)
    torch.manual_seed(3)
    first, second = masking(tokens).ids, masking(tokens).ids
    torch.manual_seed(3)
    np.testing.assert_array_equal(masking(tokens).ids, first)
    assert (first != second).any()


def test_a_backbone_without_a_mask_token_is_refused(kin):
    _, tokenizer = kin("gpt2")
    with pytest.raises(ModelError, match=r"no mask token; pass a backbone .* or masked_lm=0 with mask_share=0"):
        Masking.of(tokenizer, 0.1)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_one_reading_gives_the_vectors_and_the_states_at_the_masks(backbone, pooling):
    encoder = TransformerEncoder.load(backbone, max_length=32, pooling=pooling).eval()
    tokens = encoder.tokenise(TEXTS)
    masked = Masking.of(encoder.tokenizer, 0.3)(tokens)
    reading = read_masked(encoder, tokens, masked)
    torch.testing.assert_close(reading.vectors, encoder(masked, np.arange(len(TEXTS))), atol=0, rtol=0)
    expected, answers = [], []
    for a, b in zip(tokens.offsets[:-1], tokens.offsets[1:], strict=True):  # one by one, without padding
        ids = torch.from_numpy(masked.ids[None, a:b].astype(np.int64))
        changed = masked.ids[a:b] != tokens.ids[a:b]
        expected.append(encoder.model(input_ids=ids).last_hidden_state[0][torch.from_numpy(changed)])
        answers += tokens.ids[a:b][changed].tolist()
    by_answer = np.argsort(reading.answers.numpy(), kind="stable")
    by_expected = np.argsort(answers, kind="stable")
    assert reading.answers[by_answer].tolist() == np.array(answers)[by_expected].tolist()
    found, wanted = reading.states[by_answer].sum(dim=0), torch.cat(expected)[by_expected].sum(dim=0)
    torch.testing.assert_close(found, wanted, atol=1e-4, rtol=1e-4)


def test_select_takes_sequences_out_in_any_order(tokens):
    rows = np.array([3, 0, 0, 1])
    chosen = tokens.select(rows)
    for place, row in enumerate(rows):
        np.testing.assert_array_equal(
            chosen.ids[chosen.offsets[place] : chosen.offsets[place + 1]],
            tokens.ids[tokens.offsets[row] : tokens.offsets[row + 1]],
        )
    assert chosen.lengths.tolist() == tokens.lengths[rows].tolist()
    assert len(tokens.select(np.array([], dtype=np.int64))) == 0
