from __future__ import annotations

import numpy as np
import torch
from torch import nn

from shoal.encoder.auto_encoder import AutoEncoder, VectorEncoder, hidden_sizes, unit_power_scale


def test_relu_stands_behind_every_layer_but_the_last_of_each_half():
    machine = AutoEncoder((7, 5, 6, 2))
    kinds = [type(part) for part in machine.encoder]
    assert kinds == [type(part) for part in machine.decoder] == [nn.Linear, nn.ReLU] * 2 + [nn.Linear]
    widths = [[part.out_features for part in half if isinstance(part, nn.Linear)] for half in machine.children()]
    assert widths == [[5, 6, 2], [6, 5, 7]]
    assert machine.dimension == 2


def test_without_hidden_layers_it_is_linear():
    machine = AutoEncoder((4, 2))
    assert [type(part) for part in machine.encoder] == [nn.Linear]


def test_the_trained_half_takes_vectors_as_they_are():
    torch.manual_seed(0)
    machine = AutoEncoder((6, 5, 3))
    vectors = np.random.default_rng(0).normal(size=(9000, 6)).astype(np.float32)
    expected = machine.encoder(torch.from_numpy(vectors * np.float32(4))).detach().numpy()
    encoder = VectorEncoder(machine.encoder, scale=4.0)
    codes = encoder.encode(vectors)
    assert codes.dtype == np.float32
    np.testing.assert_allclose(codes, expected, atol=1e-5)


def test_a_rows_code_does_not_depend_on_its_company():
    torch.manual_seed(0)
    encoder = VectorEncoder(AutoEncoder((300, 200, 11)).encoder)
    vectors = np.random.default_rng(0).normal(size=(300, 300)).astype(np.float32)
    alone = np.concatenate([encoder.encode(row[None]) for row in vectors])
    np.testing.assert_array_equal(alone, encoder.encode(vectors))


def test_saved_and_read_again_it_is_the_same():
    torch.manual_seed(0)
    encoder = VectorEncoder(AutoEncoder((6, 5, 4, 3)).encoder, scale=0.3)
    again = VectorEncoder.from_state(encoder.state())
    vectors = np.random.default_rng(0).normal(size=(5, 6)).astype(np.float32)
    np.testing.assert_array_equal(again.encode(vectors), encoder.encode(vectors))


def test_sizes_and_scale():
    assert hidden_sizes(50) == (100, 100)
    assert hidden_sizes(3000) == (500, 500)
    vectors = np.random.default_rng(0).normal(scale=0.01, size=(50, 40)).astype(np.float32)
    assert np.isclose(np.square(vectors * unit_power_scale(vectors)).mean(), 1)
    assert unit_power_scale(np.zeros((3, 2), dtype=np.float32)) == 1
