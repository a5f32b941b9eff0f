"""The one loop on a corpus of vectors, and stages that come before there are clusters."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix
from torch import nn

from shoal.training import (
    Callback,
    EarlyStopping,
    Objective,
    Stage,
    Trainer,
    TrainingOptions,
    VectorCorpus,
    kmeans_from,
)
from shoal.training.run_state import RunState

OPTIONS = {"batch_size": 8, "learning_rate": 1e-2, "head_learning_rate": 1e-2, "device": "cpu"}


@pytest.fixture
def matrix():
    rng = np.random.default_rng(0)
    centers = np.repeat([[3.0, 0.0, 1.0], [-3.0, 1.0, 0.0]], 12, axis=0)
    return (centers + rng.normal(size=centers.shape)).astype(np.float32)


class Shrink(Objective):
    """Draws the encoded rows to the origin, softly; clusters by their first coordinate's sign at the start."""

    def __init__(self):
        super().__init__(nn.Linear(3, 2))
        self.centers = nn.Parameter(torch.zeros(2, 2), requires_grad=False)
        self.seen = []

    def initialise(self, embeddings, rng):
        with torch.no_grad():
            self.centers.copy_(torch.from_numpy(np.stack([embeddings[:12].mean(axis=0), embeddings[12:].mean(axis=0)])))

    def forward(self, batch):
        self.seen.append(batch.rows)
        (vectors,) = self.encode(batch)
        return {"size": vectors.square().mean()}

    def labels(self, embeddings, rng=None):
        found = kmeans_from(embeddings, self.centers.numpy()).scores(embeddings).argmax(axis=1)
        return found.astype(np.int64)


def test_sparse_rows_are_the_same_as_dense_ones(matrix):
    rows = np.array([5, 0, 23])
    dense, sparse = VectorCorpus(matrix).batch(rows), VectorCorpus(csr_matrix(matrix)).batch(rows)
    torch.testing.assert_close(dense.vectors, torch.from_numpy(matrix[rows]))
    assert torch.equal(dense.vectors, sparse.vectors)
    assert (len(sparse), sparse.n_tokens, sparse.n_computed, VectorCorpus(csr_matrix(matrix)).n_texts) == (3, 3, 3, 24)


def test_the_trainer_runs_on_vectors(matrix):
    torch.manual_seed(0)
    objective = Shrink()
    result = Trainer(VectorCorpus(matrix), TrainingOptions(epochs=4, **OPTIONS), n_clusters=2).run(
        [Stage("shrink", objective)]
    )
    steps = [record for record in result.history if record["event"] == "step"]
    assert len(steps) == 12
    assert sum(step["size"] for step in steps[-3:]) < sum(step["size"] for step in steps[:3])
    assert (steps[0]["texts"], steps[0]["padding"]) == (8, 0)
    assert sorted(np.concatenate(objective.seen[:3])) == list(range(24))
    assert len(set(result.start_labels[:12])) == len(set(result.start_labels[12:])) == 1


def test_what_is_not_watched_is_neither_judged_nor_stopped(matrix):
    class Heard(Callback):
        def __init__(self):
            self.seen, self.starts = [], 0

        def on_start(self, views, encoder):
            self.starts += 1

        def on_embeddings(self, record, embeddings, labels):
            self.seen.append((record["stage"], record["step"]))

    torch.manual_seed(0)
    heard = Heard()
    before, watched = Shrink(), Shrink()
    watched.encoder = before.encoder
    trainer = Trainer(
        VectorCorpus(matrix), TrainingOptions(**OPTIONS), n_clusters=2, callbacks=[heard, EarlyStopping(1.0)]
    )
    result = trainer.run([Stage("before", before, epochs=2, watched=False), Stage("watched", watched, epochs=3)])
    assert heard.starts == 1
    assert heard.seen == [("watched", 0), ("watched", 3)]  # any share may move: it stops at the first evaluation
    first, second = result.outcome["stages"]
    assert (first["steps"], first["start"], first["end"], first["rolled_back"]) == (6, {}, {}, False)
    assert result.outcome["start"] == second["start"] != {}
    assert len(result.start_labels) == 24


