"""What a fit will take, before it begins: time, memory, disk, and how many texts the clusters are looked for among."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from shoal.errors import ParameterError
from shoal.methods.base import TextClusterer
from shoal.methods.inputs import Rows, row_keys
from shoal.n_clusters import parse_wanted
from shoal.scratch import IN_MEMORY_BYTES

MB = 1024**2
# A method is timed on so many texts, twice: what both take is the start, which does not grow.
PROBES = (500, 2_000)
# Clustering grows a little faster than the number of rows: 2,000 to 50,000 were measured.
GROWTH = 1.1
# Clusters, where their number is not known yet: many, so that the plan is not too small.
UNKNOWN_CLUSTERS = 100
# Of the built-in encoder's vectors; others are planned as if they were as long.
DIMENSION = 384
# Measured: the libraries with the built-in encoder at work; a text that is read; a row in which clusters are looked
# for (its neighbours and the candidates' assignments; later the features, twice, of four rows for each of these).
LIBRARIES_BYTES = 900 * MB
TEXT_BYTES = 2_100
ROW_BYTES, ROW_CLUSTER_BYTES = 20_000, 60
# Fewer rows than this to look for clusters in would be another method.
LEAST_ROWS = 5_000
_UNITS = {"k": 1024, "m": MB, "g": 1024 * MB, "t": MB * MB}


@dataclass(frozen=True)
class Plan:
    """The expected cost of a fit.

    Attributes
    ----------
    n_texts, n_distinct : int
        The texts, and how many of them differ.
    n_clusters : int or None
        The number of clusters; None if it is to be found.
    partition_rows : int or None
        Distinct texts among which clusters are looked for; None if the method looks at all of them.
    memory_mb, disk_mb : float
        Peak memory, and the vectors and features on disk, which go with the process, at most.
    seconds : mapping of str to float
        Expected time of each stage; empty if it was not measured.
    """

    n_texts: int
    n_distinct: int
    n_clusters: int | None
    partition_rows: int | None
    memory_mb: float
    disk_mb: float
    seconds: Mapping[str, float]

    @property
    def is_sampled(self) -> bool:
        """Whether clusters are looked for in a sample."""
        return self.partition_rows is not None and self.partition_rows < self.n_distinct

    def as_json(self) -> dict[str, Any]:
        """Return the plan as plain values."""
        seconds = {stage: round(time, 1) for stage, time in self.seconds.items()}
        return {
            "n_texts": self.n_texts,
            "n_distinct": self.n_distinct,
            "n_clusters": self.n_clusters,
            "partition_rows": self.partition_rows,
            "memory_mb": round(self.memory_mb),
            "disk_mb": round(self.disk_mb),
            "seconds": seconds,
            "total_seconds": round(sum(self.seconds.values()), 1) if seconds else None,
        }

    def sentences(self) -> list[str]:
        """Return the plan in words."""
        said = [f"{self.n_texts} texts, {self.n_distinct} of them distinct."]
        if self.is_sampled:
            said.append(
                f"Clusters are looked for among {self.partition_rows} texts drawn at random; heads trained on them "
                "sort the others."
            )
        if self.seconds:
            stages = ", ".join(f"{stage} {_duration(time)}" for stage, time in self.seconds.items())
            said.append(f"Expected time: {_duration(sum(self.seconds.values()))} ({stages}).")
        disk = f", and {self.disk_mb / 1024:.1f} GB of disk meanwhile" if self.disk_mb else ""
        said.append(f"Expected memory: {self.memory_mb / 1024:.1f} GB at most{disk}.")
        return said


def parse_memory(given: str) -> int:
    """Return a number of bytes.

    Examples
    --------
    >>> parse_memory("4GB") == 4 * 1024**3, parse_memory("800 mb") == 800 * 1024**2
    (True, True)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt])i?b?\s*", given, re.IGNORECASE)
    if not found:
        raise ParameterError(f"--memory {given!r} is not an amount of memory; e.g. --memory 4GB or --memory 800MB.")
    return int(float(found[1]) * _UNITS[found[2].lower()])


