from __future__ import annotations

import numpy as np
import pytest
import torch

from shoal.encoder.word_convolution import WordConvolution, WordRows, k_max


@pytest.fixture
def network():
    torch.manual_seed(0)
    return WordConvolution(np.random.default_rng(0).normal(size=(9, 6)), maps=(3, 2), k_top=2)


def test_the_largest_of_each_map_in_their_order():
    x = torch.tensor([[[1.0, 5.0, 3.0, 4.0], [9.0, 1.0, 2.0, 0.0]], [[1.0, 5.0, 3.0, 4.0], [9.0, 1.0, 2.0, 0.0]]])
    kept = k_max(x, lengths=torch.tensor([4, 2]), keep=torch.tensor([3, 1]))
    assert kept.tolist() == [[[5, 3, 4], [9, 1, 2]], [[5, 0, 0], [9, 0, 0]]]
    assert k_max(x, torch.tensor([4, 1]), torch.tensor([6, 6])).shape == (2, 2, 6)
    assert k_max(x, torch.tensor([4, 1]), torch.tensor([6, 6]))[1].tolist() == [[1, 0, 0, 0, 0, 0], [9, 0, 0, 0, 0, 0]]


def test_gradients_reach_what_was_kept_and_nothing_else():
    x = torch.tensor([[[1.0, 5.0, 3.0]]], requires_grad=True)
    k_max(x, torch.tensor([3]), torch.tensor([2])).sum().backward()
    assert x.grad.tolist() == [[[0, 1, 1]]]


def test_sizes(network):
    assert network.columns == 8  # six, padded for two foldings
    assert network.dimension == 8 // 4 * 2 * 2
    assert network(torch.tensor([[1.0, 2.0, 0.0], [3.0, 4.0, 5.0]])).shape == (2, 8)
    assert network.encode(np.array([[1, 2, 0], [0, 0, 0]], np.float32)).shape == (2, 8)


def test_by_hand():
    """One coordinate pair, one map, no padding effects: convolution, folding, pooling and tanh, one after another."""
    network = WordConvolution(np.eye(4), maps=(1, 1), width=1, k_top=1)
    with torch.no_grad():
        for layer, factor in ((network.first, 2.0), (network.second, 3.0)):
            layer.weight.fill_(factor)
            layer.bias.zero_()
    # words 1 and 2 are coordinates 1 and 2; folding adds coordinate 1 to 3 and 2 to 4, then the two sums
    first = np.tanh(2.0)  # of two words one is kept of each folded coordinate
    assert network(torch.tensor([[1.0, 2.0]])).tolist() == [[pytest.approx(np.tanh(2 * 3 * first), abs=1e-6)]]


def test_padding_and_company_do_not_show(network):
    rows = np.array([[1, 2, 3, 0, 0, 0], [4, 5, 6, 7, 8, 9], [1, 0, 0, 0, 0, 0]], np.float32)
    together = network.encode(rows)
    alone = np.concatenate([network.encode(row[None]) for row in rows])
    np.testing.assert_allclose(together, alone, atol=1e-6)
    np.testing.assert_allclose(network.encode(rows[:1, :3]), together[:1], atol=1e-6)


def test_order_of_words_matters(network):
    one, other = network.encode(np.array([[1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]], np.float32))
    assert np.abs(one - other).max() > 1e-3


def test_saved_and_read(network, tmp_path):
    words = WordRows([f"w{i}" for i in range(9)], 5)
    network.save(tmp_path, words)
    again, known = WordConvolution.load(tmp_path)
    texts = ["w1 w2 w3", "w8 what w0", ""]
    np.testing.assert_array_equal(known.rows(texts), words.rows(texts))
    np.testing.assert_array_equal(again.encode(known.rows(texts)), network.encode(words.rows(texts)))
