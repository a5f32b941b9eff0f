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
    explains_more,
)
from shoal.methods.shoal.features import Features
from shoal.methods.shoal.few_texts import FEW_TEXTS
from shoal.methods.shoal.partition import find_partition
from shoal.metrics import accuracy
from shoal.vectors import Vectors, unit_rows

COTRAINED = ", co-trained"
# Each forces one branch, so that all candidates are heard: linked, set free, relaxed.
_ALWAYS, _NEVER = -np.inf, np.inf
FORCED = {
    UNEQUAL: Rules(unequal_gain=_ALWAYS),
    SIZES_FREE: Rules(unequal_gain=_NEVER, free_gain=_ALWAYS, safe_gain=_NEVER, least_agreement=-1),
    BALANCED: Rules(unequal_gain=_NEVER, free_gain=_NEVER, safe_gain=_NEVER, least_agreement=-1),
}
# The constants that are tried, in every combination.
TRIED: dict[str, tuple[float, ...]] = {
    "unequal_gain": (0.15, 0.2, 0.25, 0.3, 0.35),
    "free_gain": (0.0, 0.02, 0.05, 0.1),
    "safe_gain": (0.02, 0.05, 0.1, 0.2),
    "least_agreement": (0.5, 0.6, 2 / 3, 0.75),
}


@dataclass(frozen=True)
class Weighed:
    """The candidates on one corpus.

    Attributes
    ----------
    agreement : float
        How far the starts of the balanced candidates agree.
    modularity, acc : mapping of str to float
        The evidence for each candidate, and its accuracy in percent. One that was co-trained is named after what it was
        before.

    Examples
    --------
    >>> weighed = Weighed(1.0, {"k-means, settled": 0.5}, {"k-means": 60.0, "k-means, settled": 62.0})
    >>> weighed.answer(), weighed.best
    ('k-means, settled', 62.0)
    """

    agreement: float
    modularity: Mapping[str, float]
    acc: Mapping[str, float]

    @property
    def best(self) -> float:
        """The best accuracy of all candidates that could have been the answer."""
        return max(acc for name, acc in self.acc.items() if name not in (START, EQUAL))

    def answer(self, rules: Rules | None = None) -> str:
        """Return the candidate that these constants choose, from the evidence alone."""
        rules, explained = rules or Rules(), self.modularity
        if EQUAL not in explained:
            return SAFE
        linked = f"{UNEQUAL}{COTRAINED}"
        if explains_more(explained[SAFE], explained[EQUAL], rules.unequal_gain):
            return linked if linked in explained else SAFE
        if self.agreement < rules.least_agreement:
            return SAFE
        best = max(explained[SIZES_FREE], explained[BALANCED])
        fits = linked in explained and explains_more(explained[UNEQUAL], explained[SAFE], rules.unequal_gain)
        if fits and explains_more(explained[SAFE], best, rules.free_gain):
            return linked
        if explains_more(explained[SAFE], best, rules.safe_gain):
            return SAFE
        freed = explains_more(explained[SIZES_FREE], explained[BALANCED], rules.free_gain)
        return f"{SIZES_FREE if freed else BALANCED}{COTRAINED}"

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
    agreement = 1.0
    for forced, rules in FORCED.items():

        def hear(evidence: Evidence, found: NDArray[np.int64], forced: str = forced) -> None:
            name = f"{forced}{COTRAINED}" if evidence.branch.endswith(COTRAINED) else evidence.branch
            if name not in acc:
                modularity[name] = evidence.modularity
                acc[name] = 100 * accuracy(labels, found[copies])

        found = find_partition(features, len(set(labels)), np.random.RandomState(seed), rules=rules, hear=hear)
        agreement = agreement if found.agreement is None else found.agreement
    return Weighed(agreement, modularity, acc)


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
