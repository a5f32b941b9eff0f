from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
from sklearn.base import clone
from transformers import AutoTokenizer, BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from shoal.encoder.masked_head import new_masked_head
from shoal.encoder.masking import Masking, read_masked
from shoal.encoder.transformer import TransformerEncoder
from shoal.errors import ModelError, ParameterError, RunFolderError
from shoal.functional import cluster_kl, masked_cross_entropy, student_t, target_distribution
from shoal.methods.mlm_dec import JOINT, MLMDEC, PRESETS, WARM_UP
from shoal.methods.objectives.mlm_dec import HeadWarmUp, MLMDECObjective
from shoal.training import Callback, CorpusViews, Trainer
from tiny_backbone import tiny_backbone

ANIMALS = ["cat", "dog", "horse", "sheep", "goat", "mouse"]
TOOLS = ["hammer", "saw", "drill", "nail", "screw", "wrench"]
TEXTS = [
    f"the {words[i % 6]} and the {words[(i * 5 + 1) % 6]} {verb}"
    for words, verb in ((ANIMALS, "ran"), (TOOLS, "lay"))
    for i in range(10)
]
SMALL = {"batch_size": 8, "epochs": 2, "learning_rate": 1e-4, "head_learning_rate": 1e-3, "tolerance": None}
ROWS = np.array([3, 12, 0, 7, 15])


@pytest.fixture(scope="module")
def backbone(tmp_path_factory):
    return tiny_backbone(tmp_path_factory.mktemp("backbone"))


