"""Databases: tables and queries through the real clients, read-only, in batches, and no password anywhere."""

from __future__ import annotations

import datetime
import sqlite3
import sys
from decimal import Decimal
from urllib.parse import quote

import polars as pl
import pytest

from postgres_server import NO_SERVER, PASSWORD, postgres_server, programs
from shoal.corpus import Corpus, read_source
from shoal.corpus.sources import databases
from shoal.errors import DataError, MissingExtraError, ParameterError

ROWS = [(i, f"ticket number {i}" if i % 7 else None) for i in range(100)]


@pytest.fixture
def duck(tmp_path, monkeypatch):
    """Return the name of a DuckDB file in the current folder."""
    import duckdb  # not before the tests begin: what it holds would be frozen, and reported as lost at the end

    monkeypatch.chdir(tmp_path)
    with duckdb.connect("shop.db") as connection:
        connection.execute('create table "open tickets" (id integer, body varchar)')
        connection.executemany('insert into "open tickets" values (?, ?)', ROWS)
    return "shop.db"


@pytest.fixture
def lite(tmp_path, monkeypatch):
    """Return the name of a SQLite file in the current folder."""
    monkeypatch.chdir(tmp_path)
    with sqlite3.connect("shop.sqlite") as connection:
        connection.execute("create table tickets (id integer, body text)")
        connection.executemany("insert into tickets values (?, ?)", ROWS)
    connection.close()
    return "shop.sqlite"


class TestEmbedded:
    def test_a_table_of_duckdb(self, duck, tmp_path):
        for address in (
            f"duckdb:///{duck}?table=open%20tickets",
            f"duckdb:///{tmp_path}/{duck}?table=main.open tickets",
        ):
            assert read_source(address)[0].rows() == ROWS

    def test_a_query(self, duck):
        query = """select body as text, id % 3 as rest from "open tickets" where body like '%1%' order by id desc;"""
        corpus = Corpus.read(f"duckdb:///{duck}", query=query, text="text")
        expected = [body or "" for _, body in reversed(ROWS) if body and "1" in body]
        assert corpus.texts == expected
        assert corpus.frame.schema["rest"].is_integer()

    def test_duckdb_queries_files_without_a_database(self, tmp_path):
        pl.DataFrame({"text": ["a", "b"]}).write_parquet(tmp_path / "x.parquet")
        query = f"select text from '{tmp_path}/*.parquet' where text > 'a'"
        assert read_source("duckdb:///:memory:", query=query)[0].rows() == [("b",)]

    def test_a_table_of_sqlite(self, lite):
        assert read_source(f"sqlite:///{lite}?table=tickets")[0].rows() == ROWS

    def test_batches_are_stacked_whatever_their_types(self, lite, monkeypatch):
        monkeypatch.setattr(databases, "BATCH", 2)
        query = """with t(n, m, x) as (values (null, null, 1), (null, null, 2), (1, null, 'a'), (2.5, null, 3))
            select * from t"""
        frame, _ = read_source(f"sqlite:///{lite}", query=query)
        assert frame["n"].to_list() == [None, None, 1.0, 2.5]
        assert frame["x"].to_list() == ["1", "2", "a", "3"]
        assert frame.schema["m"] == pl.String
        assert len(list(databases.batches(f"sqlite:///{lite}", query))) == 2

    def test_names_that_are_there_twice_are_numbered(self, lite):
        assert read_source(f"sqlite:///{lite}", query="select 1 as a, 2 as a")[0].columns == ["a", "a_2"]

    def test_broken_characters_are_replaced(self, lite):
        assert read_source(f"sqlite:///{lite}", query="select cast(x'61ff62' as text) as t")[0].rows() == [("a�b",)]

    @pytest.mark.parametrize("statement", ['drop table "open tickets"', "create table x (a integer)"])
    def test_duckdb_is_opened_read_only(self, duck, statement):
        with pytest.raises(DataError, match="read-only"):
            read_source(f"duckdb:///{duck}", query=statement)

    def test_so_is_sqlite(self, lite):
        with pytest.raises(DataError, match="readonly database"):
            read_source(f"sqlite:///{lite}", query="delete from tickets")
        assert len(read_source(f"sqlite:///{lite}?table=tickets")[0]) == 100

    @pytest.mark.parametrize("scheme", ["duckdb", "sqlite"])
    def test_a_missing_file_is_not_created(self, tmp_path, monkeypatch, scheme):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(DataError, match=r"no such file: none\.db"):
            read_source(f"{scheme}:///none.db?table=t")
        assert not list(tmp_path.iterdir())

    def test_an_absolute_path_has_four_slashes(self, duck, tmp_path):
        with pytest.raises(DataError, match=f"four slashes, duckdb:///{tmp_path}/{duck}"):
            read_source(f"duckdb://{tmp_path}/{duck}?table=open tickets")

    def test_errors_name_what_is_wrong(self, duck):
        with pytest.raises(DataError, match=r"duckdb:///shop\.db\?table=none cannot be read .*none does not exist"):
            read_source("duckdb:///shop.db?table=none")
        with pytest.raises(DataError, match="has no rows"):
            read_source("duckdb:///shop.db", query='select * from "open tickets" where id < 0')
        for address, query in (("duckdb:///shop.db", None), ("duckdb:///shop.db?table=t", "select 1")):
            with pytest.raises(ParameterError, match="needs a table or a query, not both"):
                read_source(address, query=query)

    def test_a_table_name_is_a_name_and_no_statement(self, lite):
        with pytest.raises(DataError, match="no such table"):
            read_source(f'sqlite:///{lite}?table=tickets"; drop table tickets; --')
        assert len(read_source(f"sqlite:///{lite}?table=tickets")[0]) == 100

    @pytest.mark.parametrize(
        ("scheme", "package", "extra"), [("duckdb", "duckdb", "duckdb"), ("postgresql", "psycopg", "postgres")]
    )
    def test_a_missing_client_is_an_extra(self, monkeypatch, scheme, package, extra):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(MissingExtraError, match=rf"shoal\[{extra}\]"):
            read_source(f"{scheme}:///?table=t")


