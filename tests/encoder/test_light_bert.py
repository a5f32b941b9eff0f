"""A saved BERT in NumPy gives the vectors of the transformer, and leaves what is not plain to it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from shoal.encoder.light_bert import LightBert
from shoal.encoder.transformer import TransformerEncoder
from tiny_backbone import tiny_backbone

TEXTS = ["goal", "the match ended late", "oven bread and more bread"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("light")
    TransformerEncoder.load(tiny_backbone(folder / "tiny"), normalize=False).save(folder / "saved")
    return folder / "saved" / "0_Transformer"


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_the_vectors_are_those_of_the_transformer(folder, pooling):
    encoder = TransformerEncoder.load(str(folder), pooling=pooling, normalize=False)
    np.testing.assert_allclose(LightBert(folder).encode(TEXTS, 64, pooling), encoder.encode(TEXTS), atol=2e-5)


def test_a_long_text_is_left_to_the_transformer(folder):
    assert LightBert(folder).encode([*TEXTS, "goal " * 100], 64, "mean") is None


@pytest.mark.parametrize("change", [{"model_type": "mpnet"}, {"hidden_act": "relu"}])
def test_what_is_no_plain_bert_is_refused(folder, tmp_path, change):
    config = json.loads((folder / "config.json").read_text())
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "config.json").write_text(json.dumps({**config, **change}))
    with pytest.raises(ValueError, match="is no plain BERT"):
        LightBert(tmp_path)
