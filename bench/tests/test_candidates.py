"""Every candidate is scored, and the choice replayed from the evidence is the method's own."""

from __future__ import annotations

import numpy as np
import pytest

from shoal import Shoal
from shoal.errors import ParameterError
from shoal.methods.shoal.evidence import BALANCED, SAFE, SIZES_FREE, UNEQUAL, Rules
from shoal.metrics import accuracy
from shoal.vectors import unit_rows
from shoal_bench.candidates import COTRAINED, Weighed, held_out, weigh
from shoal_bench.cli.choice import summary

STABLE = {SAFE: 0.6, SIZES_FREE: 0.6, UNEQUAL: 0.6}
EXPLAINED = {SAFE: 0.6, "equal sizes": 0.5, SIZES_FREE: 0.6, BALANCED: 0.595, UNEQUAL: 0.7}
EXPLAINED |= {f"{name}{COTRAINED}": 0.6 for name in (UNEQUAL, SIZES_FREE, BALANCED)}


def made(sizes, noise=0.15):
    rng = np.random.RandomState(0)
    numbers = np.repeat(range(len(sizes)), sizes)
    vectors = unit_rows(np.eye(len(sizes), 20)[numbers] + rng.normal(scale=noise, size=(len(numbers), 20)))
    texts = [f"{' '.join(f'word{number}{w}' for w in rng.permutation(9)[:4])} {i}" for i, number in enumerate(numbers)]
    return texts, [str(number) for number in numbers], vectors.astype(np.float32)


@pytest.mark.parametrize(
    ("sizes", "noise"), [([90, 90, 90], 0.15), ([150, 90, 45], 0.15), ([90, 70, 45, 25, 12, 8, 7, 5, 5, 4], 0.12)]
)
def test_the_replayed_answer_is_the_methods_own(sizes, noise):
    texts, labels, vectors = made(sizes, noise)
    weighed = weigh(texts, labels, vectors, seed=0)
    model = Shoal(len(sizes), random_state=0).fit(texts, vectors=vectors)
    # the generator of a fit is made by the estimator, so that it is the same here
    assert weighed.acc[weighed.answer()] == pytest.approx(100 * accuracy(labels, model.labels_), abs=1)
    assert weighed.answer().startswith(model.outcome_["choice"]["branch"])
    assert {SAFE, SIZES_FREE, BALANCED, UNEQUAL} <= weighed.acc.keys()
    assert weighed.best >= weighed.acc[weighed.answer()]


def test_each_constant_decides():
    weighed = Weighed(STABLE, EXPLAINED, dict.fromkeys(EXPLAINED, 50.0))
    assert weighed.answer() == f"{BALANCED}{COTRAINED}"
    assert weighed.answer(Rules(free_gain=0.01)) == f"{SIZES_FREE}{COTRAINED}"
    assert weighed.answer(Rules(least_stability=0.65)) == SAFE
    assert weighed.answer(Rules(linked_gain=0.0, highly_stable=0.6)) == f"{UNEQUAL}{COTRAINED}"
    assert weighed.answer(Rules(safe_gain=0.0)) == SAFE
    assert weighed.answer(Rules(unequal_gain=0.2)) == f"{UNEQUAL}{COTRAINED}"
    assert Weighed({}, EXPLAINED, weighed.acc).answer() == f"{UNEQUAL}{COTRAINED}"  # nothing else was sought
    assert Weighed({}, {SAFE: 0.6}, weighed.acc).answer() == SAFE


def test_constants_are_chosen_without_the_set_they_are_judged_on():
    safe = Weighed(STABLE, EXPLAINED, {**dict.fromkeys(EXPLAINED, 50.0), f"{SAFE}": 70.0})
    other = Weighed(STABLE, EXPLAINED, {**dict.fromkeys(EXPLAINED, 50.0), f"{BALANCED}{COTRAINED}": 70.0})
    found = {name: (rules, regret) for name, rules, regret in held_out({"a": [safe], "b": [safe], "c": [other]})}
    assert found["a"][1] == found["b"][1] == 20  # b and c are a tie, so that the default stays
    assert found["c"][0].least_stability > 0.6
    assert found["c"][1] == 20


def test_the_table_has_means_over_the_seeds():
    weighed = {"stability": STABLE, "modularity": EXPLAINED, "acc": {**dict.fromkeys(EXPLAINED, 50.0), "k-means": 40.0}}
    better = {**weighed, "acc": {**weighed["acc"], SAFE: 60.0}}
    records = [
        {"data_set": "fish", "sample": None, "weighed": weighed},
        {"data_set": "fish", "sample": None, "weighed": better},
        {"data_set": "birds", "sample": 0.8, "weighed": weighed},
    ]
    facts = summary(records)
    assert [(row["data set"], row["sample"], row["seeds"], row["regret"]) for row in facts["rows"]] == [
        ("birds", "0.8", 1, 0.0),
        ("fish", "all", 2, 5.0),
    ]
    assert facts["means"]["k-means"] == 40
    assert summary([])["rows"] == []


def test_few_texts_are_refused_because_the_method_has_another_rule_for_them():
    with pytest.raises(ParameterError, match="232 distinct texts"):
        weigh(*made([80, 60, 40, 20, 10, 6, 5, 4, 4, 3], 0.12), seed=0)
