from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.base import clone

import shoal.augment.pairs
from shoal.clusterers.student_t import StudentT
from shoal.encoder.transformer import TransformerEncoder
from shoal.errors import DataError, ParameterError, RunFolderError
from shoal.functional import cluster_kl, nt_xent, student_t, target_distribution
from shoal.methods.objectives.sccl import SCCLObjective
from shoal.methods.sccl import PRESETS, SCCL
from shoal.training import CorpusViews
from tiny_backbone import tiny_backbone

ANIMALS = ["cat", "dog", "horse", "sheep", "goat", "mouse"]
TOOLS = ["hammer", "saw", "drill", "nail", "screw", "wrench"]
TEXTS = [
    f"the {words[i % 6]} and the {words[(i * 5 + 1) % 6]} {verb}"
    for words, verb in ((ANIMALS, "ran"), (TOOLS, "lay"))
    for i in range(10)
]
SMALL = {"batch_size": 8, "epochs": 2, "learning_rate": 1e-4, "head_learning_rate": 1e-3, "tolerance": None}


@pytest.fixture(scope="module")
def backbone(tmp_path_factory):
    return tiny_backbone(tmp_path_factory.mktemp("backbone"))


@pytest.fixture
def build(backbone):
    return lambda **params: SCCL(
        **{"n_clusters": 2, "backbone": backbone, "augmentation": "char_swap", **SMALL, **params}
    )


@pytest.mark.parametrize("rate", [1e6, 1e30])
def test_a_rate_that_breaks_everything_ends_in_a_roll_back(build, rate):
    model = build(learning_rate=rate, head_learning_rate=rate).fit(TEXTS)
    assert model.outcome_["rolled_back"]
    np.testing.assert_array_equal(model.labels_, model.start_labels_)


@pytest.fixture
def objective(backbone):
    """Returns an objective on given terms, its three batch views, and the vectors they give without dropout."""

    def make(**options):
        encoder = TransformerEncoder.load(backbone, max_length=32)
        views = CorpusViews.joined([encoder.tokenise(texts) for texts in (TEXTS, TEXTS[::-1], TEXTS[5:] + TEXTS[:5])])
        settings = {
            "contrastive": True, "clustering": True, "cluster_loss": "original", "eta": 10.0, "temperature": 0.5,
            "alpha": 1.0, "scale": 6.0, "assign": "kmeans", "n_init": 2,
        } | options  # fmt: skip
        torch.manual_seed(0)
        made = SCCLObjective(encoder, dimension=32, n_clusters=3, projection_dim=16, **settings).eval()
        made.initialise(encoder.encode(TEXTS), np.random.RandomState(0))
        rows = np.array([3, 12, 0, 7, 15])
        e = [6.0 * v for v in encoder(views.tokens, views.batch(rows).views.ravel()).split(len(rows))]
        return made, views.batch(rows, made.views), e

    return make


def test_the_joint_objective_is_equation_7(objective):
    sccl, batch, (original, left, right) = objective()
    terms = sccl(batch)
    q = student_t(original, sccl.centers, 1.0)
    assert terms.keys() == {"contrastive", "cluster"}
    torch.testing.assert_close(terms["contrastive"], 10 * nt_xent(sccl.project(left), sccl.project(right), 0.5))
    torch.testing.assert_close(terms["cluster"], cluster_kl(target_distribution(q), q))


@pytest.mark.parametrize("form", ["pairs", "alternative1", "alternative2"])
def test_the_other_clustering_losses(objective, form):
    sccl, batch, vectors = objective(cluster_loss=form, alpha=2.0)
    q = [student_t(view, sccl.centers, 2.0) for view in vectors]
    p = [target_distribution(assigned) for assigned in q]
    both = torch.cat(q[1:])
    expected = {
        "pairs": cluster_kl(target_distribution(both), both),
        "alternative1": cluster_kl(p[1], q[2]) + cluster_kl(p[2], q[1]),  # eq. 8
        "alternative2": cluster_kl(p[0], q[1]) + cluster_kl(p[0], q[2]),  # eq. 9
    }
    torch.testing.assert_close(sccl(batch)["cluster"], expected[form])


