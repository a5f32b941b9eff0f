"""Commands on data sets, object stores and databases; what they write never holds a password."""

from __future__ import annotations

import contextlib
import json
import signal
import sqlite3
from urllib.parse import quote

import fsspec
import polars as pl
import pytest

from cli_tickets import FAST, assignments, in_python, made_table
from postgres_server import NO_SERVER, PASSWORD, postgres_server, programs
from shoal.corpus import read_source

QUOTED = quote(PASSWORD, safe="")


@pytest.fixture
def parts(tmp_path):
    """Return a folder with a data set of 30 rows in two partitions."""
    folder = tmp_path / "tickets"
    for number, half in enumerate((made_table()[:15], made_table()[15:])):
        (folder / f"half={number}").mkdir(parents=True)
        half.write_parquet(folder / f"half={number}" / "part.parquet")
    return folder


@pytest.fixture
def database(tmp_path, monkeypatch):
    """Return the name of a SQLite file with the same rows, in the current folder."""
    monkeypatch.chdir(tmp_path)
    table = made_table()
    with sqlite3.connect("shop.db") as connection:
        connection.execute(f"create table tickets ({', '.join(table.columns)})")
        connection.executemany(f"insert into tickets values ({', '.join('?' * table.width)})", table.rows())
    connection.close()
    return "shop.db"


def test_a_data_set_in_and_a_data_set_out(shoal, fit, parts, tickets, tmp_path):
    _, expected = fit(tickets, "--text", "body", "--clusters", 3, out="whole")
    answer, run = fit(f"{parts}/*/*.parquet", "--text", "body", "--clusters", 3)
    assert assignments(run).drop("half").equals(assignments(expected))
    assert assignments(run)["half"].to_list() == [0] * 15 + [1] * 15
    assert answer["n_texts"] == 30
    sorted_ = shoal("predict", run, parts, "--out", f"{tmp_path}/sorted/")
    assert sorted_.code == 0, sorted_.err
    assert read_source(tmp_path / "sorted")[0].equals(assignments(run))
    again = shoal("predict", run, parts, "--out", f"{tmp_path}/sorted/")
    assert again.code == 3
    assert "--overwrite" in again.err
    assert shoal("predict", run, parts, "--out", f"{tmp_path}/sorted/", "--overwrite").code == 0


