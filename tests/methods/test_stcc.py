from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix

from shoal.errors import DataError
from shoal.methods.objectives.stcc import CODES, CodeObjective, binary_codes
from shoal.methods.stcc import STCC
from shoal.training import VectorCorpus

FRUIT, CARS = ("apple", "pear", "plum", "cherry"), ("lorry", "car", "van", "bus")
TEXTS = [
    f"{how} {kind[i % 4]} {kind[(i + 1) % 4]} {tail}"
    for kind, how, tail in ((FRUIT, "ripe", "jam"), (CARS, "fast", "road"))
    for i in range(12)
]
TRUE = np.repeat([0, 1], 12)


@pytest.mark.parametrize("codes", CODES)
def test_two_topics_are_told_apart_by_any_code(codes, same_partition):
    model = STCC(2, codes=codes, epochs=20, batch_size=8, learning_rate=1e-2, word_dimension=8).fit(TEXTS)
    assert same_partition(model.labels_, TRUE)
    assert [stage["stage"] for stage in model.outcome_["stages"]] == ["codes"]


@pytest.mark.parametrize("kind", CODES)
def test_codes_halve_the_texts_and_tell_the_topics(kind):
    weights = csr_matrix(np.kron(np.eye(2), np.ones((20, 3))) + 0.01 * np.random.default_rng(0).random((40, 6)))
    averages = np.repeat(np.eye(2, 5), 20, axis=0) + 0.01 * np.random.default_rng(1).random((40, 5))
    codes = binary_codes(kind, weights, averages.astype(np.float32), 3)
    assert codes.dtype == bool
    assert (abs(codes.mean(axis=0) - 0.5) <= 0.1).all()
    assert any(set(bit[:20]) != set(bit[20:]) or (bit[:20] != bit[20:]).mean() > 0.9 for bit in codes.T)
    np.testing.assert_array_equal(codes, binary_codes(kind, weights, averages.astype(np.float32), 3))


def test_the_loss_is_a_sum_of_logistic_losses():
    codes = np.array([[True, False], [False, False], [True, True]])
    objective = CodeObjective(torch.nn.Identity(), codes, dimension=2, drop=0.0)
    with torch.no_grad():
        objective.predict.weight.copy_(torch.eye(2))
        objective.predict.bias.zero_()
    batch = VectorCorpus(np.array([[1, 2], [3, 4], [5, 6]], np.float32)).batch(np.array([2, 0]))
    expected = (np.log1p(np.exp([-5, -6, -1, 2]))).sum() / 2
    assert objective(batch)["codes"].item() == pytest.approx(expected, abs=1e-5)


def test_vectors_are_refused():
    with pytest.raises(DataError, match="STCC reads the words of texts"):
        STCC(2).fit(np.eye(4))
    with pytest.raises(DataError, match="STCC encodes texts itself"):
        STCC(2, epochs=1, word_dimension=4).fit(TEXTS).predict(TEXTS[:1], vectors=np.zeros((1, 40)))


def test_a_text_without_a_known_word_has_a_cluster():
    model = STCC(2, epochs=1, word_dimension=4).fit([*TEXTS, "unheard"])
    assert model.predict(["unheard", "neverseen"]).tolist() == [model.labels_[-1]] * 2
