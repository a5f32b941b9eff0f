from __future__ import annotations

import numpy as np
import pytest
import torch

from shoal.encoder.noise import delete_tokens
from shoal.encoder.tokens import TokenisedTexts

# Three texts between the special tokens 1 and 2; the last has nothing between them.
SEQUENCES = [[1, *range(10, 50), 2], [1, 60, 61, 2], [1, 2]]
LENGTHS = [len(sequence) for sequence in SEQUENCES]
TEXTS = TokenisedTexts(
    np.concatenate(SEQUENCES).astype(np.int32), np.concatenate([[0], np.cumsum(LENGTHS)]), np.arange(3), 0, 0
)


def damaged(ratio, rows=(0, 1, 2)):
    found = delete_tokens(TEXTS, np.array(rows), ratio, 1, 1)
    return [found.ids[start:end].tolist() for start, end in zip(found.offsets[:-1], found.offsets[1:], strict=True)]


@pytest.mark.parametrize("ratio", [0.0, 0.3, 0.6, 1.0])
def test_special_tokens_and_at_least_one_other_stay_in_order(ratio):
    torch.manual_seed(0)
    for _ in range(20):
        for before, after in zip(SEQUENCES, damaged(ratio), strict=True):
            assert (after[0], after[-1]) == (1, 2)
            assert after == [token for token in before if token in after]
            assert len(after) >= min(3, len(before))


def test_the_ratio_is_the_share_that_goes():
    torch.manual_seed(0)
    assert damaged(0.0) == SEQUENCES
    assert [len(after) for after in damaged(1.0)] == [3, 3, 2]
    left = np.mean([len(damaged(0.6, [0])[0]) - 2 for _ in range(200)])
    assert 0.37 < left / 40 < 0.43


def test_rows_come_in_the_order_asked_for():
    assert damaged(0.0, (2, 0, 1, 0)) == [SEQUENCES[i] for i in (2, 0, 1, 0)]


def test_noise_is_new_each_time_and_torchs_own():
    torch.manual_seed(3)
    state = torch.get_rng_state()
    first, second = damaged(0.6), damaged(0.6)
    assert first != second
    torch.set_rng_state(state)
    assert damaged(0.6) == first
