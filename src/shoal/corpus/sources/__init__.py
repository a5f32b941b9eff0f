"""Reading a table wherever it is: a file, a data set of many files, an object store, a database."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from shoal.corpus.addresses import DATABASES, located, scheme_of, shown
from shoal.corpus.readers import read_table
from shoal.corpus.sources.local_files import is_data_set, read_local
from shoal.errors import ParameterError

__all__ = ["read_source"]


def read_source(
    source: str | Path | BinaryIO,
    encoding: str | None = None,
    format: str | None = None,
    sheet: str | None = None,
    query: str | None = None,
) -> tuple[pl.DataFrame, dict[str, Any]]:
    r"""Read a table from a file, a stream, a data set, an object store or a database.

    - A file or stream is read by `read_table`.
    - A folder with more tables than texts in files of their own, or a pattern (``tickets/*.parquet``, ``**`` for
      folders of any depth), is one table of many files of one
      format, joined in the order of their names. Their columns must agree. Folders named ``column=value`` are columns
      too. Files and folders whose names begin with ``_`` or ``.``, and files of no bytes, are omitted.
    - ``s3://``, ``gs://``, ``abfs://``, ``memory://``, ``file://``: files, folders and patterns there, through fsspec
      and its client for that store (extras ``s3``, ``gs``, ``azure``), which finds credentials as it always does.
    - ``duckdb:///FILE``, ``sqlite:///FILE``, ``postgresql://USER@HOST/DATABASE``: a table, with ``?table=NAME``, or
      the answer to ``query``, in batches (extras ``duckdb``, ``postgres``). The connection is read-only. No password
      is ever part of a message or a note.

    Parameters
    ----------
    source : str, Path or binary file
        A path, a pattern, an address, ``-`` or an open stream.
    encoding, format, sheet : str, optional
        As for `read_table`.
    query : str, optional
        A select statement, for a database.

    Returns
    -------
    frame : polars.DataFrame
        At least one row.
    notes : dict
        The notes of `read_table`, their counts added up; ``parts``, the files of a data set.

    Raises
    ------
    DataError
        If it cannot be read as a table with rows.
    MissingExtraError
        If the client of a store or a database is not installed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for year in ("2023", "2024"):
    ...         (Path(folder) / f"year={year}").mkdir()
    ...         _ = (Path(folder) / f"year={year}" / "part.csv").write_text(f"text\nseen in {year}\n")
    ...     read_source(folder)[0].rows()
    [('seen in 2023', 2023), ('seen in 2024', 2024)]
    """
    scheme = scheme_of(source)
    if query is not None and scheme not in DATABASES:
        raise ParameterError(
            f"--query needs a database, and {shown(str(source))} is none; pass e.g. duckdb:///:memory: and name files "
            "in the query: select * from 'tickets/*.parquet'."
        )
    if isinstance(source, str):
        source = located(source)
    read = functools.partial(read_table, encoding=encoding, format=format, sheet=sheet)
    if scheme in DATABASES:
        from shoal.corpus.sources.databases import read_database

        return read_database(str(source), query)
    if scheme not in (None, "file"):
        from shoal.corpus.sources.stores import read_stored

        return read_stored(str(source), read, format)
    if isinstance(source, (str, Path)) and str(source) != "-" and is_data_set(source, format):
        return read_local(str(source), read, format)
    return read(source)
