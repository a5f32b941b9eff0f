from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from shoal.encoder.int8 import Int8Linear, in_int8, rounded_rows
from shoal.encoder.transformer import TransformerEncoder
from shoal.errors import ParameterError

TEXTS = [
    "my parcel never arrived",
    "refund",
    "the parcel came two weeks late and nobody at the depot could say where it had been all that time",
    "I was charged twice",
    "where is my delivery",
    "please refund the second charge",
] * 4


@pytest.fixture(scope="module")
def encoders() -> tuple[TransformerEncoder, TransformerEncoder]:
    return TransformerEncoder.load("builtin"), TransformerEncoder.load("builtin", precision="int8")


def test_rows_are_rounded_to_whole_numbers_by_their_own_scale():
    rounded, scale = rounded_rows(torch.tensor([[1.0, -2.0, 0.5], [100.0, 50.0, -25.0]]))
    assert rounded.tolist() == [[64, -127, 32], [127, 64, -32]]
    torch.testing.assert_close(scale[:, 0], torch.tensor([2 / 127, 100 / 127]))


def test_a_layer_computes_the_product_of_the_rounded_numbers_exactly():
    layer = nn.Linear(3, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[127.0, 0.0, 1.0], [-254.0, 2.0, 0.0]]))
        layer.bias.copy_(torch.tensor([0.5, -1.0]))
    x = torch.tensor([[[127.0, -3.0, 2.0]]])
    assert Int8Linear(layer)(x).tolist() == [[[127 * 127 + 2 + 0.5, -254 * 127 - 6 - 1]]]


def test_a_row_of_zeros_gives_the_bias():
    layer = nn.Linear(8, 4)
    torch.testing.assert_close(Int8Linear(layer)(torch.zeros(2, 8)), layer.bias.expand(2, 4))


def test_all_linear_layers_are_replaced_and_the_model_itself_is_left_alone(encoders):
    model = encoders[0].model
    kinds = {type(part) for part in in_int8(model).modules()}
    assert Int8Linear in kinds
    assert nn.Linear not in kinds
    assert not any(isinstance(part, Int8Linear) for part in model.modules())


def test_vectors_are_near_those_in_float32(encoders):
    exact, rounded = (encoder.encode(TEXTS[:6]) for encoder in encoders)
    cosines = (exact * rounded).sum(axis=1)
    assert cosines.min() > 0.99
    assert cosines.max() < 1 - 1e-6


def test_a_vector_is_the_same_to_the_last_bit_whatever_is_encoded_beside_it(encoders):
    rounded = encoders[1]
    together = rounded.encode(TEXTS)
    alone = np.vstack([rounded.encode([text]) for text in TEXTS[:6]])
    assert (together[:6] == alone).all()
    assert (together[::-1] == rounded.encode(TEXTS[::-1])).all()


def test_the_fingerprint_tells_the_precisions_apart(encoders):
    assert encoders[0].fingerprint != encoders[1].fingerprint


def test_an_unknown_precision_is_rejected(encoders):
    with pytest.raises(ParameterError, match="int4"):
        TransformerEncoder(encoders[0].model, encoders[0].tokenizer, precision="int4")
