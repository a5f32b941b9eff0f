"""A cell that measures nothing: it does what its parameters say, without a library to load."""

from __future__ import annotations

import os
import sys
import time

from filelock import FileLock

from shoal_bench.cell import Cell
from shoal_bench.child import answer
from shoal_bench.results import SCHEMA

SHA256 = "0" * 64
HELD: list[FileLock] = []  # for as long as this process lives


def work(question: dict) -> dict:
    cell = Cell.of(question)
    if "alive" in cell.params:
        HELD.append(FileLock(cell.params["alive"]))
        HELD[0].acquire()
    time.sleep(cell.params.get("seconds", 0))
    if "dies" in cell.params:
        sys.stderr.write("a line that nobody needs\nit hurts\n")
        os._exit(cell.params["dies"])
    good = {"scores": {"acc": 90.0, "nmi": 80.0}, "seconds": 1.0, "peak_memory_mb": 2.0}
    status = cell.params.get("status", "ok")
    facts = good if status == "ok" else {"reason": "made up"}
    where = {"threads": os.environ["OMP_NUM_THREADS"], "data": os.environ["SHOAL_DATA"]}
    return {"schema": SCHEMA, "key": cell.key(SHA256), "cell": question, "status": status, **facts, **where}


if __name__ == "__main__":
    answer(work)
    if len(sys.argv) > 1:
        sys.stdout.write(sys.argv[1])  # a library that talks when all is over
