"""Tables in blocks: read where they are needed, written while they come, the same as all at once."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path

import polars as pl
import pytest

from shoal.corpus import read_source, targets, write_target
from shoal.corpus.sources.blocks import MemoryTable, ParquetTable, open_source
from shoal.corpus.targets import write_frames
from shoal.errors import DataError


def made(n: int, first: int = 0) -> pl.DataFrame:
    numbers = range(first, first + n)
    return pl.DataFrame({"n": numbers, "text": [f'line "{i}", é' if i % 3 else None for i in numbers]})


def joined(table, n_rows: int) -> pl.DataFrame:
    return pl.concat(block.read() for block in table.blocks(n_rows))


class TestReading:
    @pytest.fixture
    def folder(self, tmp_path) -> Path:
        write_target(made(5), tmp_path / "data" / "year=2023" / "a.parquet")
        write_target(made(7, 5), tmp_path / "data" / "year=2024" / "a.parquet")
        write_target(made(0), tmp_path / "data" / "year=2025" / "a.parquet")
        return tmp_path / "data"

    @pytest.mark.parametrize("n_rows", [1, 3, 100])
    @pytest.mark.parametrize("source", ["", "*/a.parquet", "year=2024/a.parquet"])
    def test_parquet_is_read_by_whoever_needs_a_block(self, folder, source, n_rows):
        place = str(folder / source)
        table = open_source(place)
        assert isinstance(table, ParquetTable)
        whole, _ = read_source(place)
        assert joined(table, n_rows).equals(whole)
        assert len(table) == len(whole)
        blocks = list(table.blocks(n_rows))
        assert [block.begin for block in blocks] == [sum(b.n_rows for b in blocks[:i]) for i in range(len(blocks))]
        assert max(block.n_rows for block in blocks) <= n_rows
        assert table.head(2).equals(whole[:2])
        assert pickle.loads(pickle.dumps(blocks[-1])).read().equals(blocks[-1].read())

    def test_another_process_gets_no_more_than_its_rows(self, tmp_path):
        write_target(made(20_000), tmp_path / "a.csv")
        table = open_source(str(tmp_path / "a.csv"))
        assert isinstance(table, MemoryTable)
        block = next(table.blocks(10))
        assert len(pickle.dumps(block)) < 20_000
        assert joined(table, 6000).equals(read_source(tmp_path / "a.csv")[0])

    def test_a_file_without_rows_is_refused_as_ever(self, tmp_path):
        write_target(made(0), tmp_path / "a.parquet")
        with pytest.raises(DataError, match="has no rows"):
            open_source(str(tmp_path / "a.parquet"))

    def test_a_file_that_is_none(self, tmp_path):
        (tmp_path / "a.parquet").write_bytes(b"PAR1 and nothing else")
        with pytest.raises(DataError, match="not valid parquet"):
            open_source(str(tmp_path / "a.parquet"))

    def test_a_file_that_is_gone_is_named(self, folder):
        block = next(open_source(str(folder)).blocks(3))
        (folder / "year=2023" / "a.parquet").unlink()
        with pytest.raises(DataError, match=r"year=2023/a.parquet cannot be read"):
            block.read()


class TestWriting:
    @pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "json", "csv.gz", "jsonl.gz", "xlsx"])
    def test_several_tables_give_the_file_of_one(self, tmp_path, suffix):
        whole = made(10)
        write_target(whole, tmp_path / f"one.{suffix}")
        write_frames(iter([whole[:4], whole[4:4], whole[4:]]), tmp_path / f"many.{suffix}")
        one, many = ((tmp_path / f"{name}.{suffix}").read_bytes() for name in ("one", "many"))
        if suffix == "xlsx":
            assert read_source(tmp_path / "many.xlsx")[0].equals(read_source(tmp_path / "one.xlsx")[0])
        else:
            unzip = gzip.decompress if suffix.endswith(".gz") else bytes
            assert unzip(one) == unzip(many)

    @pytest.mark.parametrize("target", ["many.parquet", "file://{}/many.parquet", "memory://shop/many.parquet"])
    def test_parquet(self, tmp_path, target):
        whole = made(10)
        place = target.format(tmp_path) if "://" in target else str(tmp_path / target)
        write_frames(iter([whole[:4], whole[4:]]), place)
        assert read_source(place)[0].equals(whole)
        assert len(list(tmp_path.iterdir())) <= 1

    def test_a_data_set_has_parts_of_equal_size(self, tmp_path, monkeypatch):
        monkeypatch.setattr(targets, "ROWS_PER_PART", 4)
        whole = made(10)
        write_frames(iter([whole[:3], whole[3:9], whole[9:]]), f"{tmp_path}/many/")
        parts = sorted((tmp_path / "many").iterdir())
        assert [len(pl.read_parquet(part)) for part in parts] == [4, 4, 2]
        assert read_source(str(tmp_path / "many"))[0].equals(whole)

    def test_an_error_in_the_middle_leaves_nothing(self, tmp_path):
        def failing():
            yield made(3)
            raise DataError("no more")

        for target in ("a.csv", "a.parquet", "a/"):
            with pytest.raises(DataError, match="no more"):
                write_frames(failing(), f"{tmp_path}/{target}")
        assert list(tmp_path.iterdir()) == []
