"""Clusters whose texts are much the same again and again: near-duplicates and boilerplate."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# A cluster of at least so many texts is boilerplate if a smaller share of them than this is distinct.
LEAST_TEXTS = 10
DISTINCT_SHARE = 0.2
_VARYING = re.compile(r"[\W\d_]+")


def boilerplate_clusters(texts: Sequence[str | None], labels: NDArray[np.int64]) -> tuple[int, ...]:
    """Return the clusters whose texts hardly differ but for digits, punctuation, case and white space.

    Examples
    --------
    >>> texts = [f"Ticket {i} was closed." for i in range(10)] + ["my parcel is late", "I was charged twice"]
    >>> boilerplate_clusters(texts, np.array([0] * 10 + [1] * 2))
    (0,)
    """
    seen: dict[int, set[str]] = defaultdict(set)
    for text, label in zip(texts, labels.tolist(), strict=True):
        seen[label].add(_VARYING.sub(" ", text or "").strip().lower())
    sizes = {k: int((labels == k).sum()) for k in seen if k >= 0}
    return tuple(k for k in sorted(sizes) if sizes[k] >= LEAST_TEXTS and len(seen[k]) < DISTINCT_SHARE * sizes[k])
