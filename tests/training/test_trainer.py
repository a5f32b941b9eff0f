from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from shoal.training import Callback, CorpusViews, EarlyStopping, Objective, Stage, Trainer, TrainingOptions

QUIET = {"learning_rate": 1e-4, "head_learning_rate": 1e-3, "device": "cpu"}


def without_dropout(encoder):
    for module in encoder.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    encoder.model.config.attention_probs_dropout_prob = 0.0
    for layer in encoder.model.encoder.layer:
        layer.attention.self.dropout.p = 0.0
    return encoder


def weights_of(objective):
    return {name: parameter.detach().clone() for name, parameter in objective.named_parameters()}


def steps_of(result):
    return [record for record in result.history if record["event"] == "step"]


def evaluations_of(result):
    return [record for record in result.history if record["event"] == "evaluation"]


def test_a_run_lowers_its_loss_and_tells_what_it_did(encoder, views, gather):
    objective = gather(encoder)
    options = TrainingOptions(batch_size=8, epochs=4, **QUIET)
    result = Trainer(views, options, n_clusters=2).run([Stage("gather", objective)])
    steps, evaluations = steps_of(result), evaluations_of(result)
    assert len(steps) == 12
    assert [each["step"] for each in evaluations] == [0, 3, 6, 9, 12]
    assert sum(step["total"] for step in steps[-3:]) < 0.9 * sum(step["total"] for step in steps[:3])
    first = steps[0]
    assert first["total"] == pytest.approx(first["gather"] + first["agree"])
    assert (first["stage"], first["step"], first["texts"]) == ("gather", 1, 8)
    assert first["learning_rate"] == 1e-4
    assert first["head_learning_rate"] == 1e-3
    assert first["tokens"] > 0
    assert 0 <= first["padding"] < 1
    assert first["seconds"] > 0
    assert {"moved", "size_entropy", "intra", "inter", "quality"} <= evaluations[0].keys()
    assert objective.initialised == 1
    assert result.outcome["stages"][0]["steps"] == 12
    assert len(result.start_labels) == views.n_texts


def test_the_same_seed_gives_the_same_weights_and_leaves_the_callers_random_state(backbone, gather):
    from shoal.encoder.transformer import TransformerEncoder

    def run(seed):
        encoder = TransformerEncoder.load(backbone, max_length=32)
        views = CorpusViews.repeated(encoder.tokenise(["cat", "dog", "a saw", "a nail", "horse"]), 2)
        objective = gather(encoder)
        options = TrainingOptions(batch_size=2, epochs=2, seed=seed, **QUIET)
        Trainer(views, options, n_clusters=2).run([Stage("gather", objective)])
        return weights_of(objective)

    torch.manual_seed(11)
    before = torch.get_rng_state()
    first, second, other = run(0), run(0), run(1)
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["centers"], other["centers"])


def test_accumulated_half_batches_are_one_whole_batch(backbone, gather):
    from shoal.encoder.transformer import TransformerEncoder

    def run(batch_size, accumulate):
        encoder = without_dropout(TransformerEncoder.load(backbone, max_length=32))
        texts = [f"{word} {number}" for word in ("cat", "saw") for number in ("one", "two", "three", "four")]
        views = CorpusViews.repeated(encoder.tokenise(texts), 2)
        objective = gather(encoder)
        options = TrainingOptions(
            batch_size=batch_size, accumulate=accumulate, max_steps=2, epochs=2, precision="float32", **QUIET
        )
        result = Trainer(views, options, n_clusters=2).run([Stage("gather", objective)])
        return weights_of(objective), steps_of(result)

    (whole, whole_steps), (halves, half_steps) = run(8, 1), run(4, 2)
    assert [step["texts"] for step in half_steps] == [8, 8]
    for one, other in zip(whole_steps, half_steps, strict=True):
        assert one["gather"] == pytest.approx(other["gather"], rel=1e-4)
    for name in whole:
        torch.testing.assert_close(halves[name], whole[name], atol=2e-5, rtol=1e-4)


def test_learning_rates_follow_the_schedule(encoder, views, gather):
    options = TrainingOptions(batch_size=8, epochs=2, schedule="linear", warmup_steps=2, **QUIET)
    result = Trainer(views, options, n_clusters=2).run([Stage("gather", gather(encoder))])
    found = [step["learning_rate"] / 1e-4 for step in steps_of(result)]
    assert found == pytest.approx([1 / 3, 2 / 3, 1, 0.75, 0.5, 0.25])


