"""The layout of a run on disk, and the rules that keep it consistent.

::

    RUN/
      run.json               version, parameters, seed, data, timings, what was dropped; sha256 of every other file
      assignments.parquet    every input row and column + cluster, name, confidence, second choice
      assignments.csv        the same
      clusters.json          names, sizes, keywords, examples
      history.jsonl          one record per line
      model/                 what `shoal predict` needs

      map.parquet            places of the texts on the map: row, x, y
      report.html            all of this as one page

A run is written as ``RUN.partial`` under a lock; ``run.json`` is written last, and the complete folder is renamed.
What a resumed fit needs (``LEFTOVERS``) is deleted after that, so that a fit can be killed at any moment and resumed.
The map and the report are made from the finished run, and can be made again; they are not sealed.
Nothing is ever pickled.
"""

from shoal.run_folder.folder import LEFTOVERS, MODEL, RunFolder, check_version, partial_path
from shoal.run_folder.unfinished import claim_path, tidy, writing

__all__ = [
    "LEFTOVERS",
    "MODEL",
    "RunFolder",
    "check_version",
    "claim_path",
    "partial_path",
    "tidy",
    "writing",
]