def test_the_target_gets_no_gradient(objective):
    sccl, batch, (original, *_) = objective(contrastive=False)
    (gradient,) = torch.autograd.grad(sccl(batch)["cluster"], sccl.centers)
    centers = sccl.centers.detach().clone().requires_grad_()
    q = student_t(original.detach(), centers)
    p = target_distribution(student_t(original.detach(), sccl.centers.detach()))
    (expected,) = torch.autograd.grad(cluster_kl(p, q), centers)
    torch.testing.assert_close(gradient, expected)


@pytest.mark.parametrize(
    ("options", "terms", "n_views"),
    [
        ({"clustering": False}, {"contrastive"}, 2),
        ({"contrastive": False}, {"cluster"}, 1),
        ({"contrastive": False, "cluster_loss": "alternative2"}, {"cluster"}, 3),
        ({"cluster_loss": "pairs"}, {"contrastive", "cluster"}, 2),
    ],
)
def test_only_what_is_looked_at_is_encoded_and_trained(objective, options, terms, n_views):
    sccl, batch, _ = objective(**options)
    assert sccl(batch).keys() == terms
    assert len(batch.views) == n_views
    trained = {name.split(".")[0] for name, p in sccl.named_parameters() if p.requires_grad}
    assert ("centers" in trained) == ("cluster" in terms)
    assert ("project" in trained) == ("contrastive" in terms)


def test_centres_start_where_kmeans_found_them(objective):
    sccl, _, _ = objective()
    vectors = sccl.encoder.encode(TEXTS)
    labels = sccl.labels(vectors)
    for k in range(3):
        mean = vectors[labels == k].mean(axis=0)  # on unit vectors k-means is spherical: centres are directions
        np.testing.assert_allclose(sccl.centers[k].detach().numpy() / 6, mean / np.linalg.norm(mean), atol=1e-5)


def test_the_heads_have_the_papers_shape(objective):
    sccl, _, _ = objective()
    assert [tuple(layer.weight.shape) for layer in sccl.project if hasattr(layer, "weight")] == [(32, 32), (16, 32)]
    assert sccl.centers.shape == (3, 32)


def test_student_t_clusterer_is_equation_3():
    rng = np.random.default_rng(0)
    vectors, centers = rng.normal(size=(7, 4)).astype(np.float32), rng.normal(size=(3, 4)).astype(np.float32)
    head = StudentT(centers, alpha=2.0, scale=3.0)
    expected = student_t(torch.from_numpy(3 * vectors), torch.from_numpy(3 * centers), 2.0)
    np.testing.assert_allclose(np.exp(head.scores(vectors)), expected.numpy(), atol=1e-6)
    again = StudentT.from_state(head.state())
    np.testing.assert_array_equal(again.scores(vectors), head.scores(vectors))


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"objective": "contrastive", "augmentation": "virtual"},
        {"objective": "clustering", "assign": "head"},
        {"objective": "sequential"},
        {"cluster_loss": "pairs", "augmentation": "word_deletion+char_swap:0.3"},
        {"cluster_loss": "alternative1", "trainable_layers": 1},
        {"cluster_loss": "alternative2", "assign": "head", "normalize": False, "scale": 1.0},
    ],
)
def test_every_variant_keeps_the_promises(build, params):
    model = build(**params).fit(TEXTS)
    assert (model.predict(TEXTS) == model.labels_).all()
    assert [int(model.predict([text])[0]) for text in TEXTS[:4]] == model.labels_[:4].tolist()
    again = clone(model).fit(TEXTS)
    np.testing.assert_array_equal(again.probabilities_, model.probabilities_)
    assert model.clusterer_.kind == ("student-t" if params.get("assign") == "head" else "centroids")
    stages = {record["stage"] for record in model.history_ if record.get("event") == "step"}
    expected = {"contrastive", "clustering"} if params.get("objective") == "sequential" else {model.objective}
    assert stages == expected


def test_the_history_tells_figure_4_and_what_was_augmented(build):
    model = build().fit(["", *TEXTS])
    augmented, *rest = model.history_
    assert augmented["stage"] == "augment"
    assert {"unchanged_left", "unchanged_right"} <= augmented.keys()
    evaluations = [record for record in rest if record["event"] == "evaluation"]
    assert all(each["intra"] > 0 and each["inter"] > 0 for each in evaluations)
    assert evaluations[0]["step"] == 0
    assert model.start_labels_[0] == model.labels_[0] == -1
    assert {"start", "end", "rolled_back", "reason", "stages"} <= model.outcome_.keys()


