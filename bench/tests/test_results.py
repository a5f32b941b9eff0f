"""The results file: appended to by many at once, killed in the middle, never corrupt."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
from pathlib import Path

import pytest

from shoal.errors import DataError
from shoal_bench.results import Results, one_line


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def results(tmp_path, said) -> Results:
    return Results(tmp_path / "folder" / "bench.jsonl", said.append)


def entry(key: str, status: str = "ok", **facts) -> dict:
    return {"schema": 1, "key": key, "status": status, **facts}


def append_many(file, worker: int) -> None:
    for i in range(40):
        Results(file).append(entry(f"{worker}-{i}", filler="x" * 5000))


def test_what_is_appended_is_read_back_line_by_line(results):
    assert results.records() == []
    assert results.by_key() == {}
    results.append(entry("a", title="Größe\u2028and more"))
    results.append(entry("b"))
    assert [record["key"] for record in results.records()] == ["a", "b"]
    assert results.records()[0]["title"] == "Größe\u2028and more"
    assert results.file.read_bytes().count(b"\n") == 2


def test_the_last_good_record_of_a_cell_counts(results):
    for status in ("failed", "ok", "failed"):
        results.append(entry("a", status))
    results.append(entry("a", n=2))
    results.append(entry("b", "failed", n=1))
    results.append(entry("b", "unavailable", n=2))
    known = results.by_key()
    assert known.keys() == {"a", "b"}
    assert (known["a"]["status"], known["a"]["n"]) == ("ok", 2)
    assert (known["b"]["status"], known["b"]["n"]) == ("unavailable", 2)


def test_a_number_that_is_none_is_refused_before_anything_is_written(results):
    with pytest.raises(ValueError):
        results.append(entry("a", seconds=float("nan")))
    assert results.records() == []


def test_a_torn_line_is_moved_aside_and_said(results, said):
    results.append(entry("a"))
    with results.file.open("ab") as stream:
        stream.write(b'{"schema": 1, "key": "to')
    assert [record["key"] for record in results.records()] == ["a"]
    results.append(entry("b"))
    assert "was torn off in the middle; it was moved to" in said[0]
    assert [record["key"] for record in results.records()] == ["a", "b"]
    assert results.file.with_name("bench.jsonl.torn").read_bytes() == b'{"schema": 1, "key": "to\n'
    results.prepare()
    assert len(said) == 1


def test_a_whole_line_without_its_end_is_kept(results, said):
    results.append(entry("a"))
    with results.file.open("ab") as stream:
        stream.write(json.dumps(entry("b")).encode())
    results.prepare()
    assert "had no end; it was ended" in said[0]
    results.append(entry("c"))
    assert [record["key"] for record in results.records()] == ["a", "b", "c"]
    assert not results.file.with_name("bench.jsonl.torn").exists()


@pytest.mark.parametrize(
    "line",
    [
        "<<<<<<< HEAD",
        "[1, 2]",
        '{"hello": "world"}',
        '{"schema": 1, "status": "ok"}',
        '{"schema": 1, "key": 3, "status": "ok"}',
        '{"schema": 1, "key": "a", "status": "fine"}',
        '{"schema": 2, "key": "a", "status": "ok"}',
    ],
)
def test_a_line_that_is_no_record_is_named(results, line):
    results.append(entry("a"))
    results.file.write_text(f"{json.dumps(entry('a'))}\n\n{line}\n{json.dumps(entry('b'))}\n")
    with pytest.raises(DataError, match=r"line 3 of .*bench.jsonl is not a record of schema 1; fix or remove"):
        results.records()


def test_a_file_from_windows_is_read(results):
    results.append(entry("a"))
    results.file.write_bytes(b"\xef\xbb\xbf" + results.file.read_bytes().replace(b"\n", b"\r\n"))
    assert [record["key"] for record in results.records()] == ["a"]


def test_whether_it_can_be_written_is_known_before(results, said):
    results.prepare()
    assert results.records() == said == []
    results.file.unlink()
    results.file.mkdir()
    with pytest.raises(DataError, match=r"cannot be written to .*bench.jsonl \(Is a directory\); name another"):
        results.prepare()
    with pytest.raises(DataError, match=r"cannot be read \(Is a directory\)"):
        results.records()


def test_a_file_that_cannot_be_written_is_said(results, monkeypatch):
    results.append(entry("a"))
    open_file = Path.open

    def read_only(path, mode="r", *args, **kwargs):  # what the system does for a file without write permission
        if path == results.file and "a" in mode:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return open_file(path, mode, *args, **kwargs)

    monkeypatch.setattr(Path, "open", read_only)
    with pytest.raises(DataError, match="Permission denied"):
        results.prepare()
    assert [record["key"] for record in results.records()] == ["a"]


def test_a_folder_in_the_place_of_the_file_is_said(results):
    results.file.mkdir(parents=True)
    with pytest.raises(DataError, match="Is a directory"):
        results.prepare()


def test_several_processes_append_at_once(results):
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=append_many, args=(results.file, number)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert sorted(record["key"] for record in results.records()) == sorted(
        f"{worker}-{i}" for worker in range(4) for i in range(40)
    )


@pytest.mark.parametrize(
    ("reason", "line"),
    [
        ("a\n  b", "a b"),
        ("no file '/home/me/x.txt'", "no file '…'"),
        ("(/a/b) is a/b at https://x.org/a/b", "(…) is a/b at https://x.org/a/b"),
        ("x" * 900, "x" * 500),
    ],
)
def test_a_reason_is_one_line_without_folders(reason, line):
    assert one_line(reason) == line
