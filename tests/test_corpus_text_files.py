"""Large text files in blocks: the same rows, columns, types, values and errors as when they are read whole."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import re
import tracemalloc
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from shoal.corpus import encodings, read_source, text_files
from shoal.corpus.sources import blocks
from shoal.corpus.sources.blocks import MemoryTable, TextTable, open_source
from shoal.errors import DataError

NASTY = {
    "quoted line ends": ("csv", b'id,text\r\n1,"two\r\nlines"\r\n2,"a ""b"" c"\n3,"x, y"\r4,d\n'),
    "stray quotes": ("csv", b'id,text\n1,"x, y"\n2,"closed" too early\n3,"two\nlines"\n4,5" pipe\n5,"open\n6,g\n'),
    "every row stray": ("csv", b"id,text\n" + b"".join(b'%d,"text %d\n' % (i, i) for i in range(50))),
    "ragged": ("csv", b"id,text,n\n1,a\n\n2,b,3,,\n,,\n4,c,5\n  \n"),
    "one column": ("csv", b"text\na,b\n\nc\n\n"),
    "semicolons": ("csv", b"\n\n  id;text\n1;a,b\n2;c\n"),
    "names": ("csv", b"id,,id, text \n1,2,3,a\n"),
    "no last line end": ("csv", b"id,text\n1,a\n2,b"),
    "mark": ("csv", "id,text\n1,naïve\n".encode("utf-8-sig")),
    "utf-16": ("csv", "id,text\n1,naïve 𝄞\r\n2,包裹\n".encode("utf-16")),
    "utf-16 without mark": ("csv", ("id,text\n" + "1,hello there\n" * 9).encode("utf-16-le")),
    "cp1252 late": ("csv", b"id,text\n" + b"1,plain\n" * 30 + "2,déjà vu – €\n".encode("cp1252")),
    "utf-8 with a broken byte": ("csv", "id,text\n1,naïve café\n".encode() + b"2,bro\xe9ken\n"),
    "shift-jis": ("csv", ("番号,本文\n" + "1,荷物がまだ届いていません\n" * 5).encode("shift_jis")),
    "iso-2022-jp": ("csv", ("番号,本文\n" + "1,荷物がまだ届いていません\n" * 5).encode("iso2022_jp")),
    "nul": ("csv", b"id,text\n1,a\0b\n"),
    "tidy tsv": ("tsv", b'id\ttext\n1\t"a\nb"\n2\t"c\td ""e"""\n'),
    "untidy tsv": ("tsv", b'id\ttext\n1\t"a"\n2\t5" pipe\n3\tc\n'),
    "tsv quotes across rows": ("tsv", b'id\ttext\n1\t"a\n2\tb\n3\tc"\n'),
    "tsv quote that stays open": ("tsv", b'id\ttext\n1\ta\tb\n2\t"b\nc\n'),
    "lines": ("txt", "a\n\n  b\r\nc\rd\u2028e\x0bf\n\n".encode()),
    "a number that becomes text": ("jsonl", b'{"text": "a", "n": 7}\n' * 40 + b'{"n": "x"}'),
    "a number that becomes another": ("jsonl", b'{"n": 1}\n{"n": 2}\n\n{"n": 2.5}\n{"n": NaN}\n{"n": null}\n'),
    "a number that no double holds": ("jsonl", b'{"n": 9007199254740993}\n{"n": 2.5}\n'),
    "late column": ("jsonl", b'{"a": true}\n{"a": null, "b": [1, {"c": 2}]}\n{"b": "x", "": 1.5, "b_2": null}\n'),
    "a key twice": ("jsonl", b'{"a": 1, "a": 2}\n{"a": 3}\n{"a\\u0000": 5}\n'),
    "surrogates": ("jsonl", b'{"a": "x\\ud800y"}\n{"a": "z"}\n'),
    "texts": ("jsonl", b'"a"\n"b"\n\n3\n[1, 2]\n'),
}  # fmt: skip


@pytest.fixture(params=[1, 2, 5, 1 << 20])
def chunk(request, monkeypatch) -> int:
    """Have every text file streamed, in chunks of so many bytes."""
    monkeypatch.setattr(blocks, "WHOLE_BYTES", 0)
    monkeypatch.setattr(text_files, "_CHUNK", request.param)
    return request.param


@pytest.fixture
def streamed(monkeypatch) -> None:
    """Have every text file streamed."""
    monkeypatch.setattr(blocks, "WHOLE_BYTES", 0)


def assert_streams_as_read(path: Path, n_rows: int, encoding: str | None = None) -> None:
    """Compare the blocks with the table, or the errors with each other."""
    try:
        whole, _ = read_source(path, encoding=encoding)
    except DataError as error:
        with pytest.raises(DataError, match=f"^{re.escape(str(error))}$"):
            open_source(str(path), encoding=encoding)
        return
    table = open_source(str(path), encoding=encoding)
    assert isinstance(table, TextTable)
    parts = list(table.blocks(n_rows))
    joined = pl.concat(block.read() for block in parts)
    assert joined.schema == whole.schema
    assert joined.equals(whole)
    assert len(table) == len(whole)
    assert [block.begin for block in parts] == list(range(0, len(whole), n_rows))
    assert table.head(n_rows).equals(whole[:n_rows])


