"""What each number of clusters on offer would mean: the largest groups, and which of them it joins or divides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.clusterers import communities_at
from shoal.corpus import Corpus
from shoal.errors import DataError
from shoal.methods.granularity import encoded_sample
from shoal.methods.inputs import rows_of
from shoal.methods.reading import plan_reading
from shoal.n_clusters import NClusters, choose_n_clusters, parse_wanted
from shoal.n_clusters.choice import neighbour_graphs
from shoal.naming import describe

# A group of another level is a part of a medium one, or holds it, if they share more than half of the smaller one.
HALF = 0.5


@dataclass(frozen=True)
class Suggestion:
    """A suggestion: the choice, and for each level its groups, largest first: name, share and relation to medium."""

    choice: NClusters
    groups: dict[str, list[dict[str, Any]]]


def suggest_n_clusters(corpus: Corpus, wanted: str = "auto", backbone: str = "auto") -> Suggestion:
    """Suggest numbers of clusters for a corpus, without a fit.

    Parameters
    ----------
    corpus : Corpus
        The texts.
    wanted : str, default="auto"
        ``auto``, or a range such as ``"5-80"``.
    backbone : str, default="auto"
        The encoder; by default one that reads the languages of the texts.

    Returns
    -------
    Suggestion
    """
    rows = rows_of(corpus)
    if not len(rows):
        raise DataError(f"all {len(rows.present)} texts are empty; there is nothing to cluster.")
    reading = plan_reading(rows, {"backbone": backbone, "keep_language": False})
    vectors, texts = encoded_sample(rows, reading.options)
    choice = choose_n_clusters(vectors, texts, parse_wanted(wanted))
    graphs = neighbour_graphs(vectors, texts, np.arange(len(vectors)))
    joint = sum(graphs[1:], graphs[0])
    found = {level: communities_at(joint, min(number, len(vectors))) for level, number in choice.levels.items()}
    names = {
        level: [each.name for each in describe(texts or [], labels, int(labels.max()) + 1)]
        for level, labels in found.items()
    }
    groups = {level: _groups(labels, names[level], found["medium"], names["medium"]) for level, labels in found.items()}
    return Suggestion(choice, groups)


def _groups(
    labels: NDArray[np.int64], names: list[str], medium: NDArray[np.int64], medium_names: list[str]
) -> list[dict[str, Any]]:
    """Describe the groups of one level by what they join or divide of the medium one."""
    shared = np.zeros((len(names), len(medium_names)), dtype=np.int64)
    np.add.at(shared, (labels, medium), 1)
    sizes, medium_sizes = shared.sum(axis=1), shared.sum(axis=0)
    groups = []
    for k, name in enumerate(names):
        held = np.flatnonzero(shared[k] > HALF * medium_sizes)
        home = int(shared[k].argmax())
        relation = "the same"
        if len(held) > 1:
            relation = "joins " + ", ".join(medium_names[j] for j in held[np.argsort(-medium_sizes[held])][:4])
        elif not len(held) and shared[k, home] > HALF * sizes[k]:
            relation = f"a part of {medium_names[home]}"
        elif not len(held):
            relation = "from several"
        groups.append(
            {"name": name, "size": int(sizes[k]), "share": float(sizes[k] / sizes.sum()), "relation": relation}
        )
    return groups
