"""Object stores: fsspec's own, and S3 through s3fs on a server of this machine."""

from __future__ import annotations

import sys

import fsspec
import polars as pl
import pytest

from s3_server import s3_server
from shoal.corpus import Corpus, read_source, targets, write_target
from shoal.corpus.targets import require_free
from shoal.errors import DataError, MissingExtraError

TEXTS = pl.DataFrame({"id": [1, 2], "body": ["late parcel", "wrong size"]})


@pytest.fixture
def memory():
    """Return an empty store in memory."""
    store = fsspec.filesystem("memory")
    store.store.clear()
    store.pseudo_dirs[:] = [""]
    yield "memory://shop"
    store.store.clear()


@pytest.fixture(scope="module")
def _s3():
    """Run a server."""
    with s3_server():
        yield


@pytest.fixture
def s3(_s3):
    """Return an empty bucket."""
    yield "s3://shop"
    store = fsspec.filesystem("s3")
    for name in store.find("shop"):
        store.rm_file(name)


@pytest.fixture(params=["memory", pytest.param("s3", marks=pytest.mark.slow)])
def bucket(request):
    """Return the address of an empty folder in a store."""
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.jsonl", "a.parquet"])
def test_a_file_comes_back_as_it_was_written(bucket, name):
    write_target(TEXTS, f"{bucket}/tickets/{name}")
    frame, _ = read_source(f"{bucket}/tickets/{name}")
    assert frame.cast(TEXTS.schema).equals(TEXTS)


def test_a_data_set_comes_back_and_is_replaced_whole(bucket, monkeypatch):
    monkeypatch.setattr(targets, "ROWS_PER_PART", 1)
    place = f"{bucket}/sorted/"
    require_free(place, overwrite=False)
    write_target(pl.concat([TEXTS, TEXTS]), place)
    assert read_source(place)[0].equals(pl.concat([TEXTS, TEXTS]))
    with pytest.raises(DataError, match="exists; pass --overwrite"):
        require_free(place, overwrite=False)
    require_free(place, overwrite=True)
    write_target(TEXTS, place)
    assert read_source(place.rstrip("/"))[0].equals(TEXTS)
    write_target(TEXTS, f"{place}below/part-00000.parquet")
    with pytest.raises(DataError, match=r"holds 'below/part-00000\.parquet'"):
        require_free(place, overwrite=True)
    with pytest.raises(DataError, match=r"holds 'below/part-00000\.parquet'"):
        write_target(TEXTS, place)


def test_patterns_and_partitions(bucket):
    for year in (2023, 2024):
        for part in "ba":
            write_target(TEXTS.with_columns(part=pl.lit(part)), f"{bucket}/tickets/year={year}/{part}.parquet")
    write_target(TEXTS, f"{bucket}/tickets/_log/x.parquet")
    whole, notes = read_source(f"{bucket}/tickets")
    assert whole["year"].to_list() == [2023] * 4 + [2024] * 4
    assert whole["part"].to_list() == ["a", "a", "b", "b"] * 2
    assert notes["parts"] == 4
    assert read_source(f"{bucket}/tickets/")[0].equals(whole)
    assert read_source(f"{bucket}/tickets/year=*/*.parquet")[0].equals(whole)
    assert read_source(f"{bucket}/tickets/year=2024")[0].equals(whole[4:])
    assert Corpus.read(f"{bucket}/tickets/year=2023/a.*", text="body").texts == TEXTS["body"].to_list()


def test_disagreeing_columns_are_named_with_their_address(bucket):
    write_target(TEXTS, f"{bucket}/x/a.csv")
    write_target(TEXTS.drop("id"), f"{bucket}/x/b.csv")
    with pytest.raises(DataError, match=r"//.*shop/x/b\.csv has no column 'id'"):
        read_source(f"{bucket}/x/*.csv")


def test_what_is_not_there(bucket):
    for name in ("none.csv", "none/", "none/*.csv"):
        with pytest.raises(DataError, match=r"no (such )?file"):
            read_source(f"{bucket}/{name}")


def test_a_file_that_exists_is_not_replaced_by_chance(bucket):
    write_target(TEXTS, f"{bucket}/a.csv")
    with pytest.raises(DataError, match="exists"):
        require_free(f"{bucket}/a.csv", overwrite=False)
    require_free(f"{bucket}/b.csv", overwrite=False)


def test_a_password_in_the_address_is_refused_and_not_repeated():
    for address in ("s3://key:hunter2@shop/a.csv", "s3://key:a/hunter2@shop/a.csv"):
        with pytest.raises(DataError, match="credentials") as refusal:
            read_source(address)
        assert "hunter2" not in str(refusal.value)


@pytest.mark.parametrize(("address", "extra"), [("gs://shop/a.csv", "gs"), ("abfs://shop/a.csv", "azure")])
def test_a_missing_client_is_an_extra(address, extra, monkeypatch):
    for package in ("gcsfs", "adlfs"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"shoal\[{extra}\]"):
        read_source(address)


@pytest.mark.slow
def test_a_wrong_bucket(s3):
    with pytest.raises(DataError, match=r"s3://none/a\.csv"):
        read_source("s3://none/a.csv")
    with pytest.raises(DataError, match=r"s3://none/a\.csv"):
        write_target(TEXTS, "s3://none/a.csv")
