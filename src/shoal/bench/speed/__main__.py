"""``python -m shoal.bench.speed`` reads a request as JSON, takes that measure, and prints its record."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading

from shoal.bench.cell import RUNNER, end_with
from shoal.bench.speed.measures import take
from shoal.bench.speed.plan import SpeedRequest


def main() -> None:
    """Read a request from standard input and print its record as the last line of standard output."""
    if RUNNER in os.environ:
        threading.Thread(target=end_with, args=(int(os.environ[RUNNER]),), daemon=True).start()
    request = SpeedRequest(**json.load(sys.stdin))
    with contextlib.redirect_stdout(sys.stderr):  # libraries may talk
        record = take(request)
    sys.stdout.write("\n" + json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")


if __name__ == "__main__":
    main()
