"""``python -m shoal_bench.speed`` reads a request as JSON, takes that measure, and prints its record."""

from __future__ import annotations

from shoal_bench.child import answer
from shoal_bench.speed.measures import take
from shoal_bench.speed.plan import SpeedRequest

if __name__ == "__main__":
    answer(lambda question: take(SpeedRequest(**question)))