@pytest.fixture(scope="module")
def with_head(tmp_path_factory, backbone):
    """A backbone whose checkpoint holds a masked-language-model head."""
    folder = tmp_path_factory.mktemp("with-head")
    AutoTokenizer.from_pretrained(backbone).save_pretrained(folder)
    config = BertConfig.from_pretrained(backbone)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        BertForMaskedLM(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def build(backbone):
    return lambda **params: MLMDEC(**{"n_clusters": 2, "backbone": backbone, **SMALL, **params})


@pytest.fixture
def objective(backbone):
    """Returns an objective of one of the stages, on three clusters, and the batch of ``ROWS``."""

    def make(kind=MLMDECObjective, head=True, masked=True):
        encoder = TransformerEncoder.load(backbone, max_length=32)
        views = CorpusViews.repeated(encoder.tokenise(TEXTS), 1)
        masking = Masking.of(encoder.tokenizer, 0.2) if masked else None
        made_head = new_masked_head(32, encoder.words, views.tokens.ids) if head else None
        sizes = {"n_texts": len(TEXTS), "n_clusters": 3, "dimension": 32}
        options = {"masked_lm": 0.5, "alpha": 1.0, "scale": 6.0, "n_init": 2, **sizes}
        made = kind(encoder, masking, made_head, **(options if kind is MLMDECObjective else {})).eval()
        made.initialise(encoder.encode(TEXTS), np.random.RandomState(0))
        return made, views.batch(ROWS, made.views)

    return make


def masked_vectors(made, seed):
    """The reading that the objective makes of the batch after this seed."""
    texts = made.encoder.tokenise([TEXTS[i] for i in ROWS])
    torch.manual_seed(seed)
    return read_masked(made.encoder.eval(), texts, made.masking(texts))


def test_the_objective_is_equation_1_on_one_pass_over_the_masked_texts(objective):
    made, batch = objective()
    torch.manual_seed(5)
    terms = made(batch)
    reading = masked_vectors(made, 5)
    q = student_t(6.0 * reading.vectors, made.centers)
    whole = student_t(torch.from_numpy(6.0 * made.encoder.encode(TEXTS)), made.centers)
    p = target_distribution(whole)[torch.from_numpy(ROWS)]  # of the whole corpus, not of the batch, and unmasked
    assert terms.keys() == {"masked_lm", "cluster"}
    torch.testing.assert_close(terms["cluster"], cluster_kl(p, q))
    scores = made.head(reading.states, made.encoder.words)
    torch.testing.assert_close(terms["masked_lm"], 0.5 * masked_cross_entropy(scores, reading.answers))
    assert len(reading.answers) > len(ROWS)


def test_masks_are_fresh_at_every_step(objective):
    made, batch = objective()
    torch.manual_seed(0)
    assert made(batch)["masked_lm"].item() != made(batch)["masked_lm"].item()


def test_without_the_loss_texts_are_still_masked_and_without_masks_they_are_not(objective):
    made, batch = objective(head=False)
    torch.manual_seed(5)
    found = made(batch)
    q = student_t(6.0 * masked_vectors(made, 5).vectors, made.centers)
    assert found.keys() == {"cluster"}
    torch.testing.assert_close(found["cluster"], cluster_kl(made.targets[torch.from_numpy(ROWS)], q))
    plain, batch = objective(head=False, masked=False)
    q = student_t(6.0 * torch.from_numpy(plain.encoder.encode([TEXTS[i] for i in ROWS])), plain.centers)
    plain.eval()
    torch.testing.assert_close(plain(batch)["cluster"], cluster_kl(plain.targets[torch.from_numpy(ROWS)], q))


def test_the_targets_are_those_of_the_whole_corpus_and_only_a_refresh_moves_them(objective):
    made, batch = objective()
    vectors = made.encoder.encode(TEXTS)
    expected = target_distribution(student_t(torch.from_numpy(6.0 * vectors), made.centers))
    torch.testing.assert_close(made.targets, expected.detach())
    with torch.no_grad():
        made.centers.add_(0.5)
    made(batch)
    torch.testing.assert_close(made.targets, expected.detach())
    made.refresh(vectors)
    assert not torch.allclose(made.targets, expected)
    assert not made.targets.requires_grad


def test_both_terms_move_the_encoder_and_l_c_the_centres(objective):
    made, batch = objective()
    for term, moved in (("masked_lm", "head.bias"), ("cluster", "centers")):
        made.zero_grad()
        made(batch)[term].backward()
        assert made.encoder.model.encoder.layer[0].attention.self.query.weight.grad.abs().sum() > 0
        assert dict(made.named_parameters())[moved].grad.abs().sum() > 0


def test_the_warm_up_trains_the_head_alone(objective):
    made, batch = objective(HeadWarmUp)
    terms = made(batch)
    assert terms.keys() == {"masked_lm"}
    terms["masked_lm"].backward()
    trained = {name for name, parameter in made.named_parameters() if parameter.grad is not None}
    assert trained == {"head.bias", "head.transform.weight", "head.transform.bias"}


def test_centres_start_where_kmeans_found_them(objective):
    made, _ = objective()
    vectors = made.encoder.encode(TEXTS)
    labels = made.labels(vectors)
    for k in range(3):
        mean = vectors[labels == k].mean(axis=0)  # on unit vectors k-means is spherical: centres are directions
        np.testing.assert_allclose(made.centers[k].detach().numpy() / 6, mean / np.linalg.norm(mean), atol=1e-5)


def stages_of(model):
    return list(dict.fromkeys(row["stage"] for row in model.history_ if row.get("event") == "step"))


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"pooling": "cls"},
        {"masked_lm": 0},
        {"masked_lm": 0, "mask_share": 0},
        {"trainable_layers": "all", "normalize": False, "scale": 1.0},
        {"trainable_layers": "all", "warm_up_epochs": 0, "accumulate": 2},
        {"warm_up_epochs": 2, "tolerance": 0.5},
    ],
)
def test_every_variant_keeps_the_promises(build, params):
    model = build(**{"trainable_layers": 1, **params}).fit(TEXTS)
    assert (model.predict(TEXTS) == model.labels_).all()
    assert [int(model.predict([text])[0]) for text in TEXTS[:4]] == model.labels_[:4].tolist()
    again = clone(model).fit(TEXTS)
    np.testing.assert_array_equal(again.probabilities_, model.probabilities_)
    assert model.clusterer_.kind == "student-t"
    warm = params.get("masked_lm", True) and params.get("warm_up_epochs", 1)
    assert stages_of(model) == ([WARM_UP, JOINT] if warm else [JOINT])


