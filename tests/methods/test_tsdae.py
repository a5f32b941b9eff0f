from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.base import clone
from transformers import AutoTokenizer, BertConfig, BertForMaskedLM, GPT2Config, GPT2Model

import shoal
from shoal.encoder.decoder import SentenceDecoder, corpus_vocabulary
from shoal.encoder.transformer import TransformerEncoder
from shoal.errors import ModelError, ParameterError
from shoal.methods.denoising import make_decoder
from shoal.methods.fine_tuned import Material
from shoal.methods.objectives.denoising import TSDAEObjective
from shoal.methods.reading import Reading
from shoal.methods.tsdae import PRESETS, TSDAE
from shoal.training import CorpusViews
from tiny_backbone import tiny_backbone

ANIMALS = ["cat", "dog", "horse", "sheep", "goat"]
TEXTS = [f"the {animal} {verb}" for animal in ANIMALS for verb in ("ran", "slept")]
WORDS = ("the", "ran", "slept", *ANIMALS)


@pytest.fixture(scope="module")
def backbone(tmp_path_factory):
    return tiny_backbone(tmp_path_factory.mktemp("backbone"), WORDS)


@pytest.fixture
def build(backbone):
    small = {"batch_size": 4, "learning_rate": 1e-4, "head_learning_rate": 1e-3}
    return lambda **params: TSDAE(**{"n_clusters": 2, "backbone": backbone, **small, **params})


@pytest.fixture
def objective(backbone):
    def make(deletion):
        encoder = TransformerEncoder.load(backbone, max_length=32)
        decoder = SentenceDecoder(encoder)
        options = {"special": (1, 1), "deletion": deletion, "scale": 6.0, "n_init": 2}
        made = TSDAEObjective(encoder, decoder, n_clusters=2, dimension=32, **options).eval()
        return made, CorpusViews.repeated(encoder.tokenise(TEXTS), 1).batch(np.array([7, 2, 4]))

    return make


def test_the_loss_is_equation_1(objective):
    tsdae, batch = objective(deletion=0.0)
    z = 6.0 * tsdae.encoder(batch.tokens, batch.rows)
    expected = tsdae.decoder(z, batch.tokens, batch.rows).mean()
    terms = tsdae(batch)
    assert terms.keys() == {"reconstruction"}
    torch.testing.assert_close(terms["reconstruction"], expected)


def test_damaged_texts_go_in_and_whole_ones_are_asked_for(objective, monkeypatch):
    tsdae, batch = objective(deletion=1.0)
    seen = {}
    encode, decode = tsdae.encoder.forward, tsdae.decoder.forward

    def encoding(tokens, rows):
        seen["in"] = tokens.lengths[rows].tolist()
        return encode(tokens, rows)

    def decoding(z, tokens, rows):
        seen["out"] = tokens.lengths[rows].tolist()
        return decode(z, tokens, rows)

    monkeypatch.setattr(tsdae.encoder, "forward", encoding)
    monkeypatch.setattr(tsdae.decoder, "forward", decoding)
    tsdae(batch)
    assert seen == {"in": [3, 3, 3], "out": [5, 5, 5]}


def test_noise_is_new_at_every_step_and_follows_the_seed(objective):
    tsdae, batch = objective(deletion=0.6)
    losses = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        losses.append([tsdae(batch)["reconstruction"].item() for _ in range(3)])
    assert losses[0] == losses[1] != losses[2]
    assert len(set(losses[0])) > 1


@pytest.mark.slow  # a long training
def test_ten_sentences_are_learnt_by_heart(build):
    model = build(
        batch_size=10, epochs=200, deletion=0.0, decoder_layers=None, trainable_layers="all", learning_rate=3e-3,
        head_learning_rate=3e-3, evaluate_every=1000,
    ).fit(TEXTS)  # fmt: skip
    losses = [record["reconstruction"] for record in model.history_ if record["event"] == "step"]
    assert losses[0] > 2
    assert np.mean(losses[-5:]) < 0.05


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"pooling": "cls", "normalize": False, "scale": 1.0, "trainable_layers": "all"},
        {"vocabulary": "full", "decoder_layers": None},
    ],
)
def test_every_variant_keeps_the_promises(build, params, tmp_path):
    model = build(**params).fit(TEXTS)
    assert (model.predict(TEXTS) == model.labels_).all()
    assert [int(model.predict([text])[0]) for text in TEXTS[:4]] == model.labels_[:4].tolist()
    again = clone(model).fit(TEXTS)
    assert (again.labels_ == model.labels_).all()
    np.testing.assert_array_equal(again.probabilities_, model.probabilities_)
    model.save(tmp_path / "model")
    assert (shoal.load(tmp_path / "model").predict(TEXTS) == model.labels_).all()
    assert model.transform(TEXTS).shape == (10, 32)