class TestTheSame:
    @pytest.mark.parametrize("n_rows", [1, 3, 100])
    @pytest.mark.parametrize("name", NASTY)
    def test_nasty_files(self, tmp_path, chunk, name, n_rows):
        suffix, raw = NASTY[name]
        (tmp_path / f"a.{suffix}").write_bytes(raw)
        (tmp_path / f"a.{suffix}.gz").write_bytes(gzip.compress(raw[:9]) + bytes(3) + gzip.compress(raw[9:]))
        assert_streams_as_read(tmp_path / f"a.{suffix}", n_rows)
        assert_streams_as_read(tmp_path / f"a.{suffix}.gz", n_rows)

    @pytest.mark.parametrize(
        "encoding", ["utf-8", "cp1250", "utf-16", "gb18030", "utf-8-sig", "utf-7", "base64", "idna"]
    )
    def test_an_encoding_that_is_given(self, tmp_path, chunk, encoding):
        for raw in ("\ufefftext\nžluť\n包裹\n".encode(), b"text\na\xff\n", "text\nab\n".encode("utf-16")):
            (tmp_path / "a.csv").write_bytes(raw)
            assert_streams_as_read(tmp_path / "a.csv", 2, encoding)

    @pytest.mark.parametrize(
        ("suffix", "raw"),
        [
            ("csv", b"id,text\n1,a\n2,b,c\n"),
            ("csv", b"id,text\n"),
            ("tsv", b"\n \n"),
            ("txt", b"\n\n"),
            ("jsonl", b'{"a": 1}\n{"a": \n'),
            ("jsonl", b'{"a": 1}\n"b"\n'),
            ("jsonl", b"{}\n{}\n"),
            ("csv", b"text\n" + bytes(range(128, 256)) * 3),
            ("csv", b"text\nhello\n" + bytes(30)),
        ],
    )
    def test_errors(self, tmp_path, chunk, suffix, raw):
        (tmp_path / f"a.{suffix}").write_bytes(raw)
        assert_streams_as_read(tmp_path / f"a.{suffix}", 2)

    @pytest.mark.parametrize("raw", [gzip.compress(b"text\n" + b"abc\n" * 50, mtime=0)[:-9], b"text\na\n"])
    def test_damaged_gzip(self, tmp_path, streamed, raw):
        (tmp_path / "a.csv.gz").write_bytes(raw)
        with pytest.raises(DataError, match=r"a.csv.gz: it is damaged gzip \("):
            open_source(str(tmp_path / "a.csv.gz"))

    @settings(max_examples=75, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        text=st.lists(st.sampled_from(['"', ",", "\t", "\n", "\r", "\r\n", " ", "a", "é", "包", "7", '""', '\n"'])),
        suffix=st.sampled_from(["csv", "tsv", "txt"]),
        encoding=st.sampled_from(["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-be", "gb18030"]),
    )
    @example(text=["a", "\t", '"', "\n", '"', "\t", "a"], suffix="tsv", encoding="utf-8")
    def test_any_delimited_text(self, tmp_path, monkeypatch, text, suffix, encoding):
        monkeypatch.setattr(blocks, "WHOLE_BYTES", 0)
        monkeypatch.setattr(text_files, "_CHUNK", 3)
        (tmp_path / f"a.{suffix}").write_bytes("".join(["x", *text]).encode(encoding, "ignore"))
        assert_streams_as_read(tmp_path / f"a.{suffix}", 2)

    cells = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(),
        st.text(st.characters(categories=["L", "Cs", "Cc"]), max_size=5),
        st.lists(st.integers(), max_size=2),
    )

    @settings(max_examples=75, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.one_of(
            st.lists(st.dictionaries(st.sampled_from(["a", "b", "", "a_2"]), cells), min_size=1),
            st.lists(cells, min_size=1),
            st.lists(st.one_of(st.integers(), st.floats(), st.none()), min_size=1),
        )
    )
    def test_any_lines_of_json(self, tmp_path, monkeypatch, items):
        monkeypatch.setattr(blocks, "WHOLE_BYTES", 0)
        (tmp_path / "a.jsonl").write_text("\n".join(json.dumps(item) for item in items))
        if any(isinstance(item, int) and not -(2**63) <= item < 2**63 for item in items):
            return  # see test_whole_numbers_of_more_than_64_bits_are_read_whole
        assert_streams_as_read(tmp_path / "a.jsonl", 2)