def test_a_warm_up_in_which_no_label_can_move_is_not_ended_by_the_tolerance(build):
    model = build(warm_up_epochs=2, epochs=5, tolerance=1.0).fit(TEXTS)
    warm_up, joint = model.outcome_["stages"]
    assert (warm_up["steps"], warm_up["stopped"]) == (6, "")
    assert joint["stopped"].startswith("settled")


def test_the_warm_up_leaves_the_encoder_as_it_is(build, backbone):
    vectors = []

    class Look(Callback):
        def on_embeddings(self, record, embeddings, labels):
            vectors.append((record["stage"], record["step"], embeddings))

    build().fit(TEXTS, callbacks=[Look()])
    stage, step, first = vectors[0]  # the warm-up itself is not looked at
    assert (stage, step) == (JOINT, 0)
    np.testing.assert_allclose(first, TransformerEncoder.load(backbone).encode(TEXTS), atol=1e-5)
    assert np.abs(vectors[-1][2] - first).max() > 1e-3


def test_the_targets_are_renewed_once_an_epoch(build, monkeypatch):
    renewed = []
    refresh = MLMDECObjective.refresh
    monkeypatch.setattr(MLMDECObjective, "refresh", lambda self, e: (renewed.append(len(e)), refresh(self, e))[1])
    build(epochs=3, evaluate_every=1).fit(TEXTS)
    assert renewed == [20] * 4  # before the first step, and at the end of each epoch


def test_a_backbones_own_head_is_kept_and_needs_no_warm_up(build, with_head, monkeypatch):
    heads = []
    monkeypatch.setattr(
        "shoal.methods.mlm_dec.new_masked_head", lambda *_: heads.append(1) or new_masked_head(*_)
    )  # fmt: skip
    model = build(backbone=with_head).fit(TEXTS)
    assert stages_of(model) == [JOINT]
    assert not heads
    assert (model.predict(TEXTS) == model.labels_).all()


def test_the_head_is_not_saved(build, with_head, tmp_path):
    model = build(backbone=with_head).fit(TEXTS)
    model.save(tmp_path / "model")
    assert not [name for name in model.encoder_.model.state_dict() if "predictions" in name]
    assert not (tmp_path / "model" / "head").exists()


def test_a_backbone_without_a_mask_token_is_refused_but_for_what_needs_none(build, backbone, tmp_path):
    from transformers import BertModel

    BertModel.from_pretrained(backbone).save_pretrained(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(backbone)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer.backend_tokenizer, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]",
        sep_token="[SEP]", model_max_length=128,
    ).save_pretrained(tmp_path)  # fmt: skip
    with pytest.raises(ModelError, match="has no mask token"):
        build(backbone=str(tmp_path)).fit(TEXTS)
    assert len(build(backbone=str(tmp_path), masked_lm=0, mask_share=0).fit(TEXTS).labels_) == 20


@pytest.fixture(scope="module")
def uninterrupted(build):
    """By the number of trainable layers, the model that was never interrupted."""
    return cache(lambda trainable_layers: build(trainable_layers=trainable_layers, checkpoint_every=2).fit(TEXTS))


