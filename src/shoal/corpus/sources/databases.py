"""Databases by connection string: DuckDB and SQLite in a file, PostgreSQL on a server; read in batches, read-only."""

from __future__ import annotations

import contextlib
import functools
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import polars as pl

from shoal.corpus.addresses import EMBEDDED, HIDDEN, scheme_of, shown, split_options, without_secrets
from shoal.corpus.columns import frame_of_columns, strings_of, unique_names
from shoal.corpus.readers import first_line
from shoal.corpus.sources.data_sets import common_type
from shoal.errors import DataError, MissingExtraError, ParameterError
from shoal.progress import progress

BATCH = 50_000  # rows that are fetched at once
_MEMORY = ":memory:"
_SECRET_OPTIONS = ("password", "sslpassword", "passfile", "sslkey")


@dataclass(frozen=True)
class Database:
    """A connection string, taken apart."""

    scheme: str
    address: str  # what the client is given: a path, or a connection string without the table
    table: str | None
    secrets: tuple[str, ...] = ()

    @classmethod
    def of(cls, address: str) -> Database:
        """Take a connection string apart; refuse one whose password cannot be told from the rest."""
        scheme = scheme_of(address) or ""
        place, options = split_options(address[len(scheme) + len("://") :])
        table = options.pop("table", None)
        if scheme in EMBEDDED:
            return cls(scheme, unquote(place.removeprefix("/")), table)
        if shown(address).endswith(HIDDEN):
            raise DataError(
                f"the address {shown(address)} cannot be taken apart; in a password write @ / ? # : as %40 %2F %3F %23 "
                "%3A, or keep it in PGPASSWORD or ~/.pgpass."
            )
        password = place.rpartition("@")[0].partition(":")[2]
        secrets = (password, unquote(password), *(options.get(name, "") for name in _SECRET_OPTIONS))
        others = "&".join(f"{name}={quote(value, safe='')}" for name, value in options.items())
        return cls("postgresql", f"postgresql://{place}?{others}", table, tuple(filter(None, secrets)))

    def without_secrets(self, message: str) -> str:
        """Return a message of the client without the address and its secrets."""
        for secret in (self.address, *self.secrets):
            message = message.replace(secret, "***")
        return without_secrets(message)

    def statement(self, query: str | None) -> str:
        """Return the query, or one for the whole table."""
        if (query is None) == (self.table is None):
            raise ParameterError(
                f"a {self.scheme} database needs a table or a query, not both; pass ?table=NAME in the address, or "
                "--query 'select …' (query='select …')."
            )
        if query is not None:
            return query.strip().rstrip(";").strip()
        return "select * from " + ".".join('"' + part.replace('"', '""') + '"' for part in str(self.table).split("."))


def read_database(address: str, query: str | None = None) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Read a table, or the answer to a query.

    Raises
    ------
    DataError
        If the database cannot be reached, or refuses, or answers without rows.
    ParameterError
        If there is no query and no table, or both.
    MissingExtraError
        If the client is not installed.
    """
    frames = []
    with progress("Reading", None, "rows") as bar:
        for frame in batches(address, query):
            frames.append(frame)
            bar.advance(len(frame))
    if not frames:
        raise DataError(f"{shown(address)} has no rows; name another table, or widen the query.")
    return _stacked(frames), {}


def batches(address: str, query: str | None = None) -> Iterator[pl.DataFrame]:
    """Yield the rows of a table, or of the answer to a query, some at a time; see `read_database`."""
    database = Database.of(address)
    statement = database.statement(query)
    try:
        with _CLIENTS[database.scheme](database) as cursor:
            cursor.execute(statement)
            if cursor.description is None:
                raise DataError("the statement returns no table; pass a select.")
            names = unique_names(column[0] for column in cursor.description)
            while rows := cursor.fetchmany(BATCH):
                yield frame_of_columns(names, zip(*rows, strict=True))[0]
    except MissingExtraError:
        raise
    except DataError as error:
        raise DataError(f"{shown(address)}: {error}") from None
    except Exception as error:  # each client has errors of its own; the cause is cut off, for it may hold the password
        reason = database.without_secrets(first_line(error))
        raise DataError(
            f"{shown(address)} cannot be read ({type(error).__name__}: {reason}); "
            "check the address, the table and the query."
        ) from None


@contextlib.contextmanager
def _duckdb(database: Database) -> Iterator[Any]:
    """Open a DuckDB file, or none: the query may then name files of any kind that DuckDB reads."""
    try:
        import duckdb
    except ImportError as error:
        raise MissingExtraError("duckdb://", "duckdb") from error
    if database.address in ("", _MEMORY):
        connection = duckdb.connect(_MEMORY)
    else:
        connection = duckdb.connect(_existing(database), read_only=True)
    with contextlib.closing(connection):
        yield connection.cursor()


@contextlib.contextmanager
def _sqlite(database: Database) -> Iterator[Any]:
    """Open a SQLite file; broken characters are replaced, as in any other file."""
    connection = sqlite3.connect(f"file:{quote(_existing(database))}?mode=ro", uri=True)
    connection.text_factory = functools.partial(str, encoding="utf-8", errors="replace")
    with contextlib.closing(connection):
        yield connection.cursor()


@contextlib.contextmanager
def _postgresql(database: Database) -> Iterator[Any]:
    """Connect to a server; a cursor that lives there sends the rows as they are fetched."""
    try:
        import psycopg
    except ImportError as error:
        raise MissingExtraError("postgresql://", "postgres") from error
    with psycopg.connect(database.address) as connection:
        connection.read_only = True
        with connection.cursor(name="shoal") as cursor:
            yield cursor


_CLIENTS: dict[str, Callable[[Database], contextlib.AbstractContextManager[Any]]] = {
    "duckdb": _duckdb,
    "sqlite": _sqlite,
    "postgresql": _postgresql,
}


def _existing(database: Database) -> str:
    """Return the file of an embedded database, which a client would create if it did not exist."""
    path = Path(database.address).expanduser()
    if path.is_file():
        return str(path)
    absolute = Path("/") / path
    hint = f"an absolute path has four slashes, {database.scheme}:///{absolute}" if absolute.is_file() else "check it"
    raise DataError(f"no such file: {path} (looked in {Path.cwd()}); {hint}.")


def _stacked(frames: list[pl.DataFrame]) -> pl.DataFrame:
    """Put batches together; where their types do not go together, as strings."""
    return pl.DataFrame([_column([frame[name] for frame in frames]) for name in frames[0].columns])


def _column(parts: list[pl.Series]) -> pl.Series:
    """Put the pieces of a column together."""
    types = [pl.Null() if part.null_count() == len(part) else part.dtype for part in parts]
    common: pl.DataType | None = types[0]
    for each in types[1:]:
        common = None if common is None else common_type(common, each)
    if common is None:
        return pl.concat([strings_of(part) for part in parts])
    return pl.concat([part.cast(pl.String() if common == pl.Null else common) for part in parts])
