"""Quality of a ranking: candidates sorted by score, some of them relevant.

Each query has an array of scores and an array of booleans, of one length; two queries may differ in length.
Higher scores come first and ties keep the order of the input. A query without a relevant candidate is counted,
but not part of the means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError

Queries: TypeAlias = Sequence[Sequence[float]] | Sequence[NDArray[Any]] | NDArray[Any]


@dataclass(frozen=True)
class Ranking:
    """The means over queries, in [0, 1]; NaN when every query was skipped.

    Parameters
    ----------
    map : float
        Mean average precision.
    mrr : float
        Mean reciprocal rank of the first relevant candidate.
    n_queries : int
        Queries that the means are taken over.
    n_skipped : int
        Queries without a relevant candidate, which are not in the means.
    """

    map: float
    mrr: float
    n_queries: int
    n_skipped: int


def _ranks(query: int, scores: Any, relevant: Any) -> NDArray[np.intp]:
    """Ranks, from 1, of the relevant candidates of one query, ascending."""
    try:
        values, marks = np.asarray(scores, dtype=np.float64), np.asarray(relevant, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"query {query} has scores or marks that are not numbers; pass floats and booleans.") from error
    if values.ndim != 1 or values.shape != marks.shape:
        raise DataError(
            f"query {query} has scores of shape {values.shape} and relevant of shape {marks.shape}; "
            "pass one score and one boolean per candidate."
        )
    if np.isnan(values).any():
        raise DataError(f"query {query} has {np.isnan(values).sum()} scores that are NaN; pass numbers.")
    if not np.isin(marks, (0, 1)).all():
        raise DataError(f"query {query} has relevance marks other than 0 and 1; pass booleans.")
    return np.flatnonzero(marks[np.argsort(-values, kind="stable")]) + 1


def ranking_scores(scores: Queries, relevant: Queries) -> Ranking:
    """Mean average precision and mean reciprocal rank together.

    Parameters
    ----------
    scores : sequence of arrays of float
        Per query, the score of each candidate; higher is better.
    relevant : sequence of arrays of bool
        Per query, whether each candidate is relevant.

    Returns
    -------
    Ranking
        Both means, and the number of queries.

    Examples
    --------
    >>> ranking_scores([[0.9, 0.5, 0.1], [0.2, 0.8], [0.4]], [[1, 0, 1], [1, 0], [0]])
    Ranking(map=0.6666666666666666, mrr=0.75, n_queries=2, n_skipped=1)
    """
    if len(scores) != len(relevant) or len(scores) == 0:
        raise DataError(
            f"scores has {len(scores)} queries and relevant has {len(relevant)}; "
            "pass one array of each per query, for at least one query."
        )
    ranks = [_ranks(query, *pair) for query, pair in enumerate(zip(scores, relevant, strict=True))]
    found = [rank for rank in ranks if rank.size]
    if not found:
        return Ranking(float("nan"), float("nan"), 0, len(ranks))
    # the i-th relevant candidate, at rank r_i, has the precision i / r_i
    precisions = [float(np.mean(np.arange(1, rank.size + 1) / rank)) for rank in found]
    reciprocals = [1 / rank[0] for rank in found]
    return Ranking(
        map=float(np.mean(precisions)),
        mrr=float(np.mean(reciprocals)),
        n_queries=len(found),
        n_skipped=len(ranks) - len(found),
    )
