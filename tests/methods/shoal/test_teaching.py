"""The teacher's objective: what it takes from a partition and what it asks of the encoder."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from shoal.encoder.tokens import TokenisedTexts
from shoal.methods.shoal.partition import Partition
from shoal.methods.shoal.teaching import TeacherObjective
from shoal.training import CorpusViews

VECTORS = np.array([[2.0, 0.0], [1.8, 0.2], [0.0, 2.0], [0.2, 1.8]], dtype=np.float32)
SOFT = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.4, 0.6]], dtype=np.float32)
FOUND = Partition(SOFT.argmax(axis=1), SOFT, SOFT.argmax(axis=1), "balanced", 1.0, (), "by hand.")
VIEWS = CorpusViews.repeated(TokenisedTexts(np.arange(4, dtype=np.int32), np.arange(5), np.arange(4), 0, 0), 1)


class Table(nn.Module):
    """An encoder that knows the vectors of four texts, and remembers which it was asked for."""

    def __init__(self):
        super().__init__()
        self.vectors = nn.Parameter(torch.from_numpy(VECTORS.copy()))
        self.asked = []

    def forward(self, tokens, rows):
        self.asked += rows.tolist()
        return self.vectors[torch.from_numpy(rows)]


def untaught(sure_share=1.0, first=(0, 1, 2, 3), copies=(0, 1, 2, 3)):
    return TeacherObjective(
        Table(),
        lambda *_: FOUND,
        first=np.array(first),
        copies=np.array(copies),
        n_clusters=2,
        dimension=2,
        temperature=0.5,
        sure_share=sure_share,
    )


def objective(sure_share=1.0):
    made = untaught(sure_share)
    made.initialise(VECTORS, np.random.RandomState(0))
    return made


def test_the_loss_by_hand():
    taught = objective()
    # Centred, the vectors point to (1, -1) and (-1, 1), and so do the centres: cosines 1 and -1, over 0.5.
    q = np.exp([2.0, -2.0]) / np.exp([2.0, -2.0]).sum()
    q = np.array([q, q, q[::-1], q[::-1]])
    expected = (SOFT * np.log(SOFT / q)).sum(axis=1).mean()
    loss = taught(VIEWS.batch(np.arange(4)))["teacher"]
    np.testing.assert_allclose(loss.item(), expected, rtol=1e-4)


def test_only_sure_texts_are_encoded():
    taught = objective(sure_share=0.5)
    taught(VIEWS.batch(np.arange(4)))
    assert taught.encoder.asked == [0, 2]
    assert taught(VIEWS.batch(np.array([1, 3])))["teacher"].item() == 0
    assert taught.encoder.asked == [0, 2]


def test_copies_of_a_text_share_its_target_and_do_not_teach():
    taught = untaught(first=(3, 1, 2, 0), copies=(3, 1, 2, 0, 1))  # the fifth row is the second text again
    taught.initialise(np.vstack([VECTORS[[3, 1, 2, 0]], VECTORS[1]]), np.random.RandomState(0))
    np.testing.assert_allclose(taught.targets.numpy(), SOFT[[3, 1, 2, 0, 1]], rtol=1e-6)
    assert taught.sure.tolist() == [True] * 4 + [False]


def test_labels_are_those_of_the_nearest_centre():
    assert objective().labels(VECTORS).tolist() == FOUND.labels.tolist()


def test_a_step_draws_a_text_towards_its_cluster():
    taught = objective()
    optimizer = torch.optim.SGD(taught.parameters(), lr=0.1)
    before = taught(VIEWS.batch(np.arange(4)))["teacher"]
    with torch.no_grad():
        taught.encoder.vectors[1] = torch.tensor([0.9, 1.3])  # out of its cluster
    worse = taught(VIEWS.batch(np.arange(4)))["teacher"]
    assert worse > before
    worse.backward()
    optimizer.step()
    assert taught.encoder.vectors[1, 0] > 0.9
    assert taught(VIEWS.batch(np.arange(4)))["teacher"] < worse


def test_a_checkpoint_holds_what_the_teacher_said():
    state = objective(sure_share=0.5).state_dict()
    again = untaught(sure_share=0.5)
    again.load_state_dict(state)
    assert again.sure.tolist() == [True, False, True, False]
    np.testing.assert_allclose(again.targets.numpy(), SOFT, rtol=1e-6)
