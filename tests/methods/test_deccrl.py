from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.base import clone

import shoal
from shoal.encoder.latent import LatentEncoder
from shoal.encoder.transformer import TransformerEncoder
from shoal.errors import DataError, MissingExtraError, ParameterError, RunFolderError
from shoal.functional import cluster_kl, cross_view_contrast, gaussian_kl, student_t, target_distribution
from shoal.methods.deccrl import DECCRL, PRESETS
from shoal.methods.objectives.cluster_topics import Bags, LatentReconstruction, TopicReconstruction
from shoal.methods.objectives.deccrl import DECCRLObjective
from shoal.training import CorpusViews, Guard
from tiny_backbone import tiny_backbone

ANIMALS = ["cat", "dog", "horse", "sheep", "goat", "mouse"]
TOOLS = ["hammer", "saw", "drill", "nail", "screw", "wrench"]
TEXTS = [
    f"the {words[i % 6]} and the {words[(i * 5 + 1) % 6]} {verb}"
    for words, verb in ((ANIMALS, "ran"), (TOOLS, "lay"))
    for i in range(10)
]
SMALL = {"batch_size": 8, "epochs": 2, "learning_rate": 1e-4, "head_learning_rate": 1e-3, "tolerance": None}
L, K, T = 16, 3, 2


@pytest.fixture(scope="module")
def backbone(tmp_path_factory):
    return tiny_backbone(tmp_path_factory.mktemp("backbone"))


@pytest.fixture(scope="module")
def build(backbone):
    return lambda **params: DECCRL(
        **{"n_clusters": 2, "backbone": backbone, "augmentation": "char_swap", "n_topics": 2, **SMALL, **params}
    )


def topic_model(**options) -> TopicReconstruction:
    settings = {"cluster_sampling": "expectation", "sharpness": 8.0, "free_bits": 0.0} | options
    return TopicReconstruction(Bags.of(TEXTS, 100, "corpus", 2 * L, 0), L, T, **settings)


@pytest.fixture
def objective(backbone):
    """Returns an objective with its centres placed, a batch, and h of its three views without dropout."""

    def make(reconstruction=None):
        encoder = TransformerEncoder.load(backbone, max_length=32)
        views = CorpusViews.joined([encoder.tokenise(texts) for texts in (TEXTS, TEXTS[::-1], TEXTS[5:] + TEXTS[:5])])
        torch.manual_seed(0)
        latent = LatentEncoder(encoder, torch.nn.Linear(32, L))
        made = DECCRLObjective(
            latent,
            reconstruction,
            latent_dim=L,
            n_clusters=K,
            projection_dim=8,
            temperature=0.5,
            n_init=2,
            cluster_weight=3.0,
            reconstruction_weight=0.5,
            alpha=2.0,
        ).eval()
        with torch.no_grad():
            made.initialise(latent(views.tokens, np.arange(len(TEXTS))).numpy(), np.random.RandomState(0))
        batch = views.batch(np.array([3, 12, 0, 7, 15]))
        return made, batch, latent(views.tokens, batch.views.ravel()).split(len(batch))

    return make


def test_the_objective_is_equation_16(objective):
    deccrl, batch, (h, left, right) = objective(LatentReconstruction(L))
    terms = deccrl(batch)
    o = student_t(h, deccrl.centers, 2.0)
    assert terms.keys() == {"contrastive", "cluster", "reconstruction"}
    expected = cross_view_contrast(deccrl.project(left), deccrl.project(right), 0.5)
    torch.testing.assert_close(terms["contrastive"], expected)
    torch.testing.assert_close(terms["cluster"], 3 * cluster_kl(target_distribution(o), o))
    rebuilt = deccrl.reconstruction.layers(h)
    torch.testing.assert_close(terms["reconstruction"], 0.5 * (rebuilt - h).square().sum(dim=1).mean())


def test_without_reconstruction_there_are_two_terms(objective):
    deccrl, batch, _ = objective()
    assert deccrl(batch).keys() == {"contrastive", "cluster"}


def test_the_target_gets_no_gradient(objective):
    deccrl, batch, (h, *_) = objective()
    (gradient,) = torch.autograd.grad(deccrl(batch)["cluster"], deccrl.centers)
    centers = deccrl.centers.detach().clone().requires_grad_()
    p = target_distribution(student_t(h.detach(), deccrl.centers.detach(), 2.0))
    (expected,) = torch.autograd.grad(3 * cluster_kl(p, student_t(h.detach(), centers, 2.0)), centers)
    torch.testing.assert_close(gradient, expected)


