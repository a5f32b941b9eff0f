"""Commands on data sets, object stores and databases; what they write never holds a password."""

from __future__ import annotations

import json
import sqlite3

import fsspec
import polars as pl
import pytest

from cli_tickets import FAST, assignments, made_table
from postgres_server import NO_SERVER, PASSWORD, postgres_server, programs
from shoal.corpus import read_source


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


@pytest.mark.slow
def test_no_password_is_written_or_said(shoal, tmp_path, monkeypatch):
    if programs() is None:
        pytest.skip(NO_SERVER)
    import psycopg

    monkeypatch.chdir(tmp_path)
    quoted = PASSWORD.replace(" ", "%20").replace("&", "%26")
    with postgres_server() as server:
        place = f"ann:{quoted}@127.0.0.1:{server.port}/postgres"
        with psycopg.connect(f"postgresql://{place}") as connection, connection.cursor() as cursor:
            cursor.execute("create table tickets (ticket text, body text, topic text, day text)")
            cursor.executemany("insert into tickets values (%s, %s, %s, %s)", made_table().rows())
        source = f"postgresql://{place}?table=tickets"
        fitted = shoal("fit", source, *FAST, "--text", "body", "--clusters", 3)
        assert fitted.code == 0, fitted.err
        run = tmp_path / "runs" / "tickets-tfidf-kmeans-1"
        said = [fitted, shoal("predict", run, source, "--json"), shoal("fit", source, *FAST, "--text", "nobody")]
        said += [shoal("predict", run, source.replace("tickets", "none"))]
        said += [shoal("fit", f"postgresql://{place}", "--query", "select nothing from nowhere")]
    assert [answer.code for answer in said] == [0, 0, 3, 3, 3]
    assert said[1].json["n_texts"] == 30
    written = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert len(written) > 5
    for secret in (PASSWORD, quoted, "hunter2"):
        assert not any(secret in answer.out + answer.err for answer in said)
        assert not any(secret.encode() in content for content in written)
    recorded = json.loads((run / "run.json").read_text())
    assert recorded["data"]["source"] == f"postgresql://ann@127.0.0.1:{server.port}/postgres?table=tickets"
