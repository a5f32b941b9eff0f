"""Grouping by length changes the cost of a step and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from shoal.encoder import tokens as token_module
from shoal.encoder import transformer as transformer_module
from shoal.functional import mean_pool
from shoal.training import CorpusViews

TEXTS = ["cat", "a dog barks at night", "the horse it", "mouse", "sheep and goats in the field", "saw"]


@pytest.fixture
def small_groups(monkeypatch):
    monkeypatch.setattr(
        transformer_module, "length_groups", lambda lengths: token_module.length_groups(lengths, tokens=40)
    )


@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize("normalize", [True, False])
def test_grouped_vectors_and_gradients_equal_those_of_one_padded_batch(encoder, normalize):
    encoder.normalize = normalize
    tokens = encoder.tokenise(TEXTS)
    views = CorpusViews.joined([tokens, encoder.tokenise(TEXTS[::-1])])
    batch = views.batch(np.array([4, 0, 3, 1, 5, 2]))
    assert len(list(transformer_module.length_groups(batch.lengths))) > 3
    weights = torch.linspace(-1, 1, 32)

    grouped = encoder(batch.tokens, batch.views.ravel())
    (grouped @ weights).square().sum().backward()
    found = {name: p.grad.clone() for name, p in encoder.named_parameters() if p.grad is not None}

    encoder.zero_grad(set_to_none=True)
    ids, mask = batch.tokens.padded(batch.views.ravel())
    states = encoder.model(input_ids=ids, attention_mask=mask.long()).last_hidden_state
    plain = mean_pool(states, mask)
    plain = torch.nn.functional.normalize(plain) if normalize else plain
    (plain @ weights).square().sum().backward()

    torch.testing.assert_close(grouped, plain, atol=1e-5, rtol=1e-5)
    expected = {name: p.grad for name, p in encoder.named_parameters() if p.grad is not None}
    assert found.keys() == expected.keys()
    assert "model.embeddings.word_embeddings.weight" in found
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, atol=1e-5, rtol=1e-4)


def test_training_and_encoding_give_the_same_vectors(encoder):
    tokens = encoder.tokenise(TEXTS)
    vectors = encoder(tokens, np.arange(len(TEXTS))).detach().numpy()
    np.testing.assert_allclose(vectors, encoder.encode(TEXTS), atol=1e-6)
