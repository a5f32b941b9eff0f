"""The speed suite: ratios to a reference in the same process, and growth with the number of texts.

A ratio says how many times as fast as its reference something is: above 1 it is faster. Both take turns, and the
figure is the median of the turns' ratios, so that a machine that is busy for a while is busy for both. Growth is
measured at several sizes; its exponent is the slope of a straight line through the logarithms, and 1 means in
proportion to the number of texts. Every measure has a process of its own, with its threads pinned.
"""

from __future__ import annotations

from shoal_bench.speed.figures import exponents, growth_exponent, in_turns
from shoal_bench.speed.plan import (
    GROWTHS,
    KIND,
    MEASURES,
    RATIOS,
    SPEED_TIERS,
    SpeedOptions,
    SpeedRequest,
    find_speed_tier,
    requests_for,
)
from shoal_bench.speed.run import missing, run_speed, told

__all__ = [
    "GROWTHS",
    "KIND",
    "MEASURES",
    "RATIOS",
    "SPEED_TIERS",
    "SpeedOptions",
    "SpeedRequest",
    "exponents",
    "find_speed_tier",
    "growth_exponent",
    "in_turns",
    "missing",
    "requests_for",
    "run_speed",
    "told",
]