def plan_fit(model: TextClusterer, rows: Rows, *, memory: int | None = None, timed: bool = False) -> Plan:
    """Say what a fit will take.

    Parameters
    ----------
    model : TextClusterer
        The method, with its parameters.
    rows : Rows
        The corpus.
    memory : int, optional
        The most memory that it may take, in bytes: clusters are then looked for among fewer rows, if they must.
    timed : bool, default=False
        Whether to fit samples of the corpus, and so to measure how long it will take; some seconds.

    Raises
    ------
    ParameterError
        If the memory is not enough, or the method does not work within a limit.
    """
    n_distinct = len(np.unique(row_keys(rows)))
    wanted = parse_wanted(model.n_clusters)
    n_clusters = wanted.exact or min(UNKNOWN_CLUSTERS, n_distinct)
    most = getattr(model, "partition_rows", None)
    vector = DIMENSION if rows.vectors is None else rows.vectors.shape[1]
    features = vector + (0 if rows.texts is None else getattr(model, "word_dimensions", 0))
    # vectors and features in float32, scores in float64, probabilities in float32
    sizes = [len(rows) * width for width in (4 * vector, 4 * features, 8 * n_clusters, 4 * n_clusters)]
    on_disk = [size for size in sizes if size > IN_MEMORY_BYTES]
    fixed = LIBRARIES_BYTES + len(rows) * TEXT_BYTES + sum(sizes) - sum(on_disk)
    row = ROW_BYTES + ROW_CLUSTER_BYTES * n_clusters
    if memory is not None:
        if most is None:
            raise ParameterError(f"--memory: {type(model).__name__} keeps to no limit; use --method shoal, which does.")
        affordable = int((memory - fixed) / row)
        least = min(LEAST_ROWS, n_distinct)
        if affordable < least:
            raise ParameterError(
                f"--memory: {memory / MB:.0f} MB are too few for {len(rows)} texts; pass at least "
                f"{np.ceil((fixed + least * row) / MB / 100) * 100:.0f}MB, or fewer texts."
            )
        most = min(most, affordable)
    looked_at = n_distinct if most is None else min(most, n_distinct)
    seconds = _expected_seconds(model, rows, looked_at) if timed else {}
    peak = fixed + looked_at * row
    return Plan(len(rows), n_distinct, wanted.exact, most, peak / MB, sum(on_disk) / MB, seconds)


def _expected_seconds(model: TextClusterer, rows: Rows, looked_at: int) -> dict[str, float]:
    """Fit two samples, and return the time that each stage would take with all rows; nothing if the method trains."""
    if model._trains_encoder() or (hasattr(model, "max_steps") and not hasattr(model, "partition_rows")):
        return {}  # its steps do not follow the number of texts, and its bar shows the time left
    order = np.random.RandomState(0).permutation(len(rows))
    sizes = [min(size, len(rows)) for size in PROBES]
    few, many = (_stages(model, rows.take(np.sort(order[:size]))) for size in sizes)
    expected: dict[str, float] = {}
    for stage, seconds in many.items():
        if stage == "represent":
            per_text = max(seconds - few.get(stage, 0), 0) / max(sizes[1] - sizes[0], 1)
            expected["encoding"] = seconds + per_text * (len(rows) - sizes[1])
        elif stage == "n_clusters":
            expected["number of clusters"] = seconds
        else:
            expected["clustering"] = expected.get("clustering", 0) + seconds * (looked_at / sizes[1]) ** GROWTH
    return expected


def _stages(model: TextClusterer, rows: Rows) -> dict[str, float]:
    """Fit a sample; return the seconds of each stage."""
    probe = clone(model)
    most = len(np.unique(row_keys(rows)))
    wanted = parse_wanted(probe.n_clusters)
    if wanted.exact is not None:
        probe.set_params(n_clusters=min(wanted.exact, most))
    if "cache" in probe.get_params():
        probe.set_params(cache=False)  # a cached sample would say nothing of the speed
    given = {} if rows.vectors is None or rows.texts is None else {"vectors": rows.vectors}
    probe.fit(rows.texts if rows.texts is not None else rows.vectors, **given)
    return {row["stage"]: row["seconds"] for row in probe.history_ if "seconds" in row}


def _duration(seconds: float) -> str:
    """Return a time as people say it.

    Examples
    --------
    >>> _duration(0.4), _duration(75), _duration(5000)
    ('1 s', '75 s', '83 min')
    """
    return f"{max(round(seconds), 1)} s" if seconds < 120 else f"{round(seconds / 60)} min"
