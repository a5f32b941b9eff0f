"""``python -m shoal.bench.speed`` reads a request as JSON, takes that measure, and prints its record."""

from __future__ import annotations

from shoal.bench.child import answer
from shoal.bench.speed.measures import take
from shoal.bench.speed.plan import SpeedRequest

if __name__ == "__main__":
    answer(lambda question: take(SpeedRequest(**question)))
