"""The arithmetic of speed: ratios of turns, exponents of growth."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

# What an exponent is fitted to, wherever the records have it.
GROWING = ("seconds", "encode_seconds", "other_seconds", "peak_memory_mb", "added_memory_mb")


def in_turns(ours: Callable[[], float], reference: Callable[[], float], repeats: int) -> dict[str, Any]:
    """Time two things in turns: ours, the reference, ours, the reference, and so on.

    Parameters
    ----------
    ours, reference : callable
        Does the work and returns the seconds that count.
    repeats : int
        How many turns each gets.

    Returns
    -------
    dict
        What a record says of them: ``ratios``, how many times as fast as the reference, turn by turn; ``ratio``, the
        median of these; ``seconds`` and ``reference_seconds``, the median times.

    Examples
    --------
    >>> in_turns(lambda: 1.0, lambda: 3.0, repeats=2)
    {'ratio': 3.0, 'ratios': [3.0, 3.0], 'seconds': 1.0, 'reference_seconds': 3.0}
    """
    pairs = [(ours(), reference()) for _ in range(repeats)]
    ratios = [theirs / own for own, theirs in pairs]
    own, theirs = (statistics.median(times) for times in zip(*pairs, strict=True))
    return {"ratio": statistics.median(ratios), "ratios": ratios, "seconds": own, "reference_seconds": theirs}


def growth_exponent(sizes: Sequence[float], values: Sequence[float | None]) -> float | None:
    """Return b of values ≈ a · sizes^b, by least squares on the logarithms.

    Parameters
    ----------
    sizes : sequence of float
        Numbers of texts.
    values : sequence of float or None
        What was measured at each; what is missing or not above zero is omitted.

    Returns
    -------
    float or None
        None if fewer than two sizes are left.

    Examples
    --------
    >>> round(growth_exponent([10, 100, 1000], [3, 30, 300]), 6)
    1.0
    """
    points = [(math.log(n), math.log(value)) for n, value in zip(sizes, values, strict=True) if value and value > 0]
    if len({x for x, _ in points}) < 2:
        return None
    return statistics.linear_regression(*zip(*points, strict=True)).slope


def exponents(records: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Fit an exponent to each of the quantities in ``GROWING``, over records of one measure at several sizes.

    Examples
    --------
    >>> sizes = [{"n_texts": n, "seconds": n**2, "peak_memory_mb": 7.0} for n in (10, 20)]
    >>> found = exponents(sizes)
    >>> round(found["seconds"], 6), found["peak_memory_mb"], found["encode_seconds"]
    (2.0, 0.0, None)
    """
    sizes = [record["n_texts"] for record in records]
    return {name: growth_exponent(sizes, [record.get(name) for record in records]) for name in GROWING}
