"""A runner of stand-in cells, to be started as a process of its own, and killed: FILE of results, cells as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from shoal_bench import runner
from shoal_bench.cell import Cell
from shoal_bench.results import Results

if __name__ == "__main__":
    runner._COMMAND = (sys.executable, str(Path(__file__).with_name("stand_in_cell.py")))
    tasks = [runner.Task(Cell.of(cell), sha256, "row", "cheap", 60) for cell, sha256 in json.loads(sys.argv[2])]
    file = Path(sys.argv[1])
    summary = runner.Runner(Results(file)).run(tasks)
    sys.stdout.write(json.dumps(summary))