def test_without_learning_rate_nothing_moves(encoder, views, gather):
    objective = gather(encoder)
    before = weights_of(objective.encoder)
    options = TrainingOptions(batch_size=8, learning_rate=0.0, head_learning_rate=1e-2, device="cpu")
    Trainer(views, options, n_clusters=2).run([Stage("gather", objective)])
    assert all(torch.equal(value, before[name]) for name, value in weights_of(objective.encoder).items())


def test_gradients_are_clipped(encoder, views, gather):
    options = TrainingOptions(batch_size=8, max_steps=1, clip_norm=1e-3, **QUIET)
    objective = gather(encoder)
    Trainer(views, options, n_clusters=2).run([Stage("gather", objective)])
    norm = math.sqrt(sum(float(p.grad.square().sum()) for p in objective.parameters() if p.grad is not None))
    assert norm == pytest.approx(1e-3, rel=1e-3)


def test_stages_follow_each_other_on_one_encoder(encoder, views, gather):
    first, second = gather(encoder), gather(encoder)
    options = TrainingOptions(batch_size=8, epochs=1, **QUIET)
    result = Trainer(views, options, n_clusters=2).run(
        [Stage("one", first), Stage("two", second, epochs=2, max_steps=5, refresh_every=2)]
    )
    assert [step["stage"] for step in steps_of(result)] == ["one"] * 3 + ["two"] * 5
    assert (first.initialised, second.initialised, first.refreshed, second.refreshed) == (1, 1, 0, 2)
    assert [stage["stage"] for stage in result.outcome["stages"]] == ["one", "two"]


def test_targets_may_be_refreshed_at_the_end_of_every_epoch(encoder, views, gather):
    objective = gather(encoder)
    options = TrainingOptions(batch_size=10, epochs=3, evaluate_every=4, **QUIET)
    Trainer(views, options, n_clusters=2).run([Stage("gather", objective, refresh_every="epoch")])
    assert objective.refreshed == 3


def test_evaluations_come_as_often_as_asked_and_at_the_end(encoder, views, gather):
    options = TrainingOptions(batch_size=8, max_steps=5, epochs=9, evaluate_every=2, **QUIET)
    result = Trainer(views, options, n_clusters=2).run([Stage("gather", gather(encoder))])
    assert [each["step"] for each in evaluations_of(result)] == [0, 2, 4, 5]


def test_it_stops_when_labels_have_settled(encoder, views, gather):
    options = TrainingOptions(batch_size=8, epochs=50, learning_rate=0.0, head_learning_rate=0.0, device="cpu")
    trainer = Trainer(views, options, n_clusters=2, callbacks=[EarlyStopping(tolerance=0.01, patience=2)])
    result = trainer.run([Stage("gather", gather(encoder))])
    assert len(steps_of(result)) == 6
    assert result.outcome["stages"][0]["stopped"].startswith("settled")
    assert not result.outcome["rolled_back"]


class Collapse(Objective):
    """Draws all vectors to one point."""

    def __init__(self, encoder):
        super().__init__(encoder)
        self.register_buffer("middle", torch.zeros(32))

    def initialise(self, embeddings, rng):
        self.middle.copy_(torch.from_numpy(embeddings.mean(axis=0)))

    def forward(self, batch):
        return {"collapse": sum((view - self.middle).square().sum(dim=1).mean() for view in self.encode(batch))}

    def labels(self, embeddings, rng=None):
        spread = embeddings - self.middle.numpy()
        return (spread[:, 0] > 0.01).astype(np.int64)


def test_a_run_that_collapses_is_rolled_back_to_its_best_state(encoder, views):
    before = encoder.encode(["cat", "hammer", "the dog it it"])
    options = TrainingOptions(batch_size=8, epochs=60, learning_rate=5e-3, device="cpu")
    result = Trainer(views, options, n_clusters=2).run([Stage("collapse", Collapse(encoder))])
    stage = result.outcome["stages"][0]
    assert result.outcome["rolled_back"]
    assert result.outcome["reason"]
    assert result.outcome["trained"] == (stage["kept_step"] > 0)
    assert result.undone_labels.shape == result.start_labels.shape
    assert stage["steps"] < 180
    assert stage["kept_step"] < stage["steps"]
    assert result.outcome["end"]["quality"] >= result.outcome["start"]["quality"]
    after = encoder.encode(["cat", "hammer", "the dog it it"])
    if stage["kept_step"] == 0:
        np.testing.assert_allclose(after, before, atol=1e-6)
    assert (after @ after.T)[0, 1] < 0.999