def test_the_corpus_vocabulary_is_smaller(build):
    tokens = TransformerEncoder.load(build().backbone, max_length=32).tokenise(TEXTS)
    sizes = {}
    for vocabulary in ("full", "corpus"):
        model = build(vocabulary=vocabulary)
        model.reading_ = Reading.from_dict(None, model.backbone)
        model.encoder_ = TransformerEncoder.load(model.backbone, max_length=32)
        material = Material(TEXTS, CorpusViews.repeated(tokens, 1), model.encoder_, seed=0)
        sizes[vocabulary] = len(make_decoder(model, material).bias)
    assert sizes["corpus"] == len(corpus_vocabulary(tokens)) < sizes["full"]


@pytest.mark.parametrize("layers", ["all", 1])
def test_a_backbone_that_cannot_decode_is_named(build, backbone, monkeypatch, layers):
    gpt2 = GPT2Model(GPT2Config(n_layer=1, n_head=2, n_embd=32, vocab_size=120, n_positions=64))
    monkeypatch.setattr(
        "shoal.encoder.transformer.load_backbone", lambda name: (gpt2, AutoTokenizer.from_pretrained(backbone))
    )
    with pytest.raises(ModelError, match="the layers of a 'gpt2' backbone cannot be run one by one; pass a backbone"):
        build(trainable_layers=layers).fit(TEXTS)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"deletion": 1.5}, "deletion=1.5 but it must be a number from 0 to 1"),
        ({"deletion": "most"}, "deletion='most'"),
        ({"vocabulary": "small"}, "vocabulary='small' is unknown; pass one of full, corpus"),
        ({"clusterer": "head"}, "clusterer='head' is unknown; pass one of own, spherical-kmeans"),
        ({"scale": 0}, "scale=0 but it must be a number > 0"),
        ({"decoder_layers": 3}, "decoder_layers=3 but this backbone has 2 layers; pass 1 to 2, or None for all"),
        ({"trainable_layers": 9}, "trainable_layers=9 but this backbone has 2 layers"),
    ],
)
def test_parameters_that_do_not_work_are_named(build, params, message):
    with pytest.raises(ParameterError, match=message):
        build(**params).fit(TEXTS)


def test_presets_are_parameters():
    for preset in PRESETS.values():
        assert TSDAE(**preset).get_params().items() >= preset.items()
    paper = TSDAE(**PRESETS["paper"])
    assert (paper.batch_size, paper.learning_rate, paper.epochs, paper.pooling) == (8, 2e-5, 2, "cls")
    assert (paper.decoder_layers, paper.vocabulary, paper.deletion) == (None, "full", 0.6)


@pytest.mark.slow
def test_the_built_in_model_learns_to_write_its_texts():
    model = TSDAE(n_clusters=2, epochs=5, batch_size=5).fit(TEXTS)
    losses = [record["reconstruction"] for record in model.history_ if record["event"] == "step"]
    assert losses[-1] < losses[0] - 0.1


def test_the_decoder_starts_from_the_checkpoints_own_head(build, backbone, tmp_path):
    AutoTokenizer.from_pretrained(backbone).save_pretrained(tmp_path)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        whole = BertForMaskedLM(BertConfig.from_pretrained(backbone))
    torch.nn.init.normal_(whole.cls.predictions.bias)
    whole.save_pretrained(tmp_path)
    model = build(backbone=str(tmp_path))
    model.reading_ = Reading.from_dict(None, str(tmp_path))
    model.encoder_ = model.untrained_encoder()
    views = CorpusViews.repeated(model.encoder_.tokenise(TEXTS), 1)
    decoder = make_decoder(model, Material(TEXTS, views, model.encoder_, 0))
    head = whole.cls.predictions
    torch.testing.assert_close(decoder.dense.weight, head.transform.dense.weight)
    torch.testing.assert_close(decoder.norm.weight, head.transform.LayerNorm.weight)
    torch.testing.assert_close(decoder.bias, head.decoder.bias[decoder.used])
    assert len(decoder.used) < len(head.decoder.bias)
