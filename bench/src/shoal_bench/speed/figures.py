"""The arithmetic of speed: ratios of turns, exponents of growth."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# What an exponent is fitted to, wherever the records have it.
GROWING = ("seconds", "encode_seconds", "other_seconds", "peak_memory_mb", "added_memory_mb")


@dataclass(frozen=True)
class Turns:
    """Times of something and of its reference, taken in turns.

    Attributes
    ----------
    seconds, reference_seconds : tuple of float
        The times, turn by turn.

    Examples
    --------
    >>> Turns((1.0, 2.0, 1.0), (2.0, 6.0, 1.0)).ratio
    2.0
    """

    seconds: tuple[float, ...]
    reference_seconds: tuple[float, ...]

    @property
    def ratios(self) -> list[float]:
        """How many times as fast as the reference, turn by turn."""
        return [theirs / own for own, theirs in zip(self.seconds, self.reference_seconds, strict=True)]

    @property
    def ratio(self) -> float:
        """The median of the ratios."""
        return statistics.median(self.ratios)

    def as_facts(self) -> dict[str, Any]:
        """Return what a record says of them: the ratio, each turn's, and the median times."""
        return {
            "ratio": self.ratio,
            "ratios": self.ratios,
            "seconds": statistics.median(self.seconds),
            "reference_seconds": statistics.median(self.reference_seconds),
        }


def in_turns(ours: Callable[[], float], reference: Callable[[], float], repeats: int) -> Turns:
    """Time two things in turns: ours, the reference, ours, the reference, and so on.

    Parameters
    ----------
    ours, reference : callable
        Does the work and returns the seconds that count.
    repeats : int
        How many turns each gets.

    Returns
    -------
    Turns

    Examples
    --------
    >>> in_turns(lambda: 1.0, lambda: 3.0, repeats=2).ratios
    [3.0, 3.0]
    """
    pairs = [(ours(), reference()) for _ in range(repeats)]
    return Turns(tuple(own for own, _ in pairs), tuple(theirs for _, theirs in pairs))


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