def test_reconstruction_alone_reaches_the_centres_through_the_words(objective):
    deccrl, batch, _ = objective(topic_model())
    (gradient,) = torch.autograd.grad(deccrl(batch)["reconstruction"], deccrl.centers)
    assert gradient.abs().sum(dim=1).min() > 0
    # with the assignment held fast there is only the way from the words through the topics to the centres
    o = torch.full((5, K), 1 / K)
    loss = deccrl.reconstruction(batch.rows, None, o, deccrl.centers)
    (gradient,) = torch.autograd.grad(loss, deccrl.centers)
    assert gradient.abs().sum(dim=1).min() > 0


def test_a_text_rebuilds_its_own_cluster_only():
    model = topic_model().eval()
    centers = torch.randn(K, L, requires_grad=True)
    o = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    model(np.array([0, 11]), torch.zeros(2, L), o, centers).backward()
    assert centers.grad[[0, 2]].abs().sum(dim=1).min() > 0
    assert not centers.grad[1].any()


def test_words_of_every_topic_sum_to_one():
    model = topic_model()
    beta = model.topics(torch.randn(K, L))
    assert beta.shape == (K, T, len(model.bags.words))
    torch.testing.assert_close(beta.sum(dim=2), torch.ones(K, T))


def test_topics_come_from_the_centre_joined_with_the_topics_own_vector():
    model = topic_model()
    centers = torch.randn(K, L)
    alpha = model.generate(torch.cat([centers[2], model.topic_inputs[1]]))  # eq. 10
    expected = torch.softmax(torch.from_numpy(model.bags.vectors) @ alpha, dim=0)  # eq. 11
    torch.testing.assert_close(model.topics(centers)[2, 1], expected)


def test_the_elbo_written_out():
    model = topic_model(sharpness=None).eval()
    centers, o = torch.randn(K, L), torch.tensor([[0.6, 0.3, 0.1]])
    torch.manual_seed(5)
    found = model(np.array([4]), torch.zeros(1, L), o, centers)
    bag = torch.from_numpy(model.bags.counts[[4]].toarray())
    hidden = (bag / bag.sum() @ model.infer.weight).relu()
    mu, log_variance = model.mean(hidden)[0], model.log_variance(hidden)[0]
    torch.manual_seed(5)
    theta = torch.softmax(mu + torch.randn(1, T)[0] * log_variance.exp().sqrt(), dim=0)
    beta = model.topics(centers)
    nll = torch.stack([-(bag[0] * (theta @ beta[k]).log()).sum() for k in range(K)])
    kl = (mu.square() + log_variance.exp() - 1 - log_variance).sum() / 2
    torch.testing.assert_close(found, (torch.softmax(o[0], dim=0) * nll).sum() + kl)  # eq. 6, 15


def test_drawn_clusters_have_the_expectation_as_their_mean():
    centers, o = torch.randn(K, L), torch.tensor([[0.5, 0.3, 0.2]] * 4000)
    rows = np.full(4000, 4)
    torch.manual_seed(0)
    drawn, mean = topic_model(cluster_sampling="gumbel", sharpness=1.0).train(), topic_model(sharpness=1.0).train()
    mean.load_state_dict(drawn.state_dict())
    s = drawn._selection(o)
    assert ((s.detach() == 0) | (s.detach() == 1)).all()
    np.testing.assert_allclose(s.detach().mean(dim=0), o[0], atol=0.03)
    one, other = (model(rows, torch.zeros(4000, L), o, centers).item() for model in (drawn, mean))
    assert one == pytest.approx(other, rel=0.01)
    # straight through: a drawn cluster still tells the assignment where to go
    o = o[:5].clone().requires_grad_()
    drawn(rows[:5], torch.zeros(5, L), o, centers).backward()
    assert o.grad.abs().sum() > 0


def test_bags_hold_frequent_words_that_have_a_vector():
    texts = ["It is the cat, the black CAT", "this is a dog with the cat", "that was not a dog of mine, once"]
    bags = Bags.of(texts, 100, "corpus", 2 * L, 0)
    assert bags.words == ["cat", "dog"], "function words are left out, and what occurs once has no vector"
    assert bags.counts.toarray().tolist() == [[2, 0], [1, 1], [0, 1]]
    assert np.square(bags.vectors).mean() == pytest.approx(1, rel=1e-5)
    assert len(Bags.of(TEXTS, 5, "corpus", 2 * L, 0).words) == 5
    with pytest.raises(DataError, match="1 words besides function words have a vector"):
        Bags.of(texts, 1, "corpus", 2 * L, 0)


