"""How well the default method chooses: every candidate it could have taken, and what other constants would have taken.

The method weighs candidates without labels. Here each is also scored, after the fit, and the choice is replayed from
the evidence with other constants: a constant is chosen on all data sets but one and judged on that one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from shoal.encoder.word_statistics import WordStatistics
from shoal.errors import ParameterError
from shoal.methods import find_method
from shoal.methods.inputs import Rows, row_keys
from shoal.methods.shoal.evidence import (
    BALANCED,
    EQUAL,
    SAFE,
    SIZES_FREE,
    START,
    UNEQUAL,
    Evidence,
    Rules,
    leaves_less,
    most_trusted,
)
from shoal.methods.shoal.features import Features
from shoal.methods.shoal.few_texts import FEW_TEXTS
from shoal.methods.shoal.partition import Hear, Partition, find_partition
from shoal.metrics import accuracy
from shoal.vectors import Vectors, unit_rows

COTRAINED = ", co-trained"
# Each forces one kind of clusters, so that all candidates are heard: linked, set free, relaxed. Linkage comes first: of
# the clusters of equal size those from the safe candidate are then kept, which tell whether sizes differ by far.
FORCED = {
    UNEQUAL: (UNEQUAL, Rules()),
    SIZES_FREE: (SIZES_FREE, Rules(free_gain=-np.inf)),
    BALANCED: (SIZES_FREE, Rules(free_gain=np.inf)),
}
# The constants that are tried, in every combination.
TRIED: dict[str, tuple[float, ...]] = {
    "unequal_gain": (0.2, 0.25, 0.3),
    "linked_gain": (0.2, 0.3, 0.4, 0.5, 0.6),
    "safe_gain": (0.1, 0.15, 0.2, 0.3),
    "stable": (0.7, 0.75, 0.8),
    "least_stability": (0.5, 0.55, 0.6, 0.65),
    "free_gain": (0.0, 0.02, 0.04, 0.1),
}


@dataclass(frozen=True)
class Weighed:
    """The candidates on one corpus.

    Attributes
    ----------
    stability : mapping of str to float
        How much of each kind of clusters is found again.
    modularity, acc : mapping of str to float
        The evidence for each candidate, and its accuracy in percent. One that was co-trained is named after what it was
        before.

    Examples
    --------
    >>> weighed = Weighed({}, {"k-means, settled": 0.5}, {"k-means": 60.0, "k-means, settled": 62.0})
    >>> weighed.answer(), weighed.best
    ('k-means, settled', 62.0)
    """

    stability: Mapping[str, float]
    modularity: Mapping[str, float]
    acc: Mapping[str, float]

    @property
    def best(self) -> float:
        """The best accuracy of all candidates that could have been the answer."""
        return max(acc for name, acc in self.acc.items() if name not in (START, EQUAL))

    def answer(self, rules: Rules | None = None) -> str:
        """Return the candidate that these constants choose, from the evidence alone."""
        rules = rules or Rules()
        if EQUAL not in self.modularity:
            return SAFE
        safe = self.modularity[SAFE]
        far = leaves_less(safe, self.modularity[EQUAL], rules.unequal_gain) and self.modularity[UNEQUAL] > safe
        kind = UNEQUAL if far or not self.stability else most_trusted(self.stability, rules)
        if kind == SAFE:
            return SAFE
        if kind == SIZES_FREE and not leaves_less(
            self.modularity[SIZES_FREE], self.modularity[BALANCED], rules.free_gain
        ):
            kind = BALANCED
        return f"{kind}{COTRAINED}"

    def regret(self, rules: Rules | None = None) -> float:
        """Return how much better the best candidate is than the chosen one."""
        return self.best - self.acc[self.answer(rules)]


def weigh(texts: Sequence[str], labels: Sequence[str], vectors: Vectors, seed: int) -> Weighed:
    """Run the default method with every branch, and score every candidate.

    Parameters
    ----------
    texts, labels : sequence of str
        The texts and their classes; these are for scores only.
    vectors : ndarray of shape (n, d)
        The encoder's vectors of the texts.
    seed : int
        The seed.

    Raises
    ------
    ParameterError
        If there are so few texts that the method answers by another rule.
    """
    features, copies = features_of(texts, vectors)
    if len(features.meaning) <= FEW_TEXTS:
        raise ParameterError(
            f"{len(features.meaning)} distinct texts are clustered by a rule of their own, which is not replayed here; "
            f"pass more than {FEW_TEXTS}."
        )
    modularity: dict[str, float] = {}
    acc: dict[str, float] = {}

    def find(rules: Rules, kind: str | None = None, hear: Hear | None = None) -> Partition:
        random = np.random.RandomState(seed)
        return find_partition(features, len(set(labels)), random, rules=rules, kind=kind, hear=hear)

    for forced, (kind, rules) in FORCED.items():

        def hear(evidence: Evidence, found: NDArray[np.int64], forced: str = forced) -> None:
            name = f"{forced}{COTRAINED}" if evidence.branch.endswith(COTRAINED) else evidence.branch
            if name not in acc:
                modularity[name] = evidence.modularity
                acc[name] = 100 * accuracy(labels, found[copies])

        find(rules, kind, hear)
    # Without the sign that sizes differ by far: the stability is wanted there too, to judge that constant.
    return Weighed(find(Rules(unequal_gain=np.inf)).stability, modularity, acc)


def features_of(texts: Sequence[str], vectors: Vectors) -> tuple[Features, NDArray[np.int64]]:
    """Return the features of distinct texts as the default method has them, and the distinct text of each row."""
    every = list(texts)
    keys = row_keys(Rows(np.ones(len(every), dtype=bool), every, None))
    _, first, copies = np.unique(keys, return_index=True, return_inverse=True)
    words = WordStatistics(n_components=find_method("shoal").defaults()["word_dimensions"]).fit(every)
    meaning = unit_rows(vectors - vectors[first].mean(axis=0)).astype(np.float32)
    return Features(meaning, words.encode(every), words.tfidf(every)).rows(first), copies


def held_out(every: Mapping[str, Sequence[Weighed]]) -> Iterator[tuple[str, Rules, float]]:
    """Choose the constants on all data sets but one, for each; yield it, the constants, and its mean regret with them.

    Of constants that are equally good, those nearest to the defaults are taken.
    """
    grid = [replace(Rules(), **dict(zip(TRIED, values, strict=True))) for values in product(*TRIED.values())]
    grid.sort(key=_steps_from_default)
    regrets = np.array([[np.mean([each.regret(rules) for each in sets]) for sets in every.values()] for rules in grid])
    for place, name in enumerate(every):
        others = np.delete(regrets, place, axis=1).sum(axis=1)
        best = int(np.flatnonzero(others <= others.min() + 1e-9)[0])
        yield name, grid[best], float(regrets[best, place])


def _steps_from_default(rules: Rules) -> int:
    """Return how many tried values lie between these constants and the defaults."""
    default = Rules()
    return sum(
        abs(values.index(getattr(rules, name)) - values.index(getattr(default, name))) for name, values in TRIED.items()
    )
