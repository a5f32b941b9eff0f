"""Data sets: many files are one table, in the order of their names, with the columns that name their folders."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

from shoal.corpus import Corpus, read_source, targets, write_target
from shoal.corpus.targets import require_free
from shoal.errors import DataError, ParameterError

TEXTS = pl.DataFrame({"id": [1, 2], "body": ["late parcel", "wrong size"]})


def write(folder, **files):
    """Write parts; of the name ``a__b`` in folder a."""
    for name, frame in files.items():
        path = folder / (name.replace("__", "/").replace("_is_", "=") + ".parquet")
        path.parent.mkdir(parents=True, exist_ok=True)
        frame.write_parquet(path)


class TestReading:
    def test_a_folder_is_one_table_in_the_order_of_names(self, tmp_path):
        for name, text in {"b": "two", "a": "one", "c/a": "three"}.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            pl.DataFrame({"text": [text]}).write_parquet(tmp_path / f"{name}.parquet")
        frame, notes = read_source(tmp_path)
        assert frame["text"].to_list() == ["one", "two", "three"]
        assert notes == {"parts": 3}
        assert read_source(f"{tmp_path}/")[0].equals(frame)
        assert read_source(f"file://{tmp_path}")[0].equals(frame)
        assert read_source(f"{tmp_path}/**/*.parquet")[0].equals(frame)
        assert read_source(f"{tmp_path}/?.parquet")[0]["text"].to_list() == ["one", "two"]

    def test_it_reads_what_polars_wrote_with_partitions(self, tmp_path):
        frame = pl.DataFrame(
            {"body": ["a", "b", "c", "d"], "year": [2023, 2023, 2024, 2024], "kind": ["x", "y/z", "x", None]}
        )
        frame.write_parquet(tmp_path / "tickets", partition_by=["year", "kind"])
        read, _ = read_source(tmp_path / "tickets")
        assert read.sort("body").select(frame.columns).equals(frame)
        only, _ = read_source(f"{tmp_path}/tickets/year=2024")
        assert only.sort("body")["year"].to_list() == [2024, 2024]
        some, _ = read_source(f"{tmp_path}/tickets/year=*/kind=x")
        assert some.sort("body")["body"].to_list() == ["a", "c"]

    def test_codes_in_folder_names_keep_their_zeros(self, tmp_path):
        for code in ("007", "12"):
            (tmp_path / f"shop={code}").mkdir()
            (tmp_path / f"shop={code}" / "part.csv").write_text("text\nhello\n")
        assert read_source(tmp_path)[0]["shop"].to_list() == ["007", "12"]

    def test_a_column_in_the_file_counts_more_than_the_name_of_its_folder(self, tmp_path):
        write(tmp_path, year_is_1__a=pl.DataFrame({"text": ["a"], "year": [2024]}))
        assert read_source(tmp_path)[0].rows() == [("a", 2024)]

    @pytest.mark.parametrize(
        ("suffix", "line"), [("csv", "text\n{}\n"), ("jsonl", '{{"text": "{}"}}\n'), ("txt", "{}\n")]
    )
    def test_patterns_of_other_formats(self, tmp_path, suffix, line):
        for name in "ab":
            (tmp_path / f"{name}.{suffix}").write_text(line.format(name))
        assert read_source(f"{tmp_path}/*.{suffix}")[0]["text"].to_list() == ["a", "b"]

    def test_notes_are_added_up(self, tmp_path):
        (tmp_path / "a.csv").write_bytes(b"id,text\n1\n2,x\n")
        (tmp_path / "b.csv").write_bytes(b"id,text\n3\n4\n")
        assert read_source(tmp_path)[1] == {"parts": 2, "encoding": "utf-8", "short_rows": 3}

    def test_marks_logs_and_empty_files_are_no_parts(self, tmp_path):
        write(tmp_path, a=TEXTS, _b=TEXTS, _log__c=TEXTS)
        (tmp_path / "_SUCCESS").touch()
        (tmp_path / "d.parquet").touch()
        (tmp_path / ".a.parquet.crc").write_bytes(b"x")
        (tmp_path / "notes.txt").write_text("about these tickets")
        assert read_source(tmp_path)[0].equals(TEXTS)

    def test_parts_without_rows_and_columns_without_values_fit_any_type(self, tmp_path):
        none = pl.DataFrame({"id": [None], "body": ["c"]})
        write(tmp_path, a=TEXTS.clear(), b=none, c=TEXTS.with_columns(pl.col("id").cast(pl.Int8)).select("body", "id"))
        frame, _ = read_source(tmp_path)
        assert frame.rows() == [(None, "c"), (1, "late parcel"), (2, "wrong size")]
        assert frame.schema["id"] == pl.Int64

    def test_a_table_among_texts_makes_no_data_set_and_the_other_way_round(self, tmp_path):
        TEXTS.write_csv(tmp_path / "index.csv")
        for name in "ab":
            (tmp_path / f"{name}.md").write_text(name)
        assert Corpus.read(tmp_path).texts == ["a", "b"]
        TEXTS.write_csv(tmp_path / "more.csv")
        assert Corpus.read(tmp_path, text="body").texts == ["late parcel", "wrong size"] * 2

    def test_a_corpus_of_a_folder(self, tmp_path):
        write(tmp_path, a=TEXTS, b=TEXTS)
        corpus = Corpus.read(tmp_path, text="body", id="id")
        assert corpus.texts == ["late parcel", "wrong size"] * 2
        assert corpus.notes["parts"] == 2


class TestRefusals:
    def test_a_missing_column(self, tmp_path):
        write(tmp_path, a=TEXTS, b=TEXTS, c=TEXTS.drop("id"))
        with pytest.raises(DataError, match=r"c\.parquet has no column 'id', which .*a\.parquet has"):
            read_source(tmp_path)

    def test_a_new_column(self, tmp_path):
        write(tmp_path, a=TEXTS, b=TEXTS.with_columns(extra=1))
        with pytest.raises(DataError, match=r"a\.parquet has no column 'extra', which .*b\.parquet has"):
            read_source(tmp_path)

    def test_another_type(self, tmp_path):
        write(tmp_path, a=TEXTS, b=TEXTS.with_columns(pl.col("id").cast(pl.String)))
        with pytest.raises(DataError, match=r"column 'id' of .*b\.parquet is String, but .* before it is Int64"):
            read_source(tmp_path)

    def test_several_formats_unless_one_is_chosen(self, tmp_path):
        write(tmp_path, a=TEXTS)
        TEXTS.write_csv(tmp_path / "b.csv")
        with pytest.raises(DataError, match=r"several formats \(1 parquet, 1 csv\)"):
            read_source(tmp_path)
        assert read_source(tmp_path, format="parquet")[0].equals(TEXTS)

    def test_a_damaged_part_is_named(self, tmp_path):
        write(tmp_path, a=TEXTS)
        (tmp_path / "b.parquet").write_bytes(b"PAR1 but not really PAR1")
        with pytest.raises(DataError, match=r"b\.parquet: not valid parquet"):
            read_source(tmp_path)

    def test_a_pattern_without_a_match(self, tmp_path):
        with pytest.raises(DataError, match="no file is there"):
            read_source(f"{tmp_path}/*.parquet")

    def test_a_folder_that_cannot_be_read_is_not_passed_over(self, tmp_path, monkeypatch):
        write(tmp_path, a=TEXTS, closed__b=TEXTS)
        scandir = os.scandir

        def guarded(path):
            if str(path).endswith("closed"):  # permissions do not stop root
                raise PermissionError(13, "Permission denied", str(path))
            return scandir(path)

        monkeypatch.setattr(os, "scandir", guarded)
        with pytest.raises(DataError, match=r"closed cannot be read \(Permission denied"):
            read_source(tmp_path)

    def test_a_query_needs_a_database(self, tmp_path):
        with pytest.raises(ParameterError, match="duckdb:///:memory:"):
            read_source(tmp_path / "a.csv", query="select 1")

    def test_an_unknown_address(self):
        with pytest.raises(DataError, match="ftp:// is not an address that Shoal knows"):
            read_source("ftp://example/tickets.csv")


class TestWriting:
    def test_a_data_set_has_parts_and_reads_back(self, tmp_path, monkeypatch):
        monkeypatch.setattr(targets, "ROWS_PER_PART", 10)
        frame = pl.DataFrame({"n": range(25), "text": [f"text {n}" for n in range(25)]})
        write_target(frame, f"{tmp_path}/new/sorted/")
        assert sorted(file.name for file in (tmp_path / "new" / "sorted").iterdir()) == [
            f"part-0000{i}.parquet" for i in range(3)
        ]
        assert read_source(tmp_path / "new" / "sorted")[0].equals(frame)

    def test_a_data_set_is_replaced_whole(self, tmp_path, monkeypatch):
        monkeypatch.setattr(targets, "ROWS_PER_PART", 1)
        place = f"{tmp_path}/sorted/"
        write_target(pl.concat([TEXTS, TEXTS]), place)
        with pytest.raises(DataError, match="exists; pass --overwrite"):
            require_free(place, overwrite=False)
        require_free(place, overwrite=True)
        write_target(TEXTS, place)
        assert read_source(place)[0].equals(TEXTS)
        assert [file.name for file in tmp_path.iterdir()] == ["sorted"]

    def test_a_folder_with_anything_else_is_never_replaced(self, tmp_path):
        (tmp_path / "thesis.docx").write_text("years of work")
        for place in (tmp_path, f"{tmp_path}/"):
            with pytest.raises(DataError, match=r"holds 'thesis\.docx'"):
                require_free(place, overwrite=True)
            with pytest.raises(DataError, match=r"holds 'thesis\.docx'"):
                write_target(TEXTS, place)
        assert [file.name for file in tmp_path.iterdir()] == ["thesis.docx"]

    def test_a_data_set_stays_if_the_new_one_cannot_be_put_in_its_place(self, tmp_path, monkeypatch):
        place = tmp_path / "sorted"
        write_target(TEXTS, f"{place}/")
        rename = Path.rename

        def refuse(self, target):
            if self.name.endswith(".tmp"):
                raise OSError(28, "No space left on device")
            return rename(self, target)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "rename", refuse)
            with pytest.raises(ParameterError, match="No space left"):
                write_target(TEXTS.clear(), f"{place}/")
        assert read_source(place)[0].equals(TEXTS)
        assert [file.name for file in tmp_path.iterdir()] == ["sorted"]

    def test_no_database_is_written(self):
        with pytest.raises(ParameterError, match="Shoal only reads those"):
            require_free("duckdb:///shop.db?table=sorted", overwrite=True)

    def test_a_table_without_rows_keeps_its_columns(self, tmp_path):
        write_target(TEXTS.clear(), f"{tmp_path}/none/")
        assert pl.read_parquet(tmp_path / "none" / "part-00000.parquet").schema == TEXTS.schema
