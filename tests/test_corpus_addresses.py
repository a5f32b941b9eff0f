"""Addresses: what is one, and what of it may be shown."""

from __future__ import annotations

import pytest

from shoal.corpus.addresses import is_pattern, located, scheme_of, short_name, shown, split_options, without_secrets
from shoal.errors import DataError

SECRET = "hunter2"


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ann:{SECRET}@db/shop",
        f"postgresql://ann:{SECRET}@db:5432/shop?table=tickets",
        f"postgresql://db/shop?user=ann&password={SECRET}&table=tickets",
        f"postgresql://ann:x/{SECRET}@db/shop",
        f"postgresql://ann:x?{SECRET}@db/shop",
        f"postgresql://ann:x#{SECRET}@db/shop",
        f"postgresql://ann:x@{SECRET}@db/shop",
        f"postgresql://db/shop?password=x@{SECRET}",
        f"postgresql://db/shop?password={SECRET}@x",
        f"POSTGRES://ann:{SECRET}@db/shop",
        f"duckdb:///md:shop?motherduck_token={SECRET}",
        f"s3://key:{SECRET}@bucket/tickets.csv",
        f"s3://key:a/{SECRET}@bucket/tickets.csv",
        f"abfs://{SECRET}:x@account/tickets.csv",
        f"https://example/tickets.csv?signature={SECRET}",
    ],
)
def test_no_secret_is_shown(address):
    assert SECRET not in shown(address)
    assert SECRET not in short_name(address)
    if scheme_of(address) == "https":
        with pytest.raises(DataError) as refusal:
            located(address)
        assert SECRET not in str(refusal.value)


@pytest.mark.parametrize(
    "source",
    [
        "tickets.csv",
        "-",
        "s3://bucket/a@b/part-?.csv",
        "abfs://container@account.dfs.core.windows.net/tickets/",
        "duckdb:///data/shop@home.db?table=main.tickets",
        "postgresql://ann@db:5432/shop?table=tickets",
        "C:/data/tickets.csv",
    ],
)
def test_what_has_no_secret_is_shown_whole(source):
    assert shown(source) == source


def test_queries_lose_what_looks_like_a_secret_and_nothing_else():
    query = "select primary_key, secret_santa from gifts where password_hint like '%x%' and year = 2024"
    assert without_secrets(query) == query
    hidden = f"create secret (type s3, secret '{SECRET}'); attach 'postgresql://ann:{SECRET}@db/shop'; token={SECRET}"
    assert SECRET not in without_secrets(hidden)


def test_a_file_whose_name_has_brackets_is_no_pattern(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert is_pattern("a[1].csv")
    (tmp_path / "a[1].csv").write_text("text\nhello\n")
    assert not is_pattern("a[1].csv")
    assert not is_pattern("a\0.csv")


def test_options_are_not_those_of_a_form():
    assert split_options("postgresql://db/shop?options=-c+a%3D1") == (
        "postgresql://db/shop",
        {"options": "-c+a=1"},
    )
