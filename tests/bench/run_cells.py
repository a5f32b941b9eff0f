"""A runner that can be started as a process of its own, and killed: FILE of results, cells as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from shoal.bench.cell import Cell
from shoal.bench.data_sets import data_folder
from shoal.bench.results import Results
from shoal.bench.runner import Runner, Task

if __name__ == "__main__":
    tasks = [Task(Cell.of(cell), sha256, "row", "cheap", 60) for cell, sha256 in json.loads(sys.argv[2])]
    summary = Runner(Results(Path(sys.argv[1])), data_folder=data_folder()).run(tasks)
    sys.stdout.write(json.dumps({"ok": summary.ended["ok"], "elsewhere": summary.elsewhere}))