class TestTheChoice:
    def test_a_small_file_is_read_whole(self, tmp_path, monkeypatch):
        monkeypatch.setattr(blocks, "WHOLE_BYTES", 100)
        small, large = b"text\n" + b"abcd\n" * 19, b"text\n" + b"abcd\n" * 20
        (tmp_path / "small.csv").write_bytes(small)
        (tmp_path / "large.csv").write_bytes(large)
        (tmp_path / "small.csv.gz").write_bytes(gzip.compress(small))
        (tmp_path / "large.csv.gz").write_bytes(gzip.compress(large))  # of fewer bytes than the limit
        kinds = {path.name: type(open_source(str(path))) for path in tmp_path.iterdir()}
        assert kinds == {
            "small.csv": MemoryTable,
            "large.csv": TextTable,
            "small.csv.gz": MemoryTable,
            "large.csv.gz": TextTable,
        }

    def test_the_format_may_be_given(self, tmp_path, streamed):
        (tmp_path / "a.log").write_bytes(b"text\na, b\n")
        assert open_source(str(tmp_path / "a.log"), format="TXT").head(9)["text"].to_list() == ["text", "a, b"]
        for format in (None, "word"):
            with pytest.raises(Exception, match=r"unknown suffix|is not known"):
                open_source(str(tmp_path / "a.log"), format=format)

    def test_a_sheet_of_no_workbook_is_refused_as_ever(self, tmp_path, streamed):
        (tmp_path / "a.csv").write_bytes(b"text\na\n")
        with pytest.raises(DataError, match="is no workbook"):
            open_source(str(tmp_path / "a.csv"), sheet="1")

    def test_a_format_without_lines_is_read_whole(self, tmp_path, streamed):
        (tmp_path / "a.json").write_bytes(b'[{"text": "a"}]')
        assert isinstance(open_source(str(tmp_path / "a.json")), MemoryTable)

    def test_whole_numbers_of_more_than_64_bits_are_read_whole(self, tmp_path, streamed):
        path = tmp_path / "a.jsonl"
        for cells in ([1, 2**63], [-1, 2**63], [2**70, 1], [2**130]):
            path.write_text("\n".join(json.dumps({"n": cell}) for cell in cells))
            table = open_source(str(path))
            assert isinstance(table, MemoryTable)
            assert table.head(9).equals(read_source(path)[0])


class TestMemory:
    @staticmethod
    def write(path: Path, n_rows: int) -> Path:
        make = {
            "csv": lambda i: f'{i},"text {i}\nof two lines"\n',
            "tsv": lambda i: f'{i}\t"text {i}"\n',
            "jsonl": lambda i: json.dumps({"id": i, "text": f"text {i}"}) + "\n",
            "txt": lambda i: f"text {i}\n",
        }[path.suffix[1:]]
        header = {"csv": "id,text\n", "tsv": "id\ttext\n"}.get(path.suffix[1:], "")
        path.write_text(header + "".join(make(i) for i in range(n_rows)))
        return path

    @pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "txt"])
    def test_no_more_is_read_than_the_blocks_that_are_asked_for(self, tmp_path, monkeypatch, streamed, suffix):
        monkeypatch.setattr(text_files, "_CHUNK", 100)
        table = open_source(str(self.write(tmp_path / f"a.{suffix}", 1000)))
        read = []
        split = text_files.split_lines
        monkeypatch.setattr(
            text_files, "split_lines", lambda texts: (read.append(line) or line for line in split(texts))
        )
        parts = table.blocks(10)
        for number in (1, 2, 3):
            next(parts)
            assert len(read) <= 2 * 10 * number + 2

    @pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "txt"])
    def test_the_peak_does_not_grow_with_the_rows(self, tmp_path, monkeypatch, streamed, suffix):
        monkeypatch.setattr(text_files, "_CHUNK", 4096)
        monkeypatch.setattr(encodings, "_SAMPLE", 4096)

        def peak(n_rows: int) -> int:
            path = str(self.write(tmp_path / f"a.{suffix}", n_rows))
            tracemalloc.start()
            try:
                assert sum(block.n_rows for block in open_source(path).blocks(200)) == n_rows
                return tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()

        peak(400)  # what is loaded at first use
        assert peak(4000) < 1.2 * peak(1000)

    def test_another_process_gets_no_more_than_its_rows(self, tmp_path, streamed):
        block = next(open_source(str(self.write(tmp_path / "a.csv", 1000))).blocks(10))
        sent = pickle.dumps(block)
        assert len(sent) < 5000
        assert pickle.loads(sent).read().equals(block.read())


def test_a_file_that_changes_is_refused(tmp_path, streamed):
    (tmp_path / "a.csv").write_bytes(b"text\na\nb\n")
    table = open_source(str(tmp_path / "a.csv"))
    (tmp_path / "a.csv").write_bytes(b"text\na\n5\n")
    os.utime(tmp_path / "a.csv", ns=(1, 1))
    with pytest.raises(DataError, match=r"a.csv: it has changed while it was read"):
        list(table.blocks(1))