def test_the_run_is_named_for_the_folder(shoal, parts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert shoal("fit", "tickets/half=*/*.parquet", *FAST, "--text", "body", "--clusters", 3).code == 0
    assert (tmp_path / "runs" / "tickets-tfidf-kmeans-1").is_dir()


def test_from_a_store_to_a_store(shoal, fit, parts, tickets):
    store = fsspec.filesystem("memory")
    store.put(str(parts), "/shop/tickets", recursive=True)
    _, run = fit("memory://shop/tickets", "--text", "body", "--clusters", 3)
    answer = shoal("predict", run, "memory://shop/tickets/*/*.parquet", "--out", "memory://shop/sorted.csv", "--json")
    assert answer.json["out"] == "memory://shop/sorted.csv"
    assert read_source("memory://shop/sorted.csv")[0]["cluster"].cast(pl.Int64).equals(assignments(run)["cluster"])
    assert shoal("predict", run, tickets, "--out", "memory://shop/sorted.csv").code == 3
    store.rm("/shop", recursive=True)


def test_queries(shoal, fit, database, tmp_path):
    query = "select ticket, body from tickets where topic <> 'music' order by ticket"
    answer, run = fit(f"sqlite:///{database}", "--query", query, "--text", "body", "--clusters", 2)
    assert answer["n_texts"] == 20
    assert json.loads((run / "run.json").read_text())["request"]["query"] == query
    for more in (
        [f"sqlite:///{database}?table=tickets"],
        [f"sqlite:///{database}", "--query", "select * from tickets"],
    ):
        assert shoal("predict", run, *more, "--json").json["n_texts"] == 30
    config = tmp_path / "fit.toml"
    config.write_text(f'query = "{query}"\ntext = "body"\nclusters = 2\n')
    again, _ = fit(f"sqlite:///{database}", "--config", config, out="again")
    assert again["n_texts"] == 20


def test_a_run_is_a_folder_of_this_machine(shoal, tickets, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    answer = shoal("fit", tickets, *FAST, "--clusters", 3, "--text", "body", "--out", "s3://shop/run")
    assert answer.code == 7
    assert "copy the finished run" in answer.err
    assert sorted(tmp_path.iterdir()) == before
    assert shoal("predict", "s3://shop/run", tickets).code == 7


@pytest.fixture
def server(monkeypatch, tmp_path):
    """Return the address of a database with the same rows, with its password, and a function that stops the server."""
    if programs() is None:
        pytest.skip(NO_SERVER)
    import psycopg

    monkeypatch.chdir(tmp_path)
    with contextlib.ExitStack() as stack:
        place = f"ann:{QUOTED}@127.0.0.1:{stack.enter_context(postgres_server()).port}/postgres"
        with psycopg.connect(f"postgresql://{place}") as connection, connection.cursor() as cursor:
            cursor.execute("create table tickets (ticket text, body text, topic text, day text)")
            cursor.executemany("insert into tickets values (%s, %s, %s, %s)", made_table().rows())
        yield f"postgresql://{place}", stack.close


def holds_no_password(folder, *answers):
    """Check all files of a folder, and what was said."""
    written = [file.read_bytes() for file in folder.rglob("*") if file.is_file()]
    assert written
    for secret in (PASSWORD, QUOTED, "hunter2"):
        assert not any(secret in answer.out + answer.err for answer in answers)
        assert not any(secret.encode() in content for content in written)
    return True


@pytest.mark.slow
def test_no_password_is_written_or_said(shoal, server, tmp_path):
    address, _ = server
    source = f"{address}?table=tickets"
    fitted = shoal("fit", source, *FAST, "--text", "body", "--clusters", 3)
    assert fitted.code == 0, fitted.err
    run = tmp_path / "runs" / "tickets-tfidf-kmeans-1"
    said = [fitted, shoal("predict", run, source, "--json"), shoal("fit", source, *FAST, "--text", "nobody")]
    said += [shoal("predict", run, source.replace("tickets", "none"))]
    said += [shoal("fit", address, "--query", "select nothing from nowhere")]
    assert [answer.code for answer in said] == [0, 0, 3, 3, 3]
    assert said[1].json["n_texts"] == 30
    assert holds_no_password(tmp_path, *said)
    recorded = json.loads((run / "run.json").read_text())["data"]["source"]
    assert recorded == source.replace(f":{QUOTED}@", "@")


@pytest.mark.slow
def test_killed_and_resumed_without_the_server_and_its_password(shoal, fit, server, tmp_path):
    address, stop = server
    arguments = ["--text", "body", *FAST, "--clusters", "3", "--out", "run"]
    program = f"""
import os, signal, sys
from shoal.cli import main
from shoal.methods.two_stage import TwoStage
TwoStage._fit = lambda self, context: os.kill(os.getpid(), signal.SIGKILL)
sys.argv = ["shoal", "fit", {address + "?table=tickets"!r}, *{arguments!r}]
main()
"""
    assert in_python(program, cwd=tmp_path).returncode == -signal.SIGKILL
    assert (tmp_path / "run.partial" / "request.json").is_file()
    assert holds_no_password(tmp_path)
    stop()
    resumed = shoal("fit", "--resume", "run")
    assert resumed.code == 0, resumed.err
    made_table().write_csv("tickets.csv")
    _, expected = fit("tickets.csv", *arguments[:2], "--clusters", 3, out="expected")
    assert assignments(tmp_path / "run").equals(assignments(expected))
    assert holds_no_password(tmp_path / "run", resumed)