def test_texts_without_a_known_word_cost_nothing_but_the_divergence():
    texts = [*TEXTS, "qq", "zz"]
    settings = {"cluster_sampling": "expectation", "sharpness": 8.0, "free_bits": 0.0}
    model = TopicReconstruction(Bags.of(texts, 100, "corpus", 8, 0), L, T, **settings)
    centers = torch.randn(K, L)
    for rows in ([20, 21], [20, 0, 21], [0, 20, 21]):
        loss = model(np.array(rows), torch.zeros(len(rows), L), torch.full((len(rows), K), 1 / K), centers)
        assert torch.isfinite(loss)
    kl = gaussian_kl(model.mean.bias, model.log_variance.bias).sum()
    empty = model(np.array([20, 21]), torch.zeros(2, L), torch.full((2, K), 1 / K), centers)
    torch.testing.assert_close(empty, kl)


def test_glove_vectors_keep_their_length(build):
    bags = Bags.of(TEXTS, 100, "glove", 2 * L, 0)
    assert bags.vectors.shape == (len(bags.words), 50)
    model = build(word_vectors="glove").fit(TEXTS)
    assert (model.predict(TEXTS) == model.labels_).all()


def test_word2vec_needs_its_extra(build, monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(MissingExtraError, match="word2vec"):
        build(word_vectors="word2vec").fit(TEXTS)


def test_a_corpus_without_words_says_what_to_do(build):
    texts = [f"{a} {b}" for a in "abcd" for b in "efgh"]
    with pytest.raises(DataError, match="pass reconstruction='none'"):
        build().fit(texts)
    assert len(build(reconstruction="none").fit(texts).labels_) == 16


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"reconstruction": "none"},
        {"reconstruction": "latent", "latent_dim": 10},
        {"cluster_sampling": "gumbel", "free_bits": 0.1},
        {"sharpness": None, "normalize": False, "scale": 1.0, "augmentation": "virtual"},
        {"instance_epochs": 0, "trainable_layers": 1},
        {"trainable_layers": "all", "latent_dim": 8},
    ],
)
def test_every_variant_keeps_the_promises(build, params):
    model = build(**params).fit(TEXTS)
    assert (model.predict(TEXTS) == model.labels_).all()
    assert [int(model.predict([text])[0]) for text in TEXTS[:4]] == model.labels_[:4].tolist()
    np.testing.assert_array_equal(clone(model).fit(TEXTS).probabilities_, model.probabilities_)
    stages = {record["stage"] for record in model.history_ if record.get("event") == "step"}
    assert stages == ({"joint"} if params.get("instance_epochs") == 0 else {"instance", "joint"})
    assert model.clusterer_.kind == "student-t"
    assert model.transform(TEXTS).shape == (20, params.get("latent_dim") or 32)
    learnt = model.outcome_["stages"][-1]["kept_step"] > 0
    has_topics = learnt and params.get("reconstruction", "words") == "words"
    assert [len(topics) for topics in model.topics_] == [2 * has_topics] * 2


def test_the_space_of_h_begins_as_the_encoders(build):
    model = build(max_steps=1, learning_rate=0.0, head_learning_rate=0.0).fit(TEXTS)
    h, e = model.transform(TEXTS), model.encoder_.encode(TEXTS)
    np.testing.assert_allclose(h @ h.T, 36 * e @ e.T, atol=1e-3)
    assert (model.labels_ == model.start_labels_).all()


def test_centres_are_placed_after_the_warm_up(build, monkeypatch):
    placed = []
    place = DECCRLObjective.initialise

    def watched(self, embeddings, rng):
        place(self, embeddings, rng)
        placed.append((embeddings.copy(), self.centers.detach().numpy().copy()))

    monkeypatch.setattr(DECCRLObjective, "initialise", watched)
    build(learning_rate=1e-2).fit(TEXTS)
    ((embeddings, centers),) = placed
    lengths = np.linalg.norm(embeddings, axis=1, keepdims=True)
    np.testing.assert_allclose(np.linalg.norm(centers, axis=1), lengths.mean(), rtol=1e-5)
    directions, centers = embeddings / lengths, centers / lengths.mean()
    nearest = (directions @ centers.T).argmax(axis=1)  # on unit vectors k-means is spherical
    for k in range(2):
        mean = directions[nearest == k].mean(axis=0)
        np.testing.assert_allclose(centers[k], mean / np.linalg.norm(mean), atol=1e-4)