def test_without_the_guard_a_collapse_is_kept(encoder, views):
    options = TrainingOptions(batch_size=8, epochs=20, learning_rate=5e-3, device="cpu", guard=False)
    result = Trainer(views, options, n_clusters=2).run([Stage("collapse", Collapse(encoder))])
    stage = result.outcome["stages"][0]
    assert (stage["steps"], stage["kept_step"], result.outcome["rolled_back"]) == (60, 60, False)
    assert result.outcome["trained"]
    assert result.undone_labels is None
    after = encoder.encode(["cat", "hammer", "the dog it it"])
    assert (after @ after.T).min() > 0.99


class Poisoned(Collapse):
    """Gives a loss that is not a number, now and then or always."""

    def __init__(self, encoder, when):
        super().__init__(encoder)
        self.when, self.calls = when, 0

    def forward(self, batch):
        self.calls += 1
        loss = super().forward(batch)["collapse"]
        return {"collapse": loss * float("nan") if self.when(self.calls) else loss}


def test_a_broken_step_is_left_out(encoder, views):
    options = TrainingOptions(batch_size=8, max_steps=6, epochs=9, evaluate_every=9, learning_rate=1e-5, device="cpu")
    result = Trainer(views, options, n_clusters=2).run([Stage("poisoned", Poisoned(encoder, lambda n: n % 2 == 0))])
    assert [step["total"] is None for step in steps_of(result)] == [False, True] * 3
    assert not result.outcome["rolled_back"]
    assert all(torch.isfinite(parameter).all() for parameter in encoder.parameters())


def test_a_run_that_stays_broken_is_ended_and_rolled_back(encoder, views):
    before = weights_of(encoder)
    options = TrainingOptions(batch_size=8, epochs=9, evaluate_every=99, learning_rate=1e-3, device="cpu")
    result = Trainer(views, options, n_clusters=2).run([Stage("poisoned", Poisoned(encoder, lambda n: n > 2))])
    assert result.outcome["rolled_back"]
    assert "not finite for 3 steps" in result.outcome["reason"]
    assert len(steps_of(result)) == 5
    assert all(torch.equal(value, before[name]) for name, value in weights_of(encoder).items())
    assert not result.outcome["trained"]


def test_a_broken_stage_that_is_not_watched_keeps_what_it_had(encoder, views):
    options = TrainingOptions(batch_size=8, epochs=9, learning_rate=1e-3, device="cpu")
    stage = Stage("poisoned", Poisoned(encoder, lambda n: n > 2), watched=False)
    (outcome,) = Trainer(views, options, n_clusters=2).run([stage]).outcome["stages"]
    assert (outcome["steps"], outcome["kept_step"], outcome["rolled_back"]) == (5, 5, False)
    assert "not finite for 3 steps" in outcome["stopped"]


class Witness(Callback):
    """Keeps what it is shown."""

    def __init__(self):
        self.started, self.seen = [], []

    def on_start(self, views, encoder):
        self.started.append((views, encoder, encoder.training))

    def on_embeddings(self, record, embeddings, labels):
        self.seen.append((record["stage"], record["step"], embeddings.shape, labels.copy()))


def test_who_listens_sees_the_start_once_and_every_evaluation(encoder, views, gather):
    witness = Witness()
    stages = [Stage("first", gather(encoder)), Stage("second", gather(encoder))]
    options = TrainingOptions(batch_size=8, epochs=2, **QUIET)
    result = Trainer(views, options, n_clusters=2, callbacks=[witness]).run(stages)
    assert witness.started == [(views, encoder, False)]
    assert [each[:2] for each in witness.seen] == [(each["stage"], each["step"]) for each in evaluations_of(result)]
    assert [each[1] for each in witness.seen] == [0, 3, 6, 0, 3, 6]
    assert {each[2] for each in witness.seen} == {(views.n_texts, 32)}
    np.testing.assert_array_equal(witness.seen[0][3], result.start_labels)
