"""What a report shows, read from a run folder and from nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.clustering import NO_CLUSTER, Cluster, Clustering
from shoal.corpus import RESERVED, require_column, strings_of, texts_of
from shoal.errors import DataError, RunFolderError
from shoal.report.places import Places
from shoal.run_folder import RunFolder
from shoal.vectors import Vectors

_DATE_FORMATS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%Y-%m", "%Y%m%d", "%Y")
# A column of which fewer cells can be read is not a column of dates.
_DATES_READ = 0.5


@dataclass(frozen=True)
class Stage:
    """The texts at one point of the training.

    Attributes
    ----------
    name : str
        Which point.
    vectors : ndarray of shape (n, d)
        The texts that are not empty.
    labels : ndarray of int64, shape (n,)
        Their clusters.
    """

    name: str
    vectors: Vectors
    labels: NDArray[np.int64]


@dataclass(frozen=True)
class Contents:
    """What a report shows of a run; every sequence has one item per row.

    Attributes
    ----------
    info : mapping
        ``run.json``.
    clusters : tuple of Cluster
        The clusters, by number.
    texts : list of str
        The texts; "" for a row without text.
    labels, second : ndarray of int64, shape (n,)
        The cluster and the second choice; -1 for none.
    confidence : ndarray of float64, shape (n,)
        The confidence in the cluster; 0 for a row without text.
    places : ndarray of shape (n, 2)
        Places on the map; NaN for rows that are not on it.
    classes : list of str or None, optional
        The known classes.
    dates : Series of dates, optional
        The date of each row.
    groups : mapping of str to list
        Other columns, by name.
    history : list of dict
        The records of the fit.
    stages : tuple of Stage
        Snapshots of the training.
    hierarchy : mapping, optional
        ``hierarchy.json``.
    """

    info: Mapping[str, Any]
    clusters: tuple[Cluster, ...]
    texts: list[str]
    labels: NDArray[np.int64]
    second: NDArray[np.int64]
    confidence: NDArray[np.float64]
    places: Places
    classes: list[str | None] | None = None
    dates: pl.Series | None = None
    groups: Mapping[str, list[str | None]] = field(default_factory=dict)
    history: Sequence[Mapping[str, Any]] = ()
    stages: tuple[Stage, ...] = ()
    hierarchy: Mapping[str, Any] | None = None

    @classmethod
    def of(
        cls, clustering: Clustering, texts: list[str], places: Places, info: Mapping[str, Any], **more: Any
    ) -> Contents:
        """Return the contents of a clustering in memory."""
        columns = _assigned(clustering.frame())
        return cls(info=info, clusters=clustering.clusters, texts=texts, places=places, **columns, **more)

    @classmethod
    def read(cls, folder: RunFolder, *, date: str | None = None, group_by: Sequence[str] | None = None) -> Contents:
        """Read a run.

        Parameters
        ----------
        folder : RunFolder
            The run.
        date : str, optional
            The column with dates; by default the one the run was fitted with.
        group_by : sequence of str, optional
            Columns to compare groups by; by default those the run was fitted with.

        Raises
        ------
        RunFolderError
            If a file of the run cannot be read.
        DataError
            If a column is missing, or has no dates.
        """
        info = folder.read_info()
        data = info["data"]
        try:
            table = pl.read_parquet(folder.assignments)
            clusters = tuple(Cluster.from_json(each) for each in _json_of(folder.clusters))
            lines = folder.history.read_text(encoding="utf-8").splitlines()
            history = [json.loads(line) for line in lines if line]
            hierarchy = _json_of(folder.hierarchy) if folder.hierarchy.is_file() else None
        except (OSError, ValueError, LookupError, TypeError, pl.exceptions.PolarsError) as reason:
            raise RunFolderError(f"{folder.path} cannot be read ({reason}); fit again.") from reason
        label = data.get("label_column")
        date, group_by = date or data.get("date_column"), group_by or data.get("group_columns") or ()
        return cls(
            info=info,
            clusters=clusters,
            texts=texts_of(table, column_in_run(data["text_column"])).fill_null("").to_list(),
            places=read_places(folder, len(table)),
            classes=None if label is None else _cells(table, label),
            dates=None if date is None else dates_of(table[require_column(table, column_in_run(date))]),
            groups={name: _cells(table, name) for name in group_by},
            history=history,
            stages=tuple(_read_stage(file) for file in sorted(folder.stages.glob("*.npz"), key=_modified)),
            hierarchy=hierarchy,
            **_assigned(table),
        )

    def on_map(self) -> NDArray[np.int64]:
        """Return the rows that have a place and a cluster."""
        return np.flatnonzero(np.isfinite(self.places[:, 0]) & (self.labels != NO_CLUSTER))

    def with_places(self, places: Places) -> Contents:
        """Return the same with other places."""
        return replace(self, places=places)


def read_places(folder: RunFolder, n_rows: int) -> Places:
    """Read the places of a run's rows; all NaN if it has none."""
    places = np.full((n_rows, 2), np.nan)
    if folder.map.is_file():
        table = pl.read_parquet(folder.map)
        places[table["row"].to_numpy()] = table.select("x", "y").to_numpy()
    return places