def test_sentence_transformers_opens_the_saved_model_in_the_space_of_the_clusters(build, tmp_path):
    from sentence_transformers import SentenceTransformer

    model = build(latent_dim=12).fit(TEXTS)
    model.save(tmp_path / "model")
    opened = SentenceTransformer(str(tmp_path / "model"), device="cpu", local_files_only=True)
    np.testing.assert_allclose(opened.encode(TEXTS), model.transform(TEXTS), atol=1e-4)


def test_topics_are_saved_with_the_model(build, tmp_path):
    model = build().fit(TEXTS)
    model.save(tmp_path / "model")
    assert shoal.load(tmp_path / "model").topics_ == model.topics_
    (tmp_path / "model" / "Dense" / "model.safetensors").unlink()
    with pytest.raises(RunFolderError, match="damaged"):
        shoal.load(tmp_path / "model")
    json.dumps([cluster.as_json() for cluster in model.clusters_])


STOPPED = {"checkpoint_every": 2, "cluster_sampling": "gumbel"}


@pytest.fixture(scope="module")
def never_stopped(build):
    return build(**STOPPED).fit(TEXTS)  # three steps of the warm-up, six of the joint stage


@pytest.mark.parametrize("stop_at", [1, 2, 3, 4, 5, 7])
def test_stopped_in_either_stage_or_between_it_ends_the_same(build, never_stopped, tmp_path, monkeypatch, stop_at):
    from shoal.training import Trainer

    step, taken = Trainer._step, []

    def interrupted(self, *arguments):
        taken.append(1)
        if len(taken) == stop_at + 1:
            raise KeyboardInterrupt
        return step(self, *arguments)

    monkeypatch.setattr(Trainer, "_step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build(**STOPPED).fit(TEXTS, checkpoints=tmp_path / "states")
    resumed = build(**STOPPED).fit(TEXTS, checkpoints=tmp_path / "states")
    np.testing.assert_array_equal(resumed.probabilities_, never_stopped.probabilities_)
    np.testing.assert_array_equal(resumed.start_labels_, never_stopped.start_labels_)
    assert resumed.topics_ == never_stopped.topics_


def test_training_that_destroys_the_space_is_undone(build):
    model = build(learning_rate=0.05, epochs=10).fit(TEXTS)
    assert model.outcome_["rolled_back"]
    assert model.outcome_["end"]["quality"] >= model.outcome_["start"]["quality"]
    assert (model.labels_ == model.start_labels_).all() == all(s["kept_step"] == 0 for s in model.outcome_["stages"])


def test_a_warm_up_that_costs_quality_is_undone_and_a_training_that_is_undone_leaves_no_topics(build, monkeypatch):
    falling = iter(np.linspace(0.5, 0.2, 60))
    look = Guard.evaluate
    monkeypatch.setattr(Guard, "evaluate", lambda *given: replace(look(*given), gain=float(next(falling))))
    model = build(epochs=8, evaluate_every=2).fit(TEXTS)
    assert [stage["kept_step"] for stage in model.outcome_["stages"]] == [0, 0]
    assert model.topics_ == [(), ()]
    assert all(cluster.name for cluster in model.clusters_)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"reconstruction": "letters"}, "reconstruction='letters' is unknown; pass one of words, latent, none"),
        ({"cluster_sampling": "argmax"}, "cluster_sampling='argmax' is unknown"),
        ({"n_topics": 0}, "n_topics=0 but it must be a whole number >= 1"),
        ({"n_topics": 2.5}, "n_topics=2.5 but it must be a whole number >= 1"),
        ({"vocabulary_size": 2000.0}, "vocabulary_size=2000.0 but it must be a whole number >= 1"),
        ({"latent_dim": -1}, "latent_dim=-1 but it must be a whole number >= 1"),
        ({"instance_epochs": 0.5}, "instance_epochs=0.5 but it must be a whole number >= 0"),
        ({"free_bits": "few"}, "free_bits='few' but it must be a number >= 0"),
        ({"sharpness": 0}, "sharpness=0 but it must be a number > 0"),
        ({"cluster_weight": "much"}, "cluster_weight='much' but it must be a number >= 0"),
        ({"free_bits": -0.1}, "free_bits=-0.1 but it must be a number >= 0"),
        ({"augmentation": "magic"}, "augmenter 'magic' is unknown"),
    ],
)
def test_parameters_that_do_not_work_are_named(build, params, message):
    with pytest.raises(ParameterError, match=message):
        build(**params).fit(TEXTS)


