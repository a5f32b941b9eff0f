"""A corpus keeps every row, in every format and from every kind of object."""

from __future__ import annotations

import contextlib
import csv
import gzip
import hashlib
import io
import json
import types

import datasets
import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shoal.corpus import RESERVED, Corpus, read_table
from shoal.errors import DataError

TEXTS = ["late parcel", 'a "quoted", word', "two\nlines", "naïve café 🐟", "late parcel"]
IDS = ["007", "008", "009", "010", "011"]
FRAME = pl.DataFrame({"id": IDS, "body": TEXTS})
LINES = [text.replace("\n", " ") for text in TEXTS]


def written(suffix: str) -> bytes:
    buffer = io.BytesIO()
    if suffix in (".csv", ".tsv"):
        FRAME.write_csv(buffer, separator="," if suffix == ".csv" else "\t")
    elif suffix in (".jsonl", ".ndjson"):
        FRAME.write_ndjson(buffer)
    elif suffix == ".json":
        FRAME.write_json(buffer)
    elif suffix == ".parquet":
        FRAME.write_parquet(buffer)
    elif suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in [FRAME.columns, *FRAME.rows()]:
            book.active.append(row)
        book.save(buffer)
    return buffer.getvalue()


TABULAR = [".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".xlsx"]


class TestFormats:
    @pytest.mark.parametrize("zipped", [False, True])
    @pytest.mark.parametrize("suffix", TABULAR)
    def test_a_file_gives_back_what_was_written(self, tmp_path, suffix, zipped):
        path = tmp_path / f"tickets{suffix.upper() if zipped else suffix}{'.gz' if zipped else ''}"
        path.write_bytes(gzip.compress(written(suffix)) if zipped else written(suffix))
        corpus = Corpus.read(path, id="id")
        assert corpus.texts == TEXTS
        assert corpus.ids == IDS
        assert corpus.frame.equals(FRAME)
        assert corpus.text_column == "body"

    @pytest.mark.parametrize("zipped", [False, True])
    @pytest.mark.parametrize("suffix", TABULAR)
    def test_a_stream_is_recognised_by_its_content(self, suffix, zipped):
        raw = gzip.compress(written(suffix)) if zipped else written(suffix)
        assert Corpus.read(io.BytesIO(raw)).texts == TEXTS

    @pytest.mark.parametrize("zipped", [False, True])
    def test_txt_has_one_text_a_line(self, tmp_path, zipped):
        path = tmp_path / ("a.txt.gz" if zipped else "a.txt")
        raw = "\n".join(LINES).encode()
        path.write_bytes(gzip.compress(raw) if zipped else raw)
        corpus = Corpus.read(str(path))
        assert corpus.texts == LINES
        assert corpus.text_column == "text"

    def test_a_dash_is_standard_input(self, monkeypatch):
        monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(written(".csv"))))
        assert Corpus.read("-").texts == TEXTS

    def test_an_open_file_and_a_text_stream_work_too(self, tmp_path):
        path = tmp_path / "a.tsv"
        path.write_bytes(written(".tsv"))
        with path.open("rb") as file:
            assert Corpus.read(file).texts == TEXTS
        assert Corpus.read(io.StringIO("text\nnaïve\n")).texts == ["naïve"]

    def test_format_overrules_the_suffix(self, tmp_path):
        path = tmp_path / "a.data"
        path.write_bytes(written(".jsonl"))
        assert Corpus.read(path, format="jsonl").texts == TEXTS
        assert Corpus.read(io.BytesIO(b"a,b\nc,d\n"), format="txt").texts == ["a,b", "c,d"]

    @pytest.mark.parametrize(
        ("raw", "texts"),
        [
            (b'["one", "two"]', ["one", "two"]),
            (b'[{"text": "one"},\n {"text": "two"}]', ["one", "two"]),
            (b'{"text": ["one", "two"]}', ["one", "two"]),
            (b'{"text": "one"}\n{"text": "two"}\n', ["one", "two"]),
            (b'{"text": "one"}', ["one"]),
            (b"text\none, or more\ntwo\n", ["one, or more", "two"]),
            (b"x,y\n1,one\n2,two\n", ["one", "two"]),
            (b"x;body\r1;one, a\r2;two\r", ["one, a", "two"]),
            (b"n\tbody\n1\tone\n2\ttwo\n", ["one", "two"]),
            (b"Hello, you\nno comma here\n", ["Hello, you", "no comma here"]),
            (b"[ERROR] one\n{two}\n", ["[ERROR] one", "{two}"]),
        ],
    )
    def test_the_guess(self, raw, texts):
        assert Corpus.read(io.BytesIO(raw)).texts == texts

    @pytest.mark.parametrize("columns", [{"text": ["one", "two"]}, {"text": {"0": "one", "1": "two"}}])
    def test_json_may_be_an_object_of_columns(self, tmp_path, columns):
        path = tmp_path / "a.json"
        path.write_text(json.dumps(columns))
        assert Corpus.read(path).texts == ["one", "two"]

    def test_jsonl_columns_are_the_union_of_the_keys(self):
        frame, _ = read_table(io.BytesIO(b'{"a": 1, "t": "x"}\n\n{"t": "y", "b": [1, {"c": 2}]}\n'))
        assert frame.rows() == [(1, "x", None), (None, "y", '[1, {"c": 2}]')]

    def test_a_csv_with_semicolons(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_text('id;text\n1;"one; two"\n2;three, four\n')
        assert Corpus.read(path).texts == ["one; two", "three, four"]

    @pytest.mark.parametrize("separator", [",", ";"])
    def test_whatever_a_csv_writer_writes_is_read_back(self, separator):
        rng = np.random.default_rng(0)
        pieces = ["a", "b ", '"', ",", ";", "\n", "\t", "é"]
        for _ in range(300):
            rows = [["".join(rng.choice(pieces, size=rng.integers(1, 6))) for _ in range(3)] for _ in range(4)]
            buffer = io.StringIO()
            csv.writer(buffer, delimiter=separator).writerows([["x", "y", "z"], *rows])
            frame, notes = read_table(io.BytesIO(buffer.getvalue().encode()), format="csv")
            assert [list(row) for row in frame.rows()] == rows
            assert notes == {"encoding": "utf-8"}

    @pytest.mark.parametrize("format", [None, "csv", "tsv", "json", "jsonl", "txt"])
    def test_any_bytes_end_in_a_corpus_or_in_an_error_of_ours(self, format):
        rng = np.random.default_rng(0)
        pieces = [
            b"a",
            b'"',
            b",",
            b"\n",
            b"\r",
            b"\t",
            b"\0",
            b"\xe9",
            b"{",
            b"]",
            b":",
            b"1",
            "é".encode(),
            b" ",
        ]
        for _ in range(300):
            raw = b"".join(pieces[i] for i in rng.integers(len(pieces), size=rng.integers(40)))
            with contextlib.suppress(DataError):
                corpus = Corpus.read(io.BytesIO(raw), format=format)
                assert len(corpus.texts) == len(corpus) == corpus.notes["rows"]

    def test_fifty_thousand_rows(self):
        raw = b"id,text\n" + b"".join(b"%06d,some words for row %d\n" % (i, i) for i in range(50_000))
        corpus = Corpus.read(io.BytesIO(raw))
        assert len(corpus) == 50_000
        assert corpus.texts[-1] == "some words for row 49999"


class TestObjects:
    @pytest.mark.parametrize(
        "data",
        [
            list(TEXTS),
            tuple(TEXTS),
            np.array(TEXTS),
            np.array(TEXTS, dtype=object),
            [{"body": text} for text in TEXTS],
            {"body": TEXTS, "n": list(range(5))},
            pd.Series(TEXTS),
            pd.Series(TEXTS, name=3, index=list("edcba")),
            pd.Series(TEXTS, dtype="category"),
            pd.DataFrame({"n": [5, 4, 3, 2, 1], "body": TEXTS}, index=[9, 9, 9, 9, 9]),
            pl.Series(TEXTS),
            pl.Series("x", TEXTS, dtype=pl.Categorical),
            FRAME,
            pa.array(TEXTS),
            pa.chunked_array([TEXTS[:2], TEXTS[2:]]),
            pa.table({"id": IDS, "body": TEXTS}),
            pa.table([pa.array([1, 2, 3, 4, 5]), pa.array(TEXTS)], names=["a", "a"]),
            datasets.Dataset.from_dict({"body": TEXTS, "n": [1, 2, 3, 4, 5]}),
        ],
        ids=lambda data: f"{type(data).__module__.split('.')[0]}.{type(data).__name__}",
    )
    def test_every_kind_gives_the_same_texts(self, data):
        corpus = Corpus.of(data)
        assert corpus.texts == TEXTS
        assert len(corpus) == 5
        assert corpus.notes["duplicates"] == 1
        assert "non_string" not in corpus.notes

    def test_a_dataset_keeps_its_selection(self):
        data = datasets.Dataset.from_dict({"body": TEXTS, "n": [0, 1, 2, 3, 4]}).select([3, 0])
        assert Corpus.of(data, id="n").ids == [3, 0]
        assert Corpus.of(data).texts == [TEXTS[3], TEXTS[0]]

    def test_a_corpus_is_returned_as_it_is(self):
        corpus = Corpus.of(TEXTS)
        assert Corpus.of(corpus) is corpus

    def test_pandas_needs_no_pyarrow(self, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
        data = pd.DataFrame({"n": [1, 2], "body": pd.Series(["one", None], dtype=object)})
        assert Corpus.of(data).texts == ["one", ""]

    @pytest.mark.parametrize("hole", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT])
    def test_every_kind_of_missing_cell_is_missing(self, hole):
        for data in (["one", hole], pd.Series(["one", hole], dtype=object), {"t": ["one", hole]}):
            corpus = Corpus.of(data)
            assert corpus.texts == ["one", ""]
            assert corpus.notes["missing"] == corpus.notes["empty"] == 1
            assert corpus.empty.tolist() == [False, True]

    def test_columns_keep_their_kinds(self):
        when = pd.to_datetime(["2024-05-03", None])
        data = pd.DataFrame({"t": ["a", "b"], "n": [1, 2], "x": [0.5, None], "ok": [True, False], "when": when})
        frame = Corpus.of(data, text="t").frame
        assert [frame[name].dtype for name in ("n", "x", "ok")] == [pl.Int64, pl.Float64, pl.Boolean]
        assert frame["when"].dtype == pl.Datetime
        assert frame["x"].to_list() == [0.5, None]

    @pytest.mark.parametrize(
        "data", ["one text", b"bytes", 7, None, {1, 2}, np.array([["a"]]), iter(["a"]), {"t": "not a list"}]
    )
    def test_other_kinds_are_refused_with_the_remedy(self, data):
        with pytest.raises(DataError, match=rf"cannot take texts from {type(data).__name__}.*pass a list of texts"):
            Corpus.of(data)

    def test_a_dataset_of_several_splits_is_refused(self):
        splits = datasets.DatasetDict({"train": datasets.Dataset.from_dict({"text": ["a"]})})
        with pytest.raises(DataError, match="one split of a dataset"):
            Corpus.of(splits)


class TestTextColumn:
    def chosen(self, columns, **names):
        corpus = Corpus.of(columns, **names)
        return corpus.text_column, corpus.notes["text_column_chosen"]

    def test_given(self):
        assert self.chosen({"text": ["a"], "other": ["b"]}, text="other") == ("other", "given")

    def test_the_only_column_even_if_it_holds_numbers(self):
        assert self.chosen({"n": [1, 2]}) == ("n", "only column")

    def test_the_only_string_column(self):
        assert self.chosen({"n": [1], "x": [0.5], "remark": ["b"]}) == ("remark", "only string column")

    def test_id_and_label_are_never_it(self):
        columns = {"key": ["aa", "bb"], "kind": ["x", "y"], "remark": ["b c", "d e"]}
        assert self.chosen(columns, id="key", label="kind") == ("remark", "only string column")

    @pytest.mark.parametrize(
        "other",
        [
            ["12", "3.5"],
            ["2024-05-03", "2024-05-04T10:11:12Z"],
            ["3 May 2024", "14 June 2024"],
            ["2024-05-03 10:11", "2024-05-03 10:12"],
            ["https://example.org/a", "www.example.org"],
            ["0f0e8f7c-3f5e-4c62-9d53-1f3a3c6a2b11", "1f0e8f7c-3f5e-4c62-9d53-1f3a3c6a2b11"],
            ["T-001", "T-002"],
            ["someone@example.org", "other@example.org"],
            [None, None],
        ],
    )
    def test_what_is_plainly_not_prose_is_passed_over(self, other):
        columns = {"other": pl.Series(other, dtype=pl.String), "remark": ["call 12 late", "no"]}
        assert self.chosen(pl.DataFrame(columns)) == ("remark", "only column of prose")

    def test_categories_are_passed_over(self):
        columns = {"team": ["red", "blue"] * 100, "remark": [f"remark number {i}" for i in range(200)]}
        assert self.chosen(columns) == ("remark", "only column of prose")

    def test_a_usual_name_decides(self):
        assert self.chosen({"agent": ["Ann", "Bob"], "Body": ["a b", "c d"]}) == ("Body", "by name")

    def test_two_usual_names_do_not(self):
        with pytest.raises(DataError, match=r"2 columns may hold the texts: 'title', 'body'; .*--text COLUMN"):
            Corpus.of({"title": ["a b"], "body": ["c d"], "n": [1]})

    def test_no_string_column(self):
        with pytest.raises(DataError, match=r"no column holds strings: 'a', 'b'; .*--text COLUMN"):
            Corpus.of({"a": [1], "b": [2]})


class TestCorpus:
    def test_labels_are_strings_and_ids_default_to_row_numbers(self):
        corpus = Corpus.of({"text": ["a", "b"], "kind": [3, None]}, label="kind")
        assert corpus.labels == ["3", ""]
        assert corpus.ids == [0, 1]
        assert Corpus.of(["a"]).labels is None

    def test_the_hash_is_of_the_texts_and_their_order(self):
        expected = hashlib.sha256(b"a\0b\0").hexdigest()
        assert Corpus.of(["a", "b"]).content_hash() == expected
        assert Corpus.of({"n": [1, 2], "x": ["a", "b"]}).content_hash() == expected
        assert len({Corpus.of(t).content_hash() for t in (["a", "b"], ["b", "a"], ["ab"], ["a", "", "b"])}) == 4

    def test_reserved_columns_are_carried_under_another_name(self):
        columns = {"text": ["a"], "input_cluster": [0]} | {name: [1] for name in RESERVED}
        carried = Corpus.of(columns).input_columns()
        assert not set(carried.columns) & set(RESERVED)
        assert carried.columns[:3] == ["text", "input_cluster", "input_cluster_2"]
        assert carried["input_cluster"].to_list() == [0]
        assert carried["input_cluster_2"].to_list() == [1]

    def test_carried_columns_can_be_written_as_csv(self):
        frame = pl.DataFrame({"text": ["a"], "tags": [["x", "é"]], "who": [{"n": 1}], "raw": [b"b"], "n": [1]})
        carried = Corpus.of(frame).input_columns()
        assert carried.rows() == [("a", '["x", "é"]', '{"n": 1}', "b", 1)]
        assert carried.write_csv().startswith("text,tags,who,raw,n\n")

    def test_notes_are_json_and_say_only_what_happened(self):
        assert Corpus.of(["a", "b"]).notes == {"rows": 2, "text_column_chosen": "only column"}
        corpus = Corpus.of(["a", " \t\u00a0", None, 3, "a"])
        assert json.loads(json.dumps(corpus.notes)) == {
            **{"rows": 5, "text_column_chosen": "only column"},
            **{"empty": 2, "missing": 1, "non_string": 1, "duplicates": 1},
        }

    def test_texts_are_not_trimmed(self):
        assert Corpus.of(["  a ", "b\n"]).texts == ["  a ", "b\n"]

    def test_the_input_is_not_touched(self):
        data = {"text": ["a", None]}
        Corpus.of(data)
        assert data == {"text": ["a", None]}
