from __future__ import annotations

import numpy as np
import pytest
import torch

from shoal.encoder.decoder import SentenceDecoder, corpus_vocabulary
from shoal.encoder.transformer import TransformerEncoder
from shoal.errors import ModelError, ParameterError

TEXTS = ["a b c", "d", "e f g h i j", "b a", "c c c c"]
ROWS = np.arange(len(TEXTS))
FAMILIES = ["bert", "roberta", "mpnet", "distilbert"]


@pytest.fixture
def make(kin, backbone):
    def build(family, **options):
        if family == "bert":
            encoder = TransformerEncoder.load(backbone, max_length=16)
        else:
            encoder = TransformerEncoder(*kin(family), max_length=14)
        torch.manual_seed(1)
        return encoder, SentenceDecoder(encoder, **options).eval()

    return build


@pytest.mark.parametrize("family", FAMILIES)
def test_a_place_sees_what_is_before_it_and_nothing_behind(make, family):
    encoder, decoder = make(family)
    encoder.eval()
    words = torch.randn(1, 6, encoder.dimension)
    changed = words.clone()
    changed[:, 3:] = torch.randn(1, 3, encoder.dimension)
    z = torch.randn(1, encoder.dimension)
    before, after = decoder._states(z, words), decoder._states(z, changed)
    torch.testing.assert_close(before[:, :3], after[:, :3])
    assert (before[:, 3:] - after[:, 3:]).abs().amax(dim=2).min() > 1e-3


@pytest.mark.parametrize("family", FAMILIES)
def test_the_decoder_can_use_nothing_but_z(make, family, monkeypatch):
    """Changing the encoder's other token states changes nothing; changing z changes every text's loss."""
    encoder, decoder = make(family)
    encoder.eval()
    tokens = encoder.tokenise(TEXTS)
    states = encoder.states

    def losses(pooling):
        encoder.pooling = pooling
        return decoder(encoder(tokens, ROWS), tokens, ROWS)

    def scrambled(*arguments):
        for group, found, mask in states(*arguments):
            yield group, torch.cat([found[:, :1], torch.randn_like(found[:, 1:])], dim=1), mask

    for parameter in decoder.parameters():  # fresh weights hardly let z through
        torch.nn.init.normal_(parameter, std=0.5) if parameter.ndim == 2 else None
    from_first, from_all = losses("cls"), losses("mean")
    with monkeypatch.context() as patch:
        patch.setattr(encoder, "states", scrambled)
        torch.testing.assert_close(losses("cls"), from_first)  # z is the first token's state
        assert (losses("mean") - from_all).abs().min() > 1e-4  # z is made of the scrambled ones
    z = encoder(tokens, ROWS)
    moved = (decoder(z, tokens, ROWS) - decoder(z + 1.0, tokens, ROWS)).abs()
    assert moved.min() > 1e-4
    (gradient,) = torch.autograd.grad(decoder(z, tokens, ROWS)[2], z, retain_graph=True)
    assert gradient[2].abs().sum() > 0
    assert not gradient[[0, 1, 3, 4]].any()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_loss_does_not_depend_on_company_or_order(make, family):
    encoder, decoder = make(family)
    encoder.eval()
    tokens = encoder.tokenise(TEXTS)
    z = encoder(tokens, ROWS)
    together = decoder(z, tokens, ROWS)
    order = np.array([3, 1, 4, 0, 2])
    torch.testing.assert_close(decoder(z[torch.from_numpy(order)], tokens, order), together[torch.from_numpy(order)])
    for row in ROWS:
        torch.testing.assert_close(decoder(z[[row]], tokens, np.array([row])), together[[row]], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_are_tied_and_kept_once(make, family):
    encoder, decoder = make(family)
    own = {id(parameter) for parameter in encoder.parameters()}
    assert not own & {id(parameter) for parameter in decoder.parameters()}
    tokens = encoder.tokenise(TEXTS)
    decoder(torch.randn(len(TEXTS), encoder.dimension), tokens, ROWS).sum().backward()
    reached = [name for name, parameter in encoder.model.named_parameters() if parameter.grad is not None]
    assert any("word_embeddings" in name for name in reached)
    assert any("layer.0" in name for name in reached)
    assert all(parameter.grad is not None for parameter in decoder.parameters())


def test_the_corpus_vocabulary_is_the_full_softmax_given_that_the_token_occurs(make):
    encoder, full = make("bert")
    tokens = encoder.eval().tokenise(TEXTS)
    used = corpus_vocabulary(tokens)
    assert used.tolist() == sorted({*tokens.ids.tolist(), tokens.pad_id})
    _, reduced = make("bert", vocabulary=used)
    shared = {name: value for name, value in full.state_dict().items() if name != "bias"}
    reduced.load_state_dict(shared, strict=False)
    z = encoder(tokens, ROWS)
    with torch.no_grad():
        absent = np.setdiff1d(np.arange(len(full.bias)), used)
        assert (reduced(z, tokens, ROWS) < full(z, tokens, ROWS)).all()
        full.bias[torch.from_numpy(absent)] = -torch.inf
        torch.testing.assert_close(reduced(z, tokens, ROWS), full(z, tokens, ROWS))


def test_fewer_layers_and_other_families(make):
    _, decoder = make("bert", n_layers=1)
    assert len(decoder.attend) == 1
    for n_layers in (0, 3):
        with pytest.raises(ParameterError, match=f"decoder_layers={n_layers} but this backbone has 2 layers"):
            make("bert", n_layers=n_layers)
    with pytest.raises(ModelError, match="the layers of a 'gpt2' backbone cannot be run one by one"):
        make("gpt2")