def test_vectors_cannot_be_trained_on(build):
    with pytest.raises(DataError, match="DECCRL trains an encoder and cannot start from vectors"):
        build().fit(np.eye(len(TEXTS), 8))


def test_presets_are_parameters():
    for preset in PRESETS.values():
        assert DECCRL(**preset).get_params().items() >= preset.items()
    paper = DECCRL(**PRESETS["paper"])
    assert (paper.temperature, paper.alpha, paper.batch_size, paper.max_length, paper.n_topics) == (0.5, 1, 200, 32, 5)
    assert (paper.sharpness, paper.word_vectors, paper.augmentation) == (None, "word2vec", "contextual")
    assert (DECCRL(**PRESETS["biomedical"]).alpha, DECCRL(**PRESETS["biomedical"]).n_topics) == (10, 20)


@pytest.mark.slow  # a long training
def test_known_topics_are_recovered(tmp_path):
    """Three clusters with two topics each: every text has the words of its cluster and those of one topic."""
    ends = ["an", "em", "ir", "ol", "us"]
    topics = {(k, t): [start + end for end in ends] for k, t, start in (
        (0, 0, "bra"), (0, 1, "cle"), (1, 0, "dri"), (1, 1, "flo"), (2, 0, "gru"), (2, 1, "ske")
    )}  # fmt: skip
    of_cluster = [["quax", "zix"], ["yonk", "wump"], ["hesp", "jelt"]]
    rng = np.random.default_rng(0)
    truth = [(i % 3, (i // 3) % 2) for i in range(120)]
    texts = [" ".join([*of_cluster[k] * 2, *rng.choice(topics[k, t], 6)]) for k, t in truth]
    words = tuple(word for own in (*topics.values(), *of_cluster) for word in own)
    model = DECCRL(
        n_clusters=3,
        backbone=tiny_backbone(tmp_path, words=words),
        n_topics=2,
        augmentation="virtual",
        batch_size=60,
        epochs=40,
        tolerance=None,
        learning_rate=1e-5,
        head_learning_rate=1e-2,
        reconstruction_weight=1.0,
    ).fit(texts)
    clusters = np.array([k for k, _ in truth])
    for k in range(3):
        (found,) = set(model.labels_[clusters == k])
        learnt = [set(topic.words[:7]) for topic in model.topics_[found]]
        for t in range(2):
            assert max(len({*of_cluster[k], *topics[k, t]} & words) for words in learnt) >= 6
        assert not any(topic.general for topic in model.topics_[found])


def test_names_hear_of_the_telling_topics_only(build, monkeypatch):
    from shoal.clustering import Topic
    from shoal.naming import clusters

    topics = [(Topic(("cat", "ran"), 0.6, False), Topic(("file",), 0.4, True)), (Topic(("saw",), 1.0, False),)]
    heard = []
    describe = clusters.describe

    def listening(*arguments, telling, **options):
        heard.append(telling)
        return describe(*arguments, telling=telling, **options)

    monkeypatch.setattr(clusters, "describe", listening)
    monkeypatch.setattr(TopicReconstruction, "describe", lambda *_: topics)
    model = build(max_steps=1).fit(TEXTS)
    assert heard == [[{"cat", "ran"}, {"saw"}]]
    assert model.topics_ == topics


@pytest.mark.slow
def test_on_the_built_in_model_topics_tell_the_clusters_apart():
    recipes = ["bake bread with yeast", "bread dough and yeast", "bake a cake with sugar", "sugar in cake dough"] * 4
    code = ["python list index error", "python function error", "sort a python list", "python function index"] * 4
    model = DECCRL(n_clusters=2, batch_size=16, epochs=8, n_topics=2, augmentation="virtual").fit(recipes + code)
    assert len(set(model.labels_[:16])) == len(set(model.labels_[16:])) == 1
    assert model.labels_[0] != model.labels_[16]
    best = [topics[0].words[:3] for topics in model.topics_]
    assert set(best[model.labels_[0]]) <= {"bake", "bread", "yeast", "dough", "cake", "sugar"}
    assert set(best[model.labels_[16]]) <= {"python", "list", "index", "error", "function", "sort"}
    unseen = model.predict(["how to bake a loaf of bread", "python raises an error"])
    assert unseen.tolist() == [model.labels_[0], model.labels_[16]]
