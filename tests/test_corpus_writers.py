"""A written table reads back as it was, and nobody ever sees half of it."""

from __future__ import annotations

import datetime
import gzip
import json
import os
import random
import sys
from pathlib import Path

import openpyxl
import polars as pl
import pytest

from shoal.corpus import Corpus, read_table, write_table
from shoal.errors import DataError, ParameterError

FRAME = pl.DataFrame(
    {
        "id": ["007", "008", "009", "010"],
        "body": ['a "quoted", word; and\tmore', "two\r\nlines\rand\nmore", " naïve 🐟 ", None],
        "cluster": [0, 1, None, 1],
        "confidence": [0.25, 1 / 3, None, 1e-07],
    }
)
TEXT_SUFFIXES = [".csv", ".tsv", ".jsonl", ".json"]


def nasty_cells(count: int, seed: int) -> list[str | None]:
    """Cells of the characters that mean something to a reader of csv."""
    rng = random.Random(seed)
    alphabet = ",;\"\t\r\n '\\\0=ab\u2028\ufeff"
    return ["".join(rng.choices(alphabet, k=rng.randrange(6))) or None for _ in range(count)]


def as_strings(frame: pl.DataFrame) -> list[tuple[str | None, ...]]:
    return frame.cast(pl.String).rows()


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


class TestReadingBack:
    @pytest.mark.parametrize("ending", ["", ".gz"])
    @pytest.mark.parametrize("suffix", TEXT_SUFFIXES)
    def test_text_formats(self, tmp_path, suffix, ending):
        path = tmp_path / f"a{suffix}{ending}"
        write_table(FRAME, path)
        assert path.read_bytes().startswith(b"\x1f\x8b") == bool(ending)
        frame, _ = read_table(path)
        assert frame.columns == FRAME.columns
        assert as_strings(frame) == as_strings(FRAME)

    def test_json_and_parquet_keep_numbers(self, tmp_path):
        for suffix in (".json", ".jsonl", ".parquet"):
            write_table(FRAME, tmp_path / f"a{suffix}")
            assert read_table(tmp_path / f"a{suffix}")[0].equals(FRAME)

    @pytest.mark.parametrize("seed", range(50))
    def test_any_cells_in_a_csv(self, tmp_path, seed):
        frame = pl.DataFrame({"id": nasty_cells(20, seed), "text": nasty_cells(20, -1 - seed)})
        write_table(frame, tmp_path / "a.csv")
        again, notes = read_table(tmp_path / "a.csv")
        assert again.rows() == frame.rows()
        assert notes == {"encoding": "utf-8"}

    @pytest.mark.parametrize("suffix", [".csv", ".tsv"])
    @pytest.mark.parametrize("name", ["text", "a;b", "a\tb", "a,b"])
    def test_any_cells_in_a_lone_column(self, tmp_path, name, suffix):
        frame = pl.DataFrame({name: nasty_cells(500, seed=0)})
        write_table(frame, tmp_path / f"a{suffix}")
        assert read_table(tmp_path / f"a{suffix}")[0].to_dict(as_series=False) == frame.to_dict(as_series=False)

    def test_missing_cells_are_empty_in_a_csv(self, tmp_path):
        write_table(pl.DataFrame({"text": ["a", None], "cluster": [1, None]}), tmp_path / "a.csv")
        assert (tmp_path / "a.csv").read_bytes() == b"text,cluster\na,1\n,\n"

    @pytest.mark.parametrize("suffix", TEXT_SUFFIXES)
    def test_awkward_cells_are_strings(self, tmp_path, suffix):
        frame = pl.DataFrame({"words": [["é", "b"]], "raw": [b"xy"], "took": [datetime.timedelta(hours=1)]})
        write_table(frame, tmp_path / f"a{suffix}")
        assert read_table(tmp_path / f"a{suffix}")[0].rows() == [('["é", "b"]', "xy", "1:00:00")]

    def test_parquet_keeps_lists(self, tmp_path):
        frame = pl.DataFrame({"words": [["a", "b"]]})
        write_table(frame, tmp_path / "a.parquet")
        assert pl.read_parquet(tmp_path / "a.parquet").equals(frame)

    def test_json_is_json_whatever_the_numbers(self, tmp_path):
        write_table(pl.DataFrame({"x": [float("nan"), float("inf"), 1.5]}), tmp_path / "a.json")
        assert json.loads((tmp_path / "a.json").read_bytes()) == [{"x": None}, {"x": None}, {"x": 1.5}]

    def test_a_corpus_of_any_columns_can_be_carried_into_a_csv(self, tmp_path):
        corpus = Corpus.of({"text": ["a"], "cluster": [3], "took": [datetime.timedelta(1)], "words": [["b"]]})
        write_table(corpus.input_columns(), tmp_path / "a.csv")
        assert read_table(tmp_path / "a.csv")[0].rows() == [("a", "3", "1 day, 0:00:00", '["b"]')]


