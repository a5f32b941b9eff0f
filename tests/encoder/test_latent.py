from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from shoal.encoder.latent import LatentEncoder, load_latent, save_latent
from shoal.encoder.transformer import TransformerEncoder
from tiny_backbone import tiny_backbone

TEXTS = ["a cat", "a dog and a mouse", "two horses"]


@pytest.fixture
def encoder(tmp_path):
    return TransformerEncoder.load(tiny_backbone(tmp_path / "backbone"), max_length=16).eval()


def test_it_is_the_layer_after_the_encoder(encoder):
    latent = torch.nn.Linear(32, 5)
    tokens = encoder.tokenise(TEXTS)
    h = LatentEncoder(encoder, latent)(tokens, np.array([2, 0]))
    expected = encoder.encode(TEXTS)[[2, 0]] @ latent.weight.detach().numpy().T + latent.bias.detach().numpy()
    np.testing.assert_allclose(h.detach(), expected, atol=1e-5)
    h.sum().backward()
    assert latent.weight.grad.any()
    assert any(parameter.grad is not None and parameter.grad.any() for parameter in encoder.parameters())


def test_saved_and_loaded_it_is_the_same_layer(encoder, tmp_path):
    latent = torch.nn.Linear(32, 5)
    folder = tmp_path / "model"
    encoder.save(folder)
    save_latent(latent, folder)
    again = load_latent(folder)
    torch.testing.assert_close(again.state_dict(), latent.state_dict())
    modules = json.loads((folder / "modules.json").read_text())
    assert [module["idx"] for module in modules] == [0, 1, 2, 3]
    assert modules[-1]["path"] == "Dense"
    assert not list(folder.rglob("*.bin"))
