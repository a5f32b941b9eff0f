from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from shoal.encoder import onednn
from shoal.encoder.int8 import Int8Linear, in_int8
from shoal.encoder.onednn import OneDnnLinear, onednn_is_faster, with_fast_layers
from shoal.encoder.transformer import TransformerEncoder

TEXTS = ["red fish swims", "the blue whale sleeps in the deep sea", "green"] * 5


@pytest.fixture
def everywhere(monkeypatch):
    """Use oneDNN on any processor."""
    monkeypatch.setattr(onednn, "onednn_is_faster", lambda: True)


def layer_of(n_in: int = 8, n_out: int = 4, bias: bool = True) -> OneDnnLinear:
    torch.manual_seed(0)
    layer = nn.Linear(n_in, n_out, bias=bias)
    layer.__class__ = OneDnnLinear
    return layer


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(5, 8), (2, 3, 8), (1, 1, 8)])
def test_the_product_is_the_plain_layers(shape, bias):
    layer, x = layer_of(bias=bias), torch.randn(shape)
    plain = nn.functional.linear(x, layer.weight, layer.bias)
    with torch.inference_mode():
        torch.testing.assert_close(layer(x), plain.detach(), rtol=0, atol=1e-6)


def test_an_empty_batch_has_an_empty_product():
    with torch.inference_mode():
        assert layer_of()(torch.empty(0, 8)).shape == (0, 4)


def test_gradients_flow_as_through_a_plain_layer():
    layer, x = layer_of(), torch.randn(3, 8)
    layer(x).sum().backward()
    torch.testing.assert_close(layer.weight.grad, x.sum(dim=0).expand(4, 8))


def test_mixed_precision_is_left_to_torch():
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        assert layer_of()(torch.randn(3, 8)).dtype == torch.bfloat16


def test_a_backbone_encodes_alike_and_keeps_its_weights(backbone, everywhere, monkeypatch):
    fast = TransformerEncoder.load(backbone)
    monkeypatch.setattr(onednn, "onednn_is_faster", lambda: False)
    plain = TransformerEncoder.load(backbone)
    kinds = {type(part) for part in fast.model.modules()}
    assert OneDnnLinear in kinds
    assert nn.Linear not in kinds
    assert not any(isinstance(part, OneDnnLinear) for part in plain.model.modules())
    np.testing.assert_allclose(fast.encode(TEXTS), plain.encode(TEXTS), atol=1e-6)
    assert fast.fingerprint == plain.fingerprint


def test_a_saved_encoder_is_read_by_either(backbone, everywhere, tmp_path, monkeypatch):
    fast = TransformerEncoder.load(backbone)
    fast.save(tmp_path)
    monkeypatch.setattr(onednn, "onednn_is_faster", lambda: False)
    np.testing.assert_allclose(TransformerEncoder.load(str(tmp_path)).encode(TEXTS), fast.encode(TEXTS), atol=1e-6)


def test_layers_in_8_bit_integers_replace_these_too(backbone, everywhere):
    kinds = {type(part) for part in in_int8(TransformerEncoder.load(backbone).model).modules()}
    assert Int8Linear in kinds
    assert OneDnnLinear not in kinds


def test_only_plain_layers_are_changed(everywhere):
    class Own(nn.Linear):
        pass

    kinds = [type(part) for part in with_fast_layers(nn.Sequential(Own(2, 2), nn.Linear(2, 2)))]
    assert kinds == [Own, OneDnnLinear]


@pytest.mark.parametrize(
    ("maker", "capability", "faster"),
    [
        ("AuthenticAMD", "AVX512", True),
        ("AuthenticAMD", "AVX2", False),
        ("GenuineIntel", "AVX512", False),
        ("", "AVX512", False),
    ],
)
def test_only_where_the_default_library_is_slow(maker, capability, faster, monkeypatch):
    monkeypatch.setattr(onednn, "cpu_fact", lambda name: maker)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: True)
    onednn_is_faster.cache_clear()
    try:
        assert onednn_is_faster() is faster
    finally:
        onednn_is_faster.cache_clear()


def test_the_plain_layer_is_used_without_mkl(monkeypatch):
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: False)
    onednn_is_faster.cache_clear()
    try:
        assert not onednn_is_faster()
    finally:
        onednn_is_faster.cache_clear()
