"""Every example of docs/storage.md runs as it is written, against real servers on this machine."""

from __future__ import annotations

import re
import shlex
import sqlite3
from pathlib import Path

import polars as pl
import pytest

from cli_tickets import FAST, made_table
from command_line import caller
from postgres_server import NO_SERVER, PASSWORD, postgres_server, programs
from s3_server import s3_server
from shoal.corpus import read_source, write_target

PAGE = (Path(__file__).parents[1] / "docs" / "storage.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL) for line in block.splitlines()]
SHOAL = [line for line in COMMANDS if line.startswith("shoal ")]
TABLE = made_table(60).with_columns(id=pl.int_range(60), year=2023 + pl.int_range(60) % 2)


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    """Work in a folder that has what the page names."""
    import duckdb

    monkeypatch.chdir(tmp_path)
    TABLE.write_parquet("tickets", partition_by="year")
    with duckdb.connect("shop.db") as connection:
        connection.execute("create table tickets as select * from 'tickets/**/*.parquet'")
    with sqlite3.connect("shop.sqlite") as connection:
        connection.execute("create table tickets (ticket, body)")
        connection.executemany("insert into tickets values (?, ?)", TABLE.select("ticket", "body").rows())
    connection.close()
    return tmp_path


@pytest.fixture
def shoal(capsys, monkeypatch):
    from shoal.cli import main

    run = caller("shoal", main, capsys, monkeypatch)

    def quickly(line: str) -> None:
        _, command, *arguments = shlex.split(line)
        fast = [*FAST, "--clusters", "3", "--no-report"] if command == "fit" else []
        answer = run(command, *arguments, *fast)
        assert answer.code == 0, f"{line}: {answer.err}"

    return quickly


def test_the_page_has_examples_of_everything():
    assert len(SHOAL) >= 12
    assert all(
        any(scheme in line for line in SHOAL) for scheme in ("s3://", "duckdb:///", "sqlite:///", "postgresql://")
    )


@pytest.mark.slow
def test_files_and_databases_in_files(in_folder, shoal):
    for line in SHOAL:
        if "s3://" not in line and "db.example" not in line and "runs/postgres" not in line:
            shoal(line)
    assert len(read_source("sorted/")[0]) == 30
    assert len(read_source("sorted.csv")[0]) == 60


@pytest.mark.slow
def test_object_stores(in_folder, shoal):
    with s3_server():
        for year in (2023, 2024):
            part = TABLE.filter(year=year).drop("year")
            write_target(part, f"s3://shop/tickets/year={year}/part.parquet")
        for line in SHOAL:
            if "s3://" in line:
                shoal(line)
        assert read_source("s3://shop/sorted/")[0]["year"].to_list() == [2023] * 30 + [2024] * 30
        assert len(read_source("s3://shop/sorted.csv.gz")[0]) == 60


@pytest.mark.slow
def test_a_database_on_a_server(in_folder, shoal, monkeypatch):
    if programs() is None:
        pytest.skip(NO_SERVER)
    import psycopg

    with postgres_server() as server:
        monkeypatch.setenv("PGPASSWORD", PASSWORD)
        place = f"ann@127.0.0.1:{server.port}"
        with psycopg.connect(f"postgresql://{place}/postgres", autocommit=True) as connection:
            connection.execute("create database shop")
        with psycopg.connect(f"postgresql://{place}/shop") as connection, connection.cursor() as cursor:
            cursor.execute("create table tickets (id int, body text)")
            cursor.executemany("insert into tickets values (%s, %s)", TABLE.select("id", "body").rows())
        for line in SHOAL:
            if "db.example" in line:
                shoal(line.replace("ann@db.example", place))
    assert read_source("sorted.parquet")[0]["id"].to_list() == list(range(60))


def test_in_python(in_folder):
    example, _ = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    exec(compile(example, "storage.md", "exec"), {})


def test_the_program_that_measures(in_folder, monkeypatch, capsys):
    _, program = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    few = compile(program.replace("1_000_000", "1_000").replace("tickets", "many"), "costs.py", "exec")
    for source in ("make", "many/", "many-by-year/", "many.parquet", "duckdb:///many.db?table=many"):
        monkeypatch.setattr("sys.argv", ["costs.py", source])
        exec(few, {})
    assert capsys.readouterr().out.count("1000 rows") == 4