@pytest.mark.parametrize(
    ("step", "trainable_layers"),  # the warm-up has three steps, the joint stage six
    [
        *((step, "all") for step in range(1, 8)),
        *((step, 1) for step in (2, 5)),
        *(pytest.param(step, 1, marks=pytest.mark.slow) for step in (1, 3, 4, 6, 7)),
    ],
)
def test_interrupted_anywhere_it_ends_where_the_uninterrupted_run_ends(
    build, uninterrupted, tmp_path, monkeypatch, step, trainable_layers
):
    params = {"trainable_layers": trainable_layers, "checkpoint_every": 2}
    whole = uninterrupted(trainable_layers)
    take, taken = Trainer._step, []

    def interrupted(self, *arguments):
        taken.append(1)
        if len(taken) == step + 1:
            raise KeyboardInterrupt
        return take(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_step", interrupted)
        with pytest.raises(KeyboardInterrupt):
            build(**params).fit(TEXTS, checkpoints=tmp_path)
    resumed = build(**params).fit(TEXTS, checkpoints=tmp_path)
    np.testing.assert_array_equal(resumed.probabilities_, whole.probabilities_)
    np.testing.assert_array_equal(resumed.start_labels_, whole.start_labels_)
    assert stages_of(resumed) == stages_of(whole) == [WARM_UP, JOINT]


def test_a_run_goes_on_from_its_checkpoints_and_no_other(build, tmp_path):
    first = build().fit(TEXTS, checkpoints=tmp_path)
    np.testing.assert_array_equal(build().fit(TEXTS, checkpoints=tmp_path).probabilities_, first.probabilities_)
    for other in ({"mask_share": 0.2}, {"random_state": 1}):
        with pytest.raises(RunFolderError, match="other texts or parameters"):
            build(**other).fit(TEXTS, checkpoints=tmp_path)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"masked_lm": -1}, "masked_lm=-1 but it must be a number >= 0"),
        ({"mask_share": 1.0}, "mask_share=1.0 but it is a share of tokens; pass a value from 0 to below 1"),
        ({"mask_share": "some"}, "mask_share='some'"),
        ({"mask_share": 0}, "mask_share=0 leaves nothing to predict; pass mask_share > 0, or masked_lm=0"),
        ({"warm_up_epochs": -1}, "warm_up_epochs=-1 but it must be a whole number >= 0"),
        ({"warm_up_epochs": 0.5}, r"warm_up_epochs=0\.5"),
        ({"alpha": 0}, "alpha=0 but it must be a number > 0"),
        ({"scale": None}, "scale=None"),
        ({"trainable_layers": 5}, "trainable_layers=5 but this backbone has 2 layers"),
        ({"pooling": "max"}, "pooling='max' is unknown"),
    ],
)
def test_parameters_that_do_not_work_are_named(build, params, message):
    with pytest.raises(ParameterError, match=message):
        build(**params).fit(TEXTS)


def test_training_that_destroys_the_space_is_undone(build):
    model = build(trainable_layers="all", learning_rate=0.05, epochs=10, masked_lm=0).fit(TEXTS)
    assert model.outcome_["rolled_back"]
    assert (model.labels_ == model.start_labels_).all()


def test_texts_of_special_tokens_alone_do_no_harm(build):
    model = build().fit([*TEXTS, "日本", "[MASK] [SEP]"])
    assert (model.predict([*TEXTS, "日本", "[MASK] [SEP]"]) == model.labels_).all()


def test_presets_are_parameters():
    for preset in PRESETS.values():
        assert MLMDEC(**preset).get_params().items() >= preset.items()
    paper = MLMDEC(**PRESETS["paper"])
    assert (paper.learning_rate, paper.max_length, paper.batch_size, paper.epochs) == (3e-5, 128, 16, 10)
    assert (paper.alpha, paper.mask_share, paper.pooling, paper.masked_lm) == (1, 0.1, "mean", 1 / paper.batch_size)
    assert (paper.normalize, paper.scale, paper.trainable_layers) == (False, 1, "all")


@pytest.mark.slow
def test_on_the_built_in_model_the_loss_of_the_head_falls():
    texts = [f"{text} {i % 3}" for i, text in enumerate(TEXTS * 4)]
    model = MLMDEC(n_clusters=2, epochs=3, learning_rate=1e-4, tolerance=None).fit(texts)
    losses = [row["masked_lm"] for row in model.history_ if row.get("event") == "step"]
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) - 0.5
    assert (model.predict(texts) == model.labels_).all()