def test_pairs_made_elsewhere_are_used_as_they_are(build, monkeypatch):
    left, right = [f"{text} left" for text in TEXTS], [f"{text} right" for text in TEXTS]
    made = build().fit(TEXTS, pairs=(left, right))
    monkeypatch.setattr("shoal.methods.augmented.augmented_pair", lambda texts, *_: shoal.augment.pairs.AugmentedPairs(
        left, right, *[shoal.augment.pairs.AugmentReport(20, 0)] * 2
    ))  # fmt: skip
    np.testing.assert_array_equal(made.probabilities_, build().fit(TEXTS).probabilities_)
    with_gap = build().fit([None, *TEXTS], pairs=(["x", *left], ["y", *right]))
    np.testing.assert_array_equal(with_gap.probabilities_[1:], made.probabilities_)
    with pytest.raises(DataError, match="pairs has 19 and 20 texts but there are 20 rows"):
        build().fit(TEXTS, pairs=(left[1:], right))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"objective": "both"}, "objective='both' is unknown; pass one of joint, contrastive"),
        ({"cluster_loss": "mse"}, "cluster_loss='mse' is unknown"),
        ({"assign": "vote"}, "assign='vote' is unknown; pass one of kmeans, head"),
        ({"eta": 0}, "eta=0 but it must be a number > 0"),
        ({"alpha": "one"}, "alpha='one' but it must be a number > 0"),
        ({"temperature": -0.5}, "temperature=-0.5"),
        ({"objective": "contrastive", "assign": "head"}, "trains no clustering head"),
        ({"augmentation": "magic"}, "augmenter 'magic' is unknown"),
        ({"trainable_layers": 5}, "trainable_layers=5 but this backbone has 2 layers"),
        ({"learning_rate": "fast"}, "learning_rate='fast'"),
    ],
)
def test_parameters_that_do_not_work_are_named(build, params, message):
    with pytest.raises(ParameterError, match=message):
        build(**params).fit(TEXTS)


def test_vectors_cannot_be_trained_on(build):
    vectors = np.eye(len(TEXTS), 8)
    with pytest.raises(DataError, match="SCCL trains an encoder and cannot start from vectors"):
        build().fit(vectors)
    with pytest.raises(DataError, match="cannot start from vectors"):
        build().fit(TEXTS, vectors=vectors)


def test_a_run_goes_on_from_its_checkpoints_and_no_other(build, tmp_path):
    straight = build().fit(TEXTS)
    first = build().fit(TEXTS, checkpoints=tmp_path)
    resumed = build().fit(TEXTS, checkpoints=tmp_path)
    for model in (first, resumed):
        np.testing.assert_array_equal(model.probabilities_, straight.probabilities_)
        np.testing.assert_array_equal(model.start_labels_, straight.start_labels_)
    for other in ({"eta": 5.0}, {"random_state": 1}):
        with pytest.raises(RunFolderError, match="other texts or parameters"):
            build(**other).fit(TEXTS, checkpoints=tmp_path)
    with pytest.raises(RunFolderError, match="other texts or parameters"):
        build().fit(TEXTS[1:], checkpoints=tmp_path)


def test_training_that_destroys_the_space_is_undone(build):
    model = build(learning_rate=0.05, epochs=10, objective="clustering").fit(TEXTS)
    assert model.outcome_["rolled_back"]
    assert model.outcome_["reason"]
    assert model.outcome_["end"]["quality"] >= model.outcome_["start"]["quality"]
    assert np.isfinite(model.transform(TEXTS)).all()
    assert model.outcome_["stages"][0]["kept_step"] == 0
    assert (model.labels_ == model.start_labels_).all()


def test_presets_are_parameters():
    for preset in PRESETS.values():
        assert SCCL(**preset).get_params().items() >= preset.items()
    paper = SCCL(**PRESETS["paper"])
    assert (paper.eta, paper.temperature, paper.alpha, paper.batch_size, paper.max_length) == (10, 0.5, 1, 400, 32)
    assert (paper.learning_rate, paper.head_learning_rate, paper.projection_dim) == (5e-6, 5e-4, 128)
    assert SCCL(**PRESETS["biomedical"]).alpha == 10
