"""Data sets: declared facts, checked content, samples that are the same for everybody."""

from __future__ import annotations

import gzip
import re

import numpy as np
import pytest

from made_data import write_data_set
from shoal.errors import DataError
from shoal_bench.data_sets import DATA_SETS, DataSet, data_folder, find_data_set, is_present, sample_rows

ROWS = [("a", "one"), ("b", 'a "quoted text'), ("a", "three"), ("b", "four")]


@pytest.mark.parametrize("data_set", DATA_SETS.values(), ids=list(DATA_SETS))
def test_declared_facts_are_whole(data_set):
    assert re.fullmatch("[0-9a-f]{64}", data_set.sha256)
    assert data_set.n_texts > data_set.n_classes > 1
    assert data_set.title
    assert data_set.licence
    assert data_set.source
    assert set(data_set.papers) <= {"sccl", "clusterbert", "deccrl", "mlm-dec"}
    assert data_set.papers or data_set.remark


def test_the_eight_sets_of_sccl_have_the_sizes_of_its_table_2():
    sizes = {name: (each.n_texts, each.n_classes) for name, each in DATA_SETS.items() if "sccl" in each.papers}
    assert sizes == {
        "agnews": (8000, 4),
        "searchsnippets": (12340, 8),
        "stackoverflow": (20000, 20),
        "biomedical": (20000, 20),
        "googlenews_ts": (11109, 152),
        "googlenews_t": (11108, 152),  # one title is empty
        "googlenews_s": (11108, 152),  # one snippet is empty
        "tweet": (2472, 89),
    }


def test_a_sample_is_fixed_and_in_order():
    expected = np.sort(np.random.RandomState(0).permutation(100)[:7])
    assert sample_rows(100, 7).tolist() == expected.tolist()
    assert set(sample_rows(100, 7)) <= set(sample_rows(100, 8)), "a larger sample holds the smaller one"
    assert sample_rows(3, None).tolist() == sample_rows(3, 3).tolist() == sample_rows(3, 9).tolist() == [0, 1, 2]


def test_a_file_of_ones_own_is_a_data_set(tmp_path):
    write_data_set(tmp_path, "mine", ROWS)
    found = find_data_set("mine", tmp_path)
    assert (found.n_texts, found.n_classes) == (4, 2)
    loaded = found.load(tmp_path)
    assert loaded.texts == [text for _, text in ROWS]
    assert loaded.labels == [label for label, _ in ROWS]
    sample = found.load(tmp_path, n_texts=2)
    assert sample.texts == [ROWS[i][1] for i in sample_rows(4, 2)]


def test_the_checksum_is_of_the_content_not_of_the_gzip_settings(tmp_path):
    file = write_data_set(tmp_path, "mine", ROWS)
    declared = find_data_set("mine", tmp_path)
    file.write_bytes(gzip.compress(gzip.decompress(file.read_bytes()), compresslevel=1, mtime=77))
    assert len(declared.load(tmp_path).texts) == 4
    write_data_set(tmp_path, "mine", [*ROWS, ("a", "five")])
    with pytest.raises(DataError, match=rf"expected {declared.sha256[:16]}…; run: shoal-bench fetch mine"):
        declared.load(tmp_path)


def test_rows_without_text_are_left_out(tmp_path):
    write_data_set(tmp_path, "mine", [("a", "one"), ("b", ""), ("b", "two")])
    assert find_data_set("mine", tmp_path).load(tmp_path).texts == ["one", "two"]


def test_the_folder_is_named_by_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    assert not is_present("tweet")
    write_data_set(tmp_path, "tweet", ROWS)
    assert is_present("tweet")


def test_without_a_name_the_folder_is_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path))
    assert data_folder() == tmp_path / "data"
    with pytest.raises(DataError, match=r"data/tweet.tsv.gz; set SHOAL_DATA .*, or run: shoal-bench fetch tweet"):
        DATA_SETS["tweet"].load()


def test_bad_files_are_sentences(tmp_path):
    with pytest.raises(DataError) as missing:
        DATA_SETS["tweet"].load(tmp_path)
    assert str(tmp_path / "tweet.tsv.gz") in str(missing.value)
    assert "set SHOAL_DATA to the folder that holds it, or run: shoal-bench fetch tweet" in str(missing.value)
    with pytest.raises(DataError, match=r"data set 'nowhere': there is no file .*or use one of agnews"):
        find_data_set("nowhere", tmp_path)
    (tmp_path / "torn.tsv.gz").write_bytes(gzip.compress(b"label\ttext\na\tone\n")[:-9])
    with pytest.raises(DataError, match=r"data set 'torn': .* cannot be read"):
        find_data_set("torn", tmp_path)
    (tmp_path / "plain.tsv.gz").write_bytes(b"label\ttext\na\tone\n")
    with pytest.raises(DataError, match=r"data set 'plain': .* cannot be read"):
        find_data_set("plain", tmp_path)
    write_data_set(tmp_path, "half", [("a", "one"), ("", "two")])
    with pytest.raises(DataError, match=r"1 of 2 texts in .* have no label"):
        find_data_set("half", tmp_path)
    (tmp_path / "other.tsv.gz").write_bytes(gzip.compress(b"class\ttext\na\tone\n"))
    with pytest.raises(DataError, match=r"data set 'other', .*other.tsv.gz: no column 'label'.* label<TAB>text"):
        find_data_set("other", tmp_path)
    (tmp_path / "empty.tsv.gz").write_bytes(gzip.compress(b""))
    with pytest.raises(DataError, match="data set 'empty', "):
        find_data_set("empty", tmp_path)


def test_a_declared_set_is_found_without_its_file():
    assert isinstance(find_data_set("agnews"), DataSet)