class TestFiles:
    def test_folders_are_made_and_files_replaced_and_nothing_left_beside(self, tmp_path):
        path = tmp_path / "new" / "A.CSV"
        write_table(FRAME, path)
        write_table(FRAME.head(1), path)
        assert len(read_table(path)[0]) == 1
        assert names_in(path.parent) == ["A.CSV"]

    def test_a_write_that_fails_leaves_the_old_file(self, tmp_path, monkeypatch):
        path = tmp_path / "a.csv"
        write_table(FRAME, path)

        def fail(_: int) -> None:
            raise OSError("no space left")

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(ParameterError, match=r"a\.csv cannot be written \(no space left\); choose another"):
            write_table(FRAME.head(1), path)
        assert len(read_table(path)[0]) == len(FRAME)
        assert names_in(tmp_path) == ["a.csv"]

    def test_a_folder_is_no_file(self, tmp_path):
        (tmp_path / "a.csv").mkdir()
        with pytest.raises(ParameterError, match="cannot be written"):
            write_table(FRAME, tmp_path / "a.csv")

    def test_the_same_table_is_the_same_gzip(self, tmp_path):
        write_table(FRAME, tmp_path / "a.csv.gz")
        content = (tmp_path / "a.csv.gz").read_bytes()
        assert content[4:8] == bytes(4)  # the time stamp of RFC 1952
        write_table(FRAME, tmp_path / "a.csv")
        assert gzip.decompress(content) == (tmp_path / "a.csv").read_bytes()

    @pytest.mark.parametrize("name", ["a.doc", "a", "a.parquet.gz", "a.xlsx.gz", "a.gz"])
    def test_unknown_suffixes(self, tmp_path, name):
        known = r"the suffixes are \.csv \.tsv \.jsonl \.json \(each also \.gz\) \.parquet \.xlsx\."
        with pytest.raises(ParameterError, match=f"has an unknown suffix '{name[1:]}'; {known}"):
            write_table(FRAME, tmp_path / name)
        assert not names_in(tmp_path)


class TestWorkbooks:
    def test_without_the_package(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "xlsxwriter", None)
        with pytest.raises(
            ParameterError, match=r"needs the package xlsxwriter.* \.csv \.tsv \.jsonl \.json or \.parq"
        ):
            write_table(FRAME, tmp_path / "a.xlsx")
        assert not names_in(tmp_path)

    def test_cells_keep_their_kinds(self, tmp_path):
        frame = FRAME.with_columns(
            link=pl.lit("http://a/" + "b" * 3000),
            LINK=pl.lit("=1+1"),
            big=pl.lit(2**60 + 1),
            day=pl.lit(datetime.date(2024, 5, 3)),
            odd=pl.Series([float("nan"), float("inf"), 1.5, None]),
            good=pl.lit(True),
        )
        write_table(frame, tmp_path / "a.xlsx")
        names, first, *_, last = openpyxl.load_workbook(tmp_path / "a.xlsx").active.iter_rows(values_only=True)
        assert list(names) == frame.columns
        assert first[:4] == ("007", 'a "quoted", word; and\tmore', 0, 0.25)
        assert first[4:] == ("http://a/" + "b" * 3000, "=1+1", str(2**60 + 1), "2024-05-03", None, True)
        assert last[:4] == ("010", None, 1, 1e-07)
        assert read_table(tmp_path / "a.xlsx")[0]["body"].to_list() == FRAME["body"].to_list()

    def test_what_does_not_fit_is_an_error_and_not_cut(self, tmp_path):
        with pytest.raises(DataError, match="row 1 of column 'text' does not fit into xlsx"):
            write_table(pl.DataFrame({"text": ["a" * 32768]}), tmp_path / "a.xlsx")
