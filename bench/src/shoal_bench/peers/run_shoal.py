"""Shoal's default method on given texts and vectors, in the same way as the peers it races; run by ``answer.py``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

PACKAGES = ("shoal", "scikit-learn", "numpy")


def prepare(n_clusters: int, seed: int) -> Callable[[Sequence[str], Any], Sequence[int]]:
    """Import Shoal and return the function to be timed.

    Parameters
    ----------
    n_clusters, seed : int
        Number of clusters, and the seed.
    """
    from shoal import Shoal

    def fit(texts: Sequence[str], vectors: Any) -> Sequence[int]:
        labels: list[int] = Shoal(n_clusters, random_state=seed).fit(list(texts), vectors=vectors).labels_.tolist()
        return labels

    return fit