class Drift(Objective):
    """Moves nothing; its centres drift to a bad partition, which fresh starts do not share, or share if ``stuck``."""

    def __init__(self, stuck):
        super().__init__(nn.Linear(3, 3, bias=False))
        self.place = nn.Parameter(torch.zeros(1))
        self.stuck = stuck
        with torch.no_grad():
            self.encoder.weight.copy_(torch.eye(3))

    def forward(self, batch):
        return {"drift": -self.place.sum() + 0.0 * batch.encoded_by(self.encoder).sum()}

    def labels(self, embeddings, rng=None):
        good = (embeddings[:, 0] > 0).astype(np.int64)
        drifted = self.place.item() > 0 and (rng is None or self.stuck)
        return np.arange(len(embeddings)) % 2 if drifted else good


@pytest.mark.parametrize("stuck", [False, True])
def test_the_end_is_judged_by_the_answer_that_it_would_give(matrix, stuck):
    options = TrainingOptions(**OPTIONS | {"learning_rate": 0.0}, epochs=2)
    result = Trainer(VectorCorpus(matrix), options, n_clusters=2).run([Stage("drift", Drift(stuck))])
    (stage,) = result.outcome["stages"]
    assert stage["rolled_back"] is stuck
    assert stage["kept_step"] == (0 if stuck else 6)
    assert stage["end"]["gain"] == 0.0
    assert (result.undone_labels is not None) is stuck


class Trade(Objective):
    """Learns something, and nothing of use: one row leaves its cluster, another one comes back to its own."""

    def __init__(self, encoder):
        super().__init__(encoder)
        self.place = nn.Parameter(torch.zeros(1))

    def forward(self, batch):
        return {"drift": -self.place.sum() - batch.encoded_by(self.encoder).sum()}

    def labels(self, embeddings, rng=None):
        found = np.arange(24) // 12
        astray = 0 if self.place.item() > 0 else 23
        found[astray] = 1 - found[astray]
        return found


@pytest.mark.parametrize("guarded", [True, False])
def test_a_run_without_a_gain_beyond_chance_is_undone_whole(matrix, guarded):
    words = np.repeat(np.eye(4, dtype=np.float32), 6, axis=0)
    encoder = nn.Linear(3, 3)
    before = encoder.weight.detach().clone()
    stages = [Stage("first", Trade(encoder)), Stage("second", Trade(encoder))]
    trainer = Trainer(VectorCorpus(matrix), TrainingOptions(guard=guarded, **OPTIONS), n_clusters=3, words=words)
    outcome = trainer.run(stages).outcome
    assert outcome["trained"] is not guarded
    assert [stage["kept_step"] for stage in outcome["stages"]] == ([0, 0] if guarded else [3, 3])
    assert torch.equal(encoder.weight, before) is guarded
    if guarded:
        assert [stage["rolled_back"] for stage in outcome["stages"]] == [True, True]
        assert outcome["reason"].startswith("undone with the whole run; no gain beyond chance: ")
        first, again = trainer.state.first, RunState.from_state(trainer.state.state_dict()).first
        assert (again.signs, again.weights.keys()) == (first.signs, {"place", "encoder.weight", "encoder.bias"})


class Mirage(Objective):
    """Its clusters improve as long as it trains, but not the answer that fresh starts would give."""

    def __init__(self):
        super().__init__(nn.Linear(3, 3))
        self.place = nn.Parameter(torch.zeros(1))

    def forward(self, batch):
        return {"drift": -self.place.sum() + 0.0 * batch.encoded_by(self.encoder).sum()}

    def labels(self, embeddings, rng=None):
        found = np.arange(24) // 12
        if self.place.item() == 0:
            found[[0, 1, 22, 23]] = [1, 1, 0, 0]
        elif rng is not None:
            found = np.arange(24) % 2
        return found


def test_the_best_state_is_judged_by_its_answer_too(matrix):
    words = np.repeat(np.eye(2, dtype=np.float32), 12, axis=0)
    objective = Mirage()
    trainer = Trainer(VectorCorpus(matrix), TrainingOptions(epochs=2, **OPTIONS), n_clusters=2, words=words)
    result = trainer.run([Stage("mirage", objective)])
    evaluations = [record for record in result.history if record["event"] == "evaluation"]
    assert evaluations[-1]["gain"] > 2 * evaluations[-1]["gain_error"] > 0
    assert not result.outcome["trained"]
    assert result.outcome["stages"][0]["kept_step"] == 0
    assert "neighbours were separated" in result.outcome["reason"]
    assert objective.place.item() == 0
    assert (result.undone_labels == np.arange(24) % 2).all()