@pytest.fixture(scope="module")
def server():
    """Return a PostgreSQL server with a table of tickets."""
    import psycopg

    if programs() is None:
        pytest.skip(NO_SERVER)
    with postgres_server() as made:
        with psycopg.connect(address(made)) as connection:
            connection.execute(
                "create table tickets (id bigint, body text, opened timestamp, price numeric(8, 2), tags text[], "
                "facts jsonb, token uuid)"
            )
            connection.execute(
                "insert into tickets select i, case when i % 7 > 0 then 'ticket number ' || i end, "
                "timestamp '2024-05-01' + i * interval '1 hour', i / 4.0, array['a', 'b'], '{\"a\": 1}', "
                "gen_random_uuid() from generate_series(0, 99) i"
            )
        yield made


def address(server, more="", password=PASSWORD):
    return f"postgresql://ann:{quote(password, safe='')}@127.0.0.1:{server.port}/postgres{more}"


@pytest.mark.slow
class TestPostgres:
    def test_a_table(self, server):
        frame, _ = read_source(address(server, "?table=public.tickets&connect_timeout=10"))
        assert frame.select("id", "body").rows() == ROWS
        assert frame["opened"][1] == datetime.datetime(2024, 5, 1, 1)
        assert frame["price"][3] == Decimal("0.75")
        assert frame["tags"][0] == '["a", "b"]'
        assert frame["facts"][0] == '{"a": 1}'

    def test_a_query_in_batches(self, server, monkeypatch):
        monkeypatch.setattr(databases, "BATCH", 30)
        query = "select id, body from tickets where body is null or body like '%number%' order by id;"
        assert [len(batch) for batch in databases.batches(address(server), query)] == [30, 30, 30, 10]
        assert read_source(address(server), query=query)[0].rows() == ROWS

    def test_the_rows_wait_on_the_server(self, server):
        assert read_source(address(server), query="select name from pg_cursors")[0].rows() == [("shoal",)]

    def test_it_is_read_only(self, server):
        for statement in ("delete from tickets", "select 1; delete from tickets"):
            with pytest.raises(DataError):
                read_source(address(server), query=statement)
        assert len(read_source(address(server, "?table=tickets"))[0]) == 100

    @pytest.mark.parametrize(
        "wrong",
        [
            "postgresql://ann:{}@127.0.0.1:{port}/postgres?table=none",
            "postgresql://ann:{}@127.0.0.1:{port}/none?table=tickets",
            "postgresql://bob:{}@127.0.0.1:{port}/postgres?table=tickets",
            "postgresql://ann:{}@127.0.0.1:1/postgres?table=tickets",
            "postgresql://ann:{}@127.0.0.1:port/postgres?table=tickets",
            "postgresql://ann:{}@127.0.0.1:{port}/postgres?table=tickets&unknown={}",
            "postgresql://127.0.0.1:{port}/postgres?user=ann&password={}&table=none",
            "postgresql://ann:a/{}@127.0.0.1:{port}/postgres?table=tickets",
            "postgresql://ann:%{}@127.0.0.1:{port}/postgres?table=tickets",
        ],
    )
    def test_no_error_tells_the_password(self, server, wrong):
        password = "open-sesame"
        with pytest.raises(DataError) as refusal:
            read_source(wrong.format(password, password, port=server.port))
        assert password not in str(refusal.value)
        assert refusal.value.__cause__ is None
        assert "postgresql://" in str(refusal.value)