def write_places(folder: RunFolder, places: Places) -> None:
    """Keep the places of a run as columns ``row``, ``x`` and ``y``; rows without a place are omitted."""
    rows = np.flatnonzero(np.isfinite(places[:, 0]))
    pl.DataFrame({"row": rows, "x": places[rows, 0], "y": places[rows, 1]}).write_parquet(folder.map)


def dates_of(column: pl.Series) -> pl.Series:
    """Read a column as dates; null where a cell is none.

    Examples
    --------
    >>> dates_of(pl.Series("day", ["2024-05-01", "2024-05-02 10:00", "?"])).to_list()
    [datetime.date(2024, 5, 1), datetime.date(2024, 5, 2), None]
    """
    if column.dtype in (pl.Date, pl.Datetime):
        return column.cast(pl.Date)
    cells = strings_of(column).str.strip_chars()
    iso = cells.str.extract(r"^(\d{4}-\d{2}-\d{2})(?:[T ]|$)").str.to_date("%Y-%m-%d", strict=False)
    found = max([iso, *(_parsed(cells, format) for format in _DATE_FORMATS)], key=lambda read: read.is_not_null().sum())
    n_cells, n_read = int((cells.fill_null("") != "").sum()), int(found.is_not_null().sum())
    if n_read < max(1.0, _DATES_READ * n_cells):
        raise DataError(
            f"column {column.name!r} has dates in {n_read} of {n_cells} cells; pass a --date column of dates such as "
            "2024-05-31 or 31.05.2024."
        )
    return found


def _parsed(cells: pl.Series, format: str) -> pl.Series:
    """Read dates of one format; a year or month alone counts from its first day."""
    whole = {"%Y": ("-01-01", "%Y-%m-%d"), "%Y-%m": ("-01", "%Y-%m-%d")}
    suffix, full = whole.get(format, ("", format))
    return (cells + suffix).str.to_date(full, strict=False)


def _assigned(table: pl.DataFrame) -> dict[str, Any]:
    """Return the columns that a clustering adds, as arrays."""
    return {
        "labels": table["cluster"].fill_null(NO_CLUSTER).to_numpy().astype(np.int64),
        "second": table["second_cluster"].fill_null(NO_CLUSTER).to_numpy().astype(np.int64),
        "confidence": table["confidence"].cast(pl.Float64).fill_null(0.0).to_numpy(),
    }


def _cells(table: pl.DataFrame, name: str) -> list[str | None]:
    """Return a column as strings, None for empty cells."""
    cells = strings_of(table[require_column(table, column_in_run(name))]).to_list()
    return [cell.strip() or None if cell else None for cell in cells]


def column_in_run(name: str) -> str:
    """Return what a column of the input, or several with commas, is called in the run, which needs some names itself.

    Examples
    --------
    >>> column_in_run("title"), column_in_run("title,cluster")
    ('title', 'title,input_cluster')
    """
    return ",".join(f"input_{each.strip()}" if each.strip() in RESERVED else each for each in name.split(","))


def _json_of(file: Path) -> Any:
    """Read a JSON file."""
    return json.loads(file.read_text(encoding="utf-8"))


def _read_stage(file: Path) -> Stage:
    """Read one snapshot of the training."""
    with np.load(file, allow_pickle=False) as arrays:
        return Stage(file.stem.replace("-", " "), arrays["vectors"], arrays["labels"])


def _modified(file: Path) -> tuple[int, str]:
    """Order files by when they were written."""
    return file.stat().st_mtime_ns, file.name
