"""Bad input ends in a clear error or in a counted treatment: never in a traceback, never in a lost row."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import openpyxl
import polars as pl
import pytest

from shoal.corpus import Corpus, read_table
from shoal.errors import DataError, ParameterError


def read(raw: bytes, format: str = "csv", **options) -> Corpus:
    return Corpus.read(io.BytesIO(raw), format=format, **options)


class TestFiles:
    def test_missing(self, tmp_path):
        with pytest.raises(DataError, match=r"no such file: .*nowhere\.csv; check the path"):
            Corpus.read(tmp_path / "nowhere.csv")

    def test_folder(self, tmp_path):
        with pytest.raises(DataError, match=r"is a folder without \.txt or \.md files"):
            Corpus.read(tmp_path)

    def test_no_permission(self, tmp_path, monkeypatch):
        def refuse(self):
            raise PermissionError(13, "Permission denied")

        (tmp_path / "a.csv").touch()
        monkeypatch.setattr(Path, "read_bytes", refuse)  # file modes do not stop the superuser
        with pytest.raises(DataError, match=r"no permission to read .*a\.csv"):
            Corpus.read(tmp_path / "a.csv")

    def test_impossible_name(self):
        with pytest.raises(DataError, match="cannot be read"):
            Corpus.read("a\0b.csv")

    def test_unknown_suffix(self, tmp_path):
        path = tmp_path / "a.docx"
        path.write_bytes(b"x")
        with pytest.raises(DataError, match=r"unknown suffix '\.docx'; the suffixes are \.csv .*\.txt"):
            Corpus.read(path)

    def test_unknown_format(self):
        with pytest.raises(ParameterError, match="format='xml' is not known; the formats are csv tsv"):
            read(b"x", format="xml")

    def test_data_instead_of_a_path(self):
        with pytest.raises(DataError, match=r"cannot read list; .*Corpus\.of"):
            Corpus.read(["a"])  # type: ignore[arg-type]

    @pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "jsonl", "txt", "parquet", "xlsx", "csv.gz"])
    def test_empty_file(self, tmp_path, suffix):
        path = tmp_path / f"a.{suffix}"
        path.write_bytes(b"")
        with pytest.raises(DataError, match="is empty; pass a file"):
            Corpus.read(path)

    @pytest.mark.parametrize("raw", [b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
    def test_nothing_in_the_wrapping(self, raw):
        with pytest.raises(DataError, match="is empty"):
            read(raw)

    @pytest.mark.parametrize("raw", [b"\n\n", b" ", b"\xff\xfe", "\n".encode("utf-16")])
    @pytest.mark.parametrize("format", ["csv", "tsv", "json", "jsonl", "txt"])
    def test_white_space_only(self, raw, format):
        with pytest.raises(DataError, match="only white space"):
            read(raw, format)

    @pytest.mark.parametrize(
        ("raw", "format"),
        [
            (b"id,text\n", "csv"),
            (b"id\ttext", "tsv"),
            (b"[]", "json"),
            (b'{"text": []}', "json"),
            (b"{}", "json"),
        ],
    )
    def test_no_rows(self, raw, format):
        with pytest.raises(DataError, match="has no rows"):
            read(raw, format)

    def test_no_rows_in_binary_formats_and_in_memory(self, tmp_path):
        pl.DataFrame({"text": []}, schema={"text": pl.String}).write_parquet(tmp_path / "a.parquet")
        openpyxl.Workbook().save(tmp_path / "a.xlsx")
        for name in ("a.parquet", "a.xlsx"):
            with pytest.raises(DataError, match="has no rows"):
                Corpus.read(tmp_path / name)
        for data in ([], {"text": []}, pl.DataFrame()):
            with pytest.raises(DataError, match="has no rows"):
                Corpus.of(data)

    @pytest.mark.parametrize("cut", [5, 40, -4])
    def test_truncated_gzip(self, cut):
        raw = gzip.compress(b"text\n" + bytes(range(32, 127)) * 20)
        with pytest.raises(DataError, match="is damaged gzip"):
            read(raw[:cut])

    def test_gz_in_name_only(self, tmp_path):
        path = tmp_path / "a.csv.gz"
        path.write_bytes(b"text\na\n")
        with pytest.raises(DataError, match="is damaged gzip"):
            Corpus.read(path)

    @pytest.mark.parametrize("format", ["parquet", "xlsx"])
    @pytest.mark.parametrize("raw", [b"junk", b"PAR1 and no more PAR1", b"PK\x03\x04 and no more"])
    def test_broken_binary(self, raw, format):
        with pytest.raises(DataError, match=f"not valid {format}"):
            read(raw, format)


class TestColumns:
    def test_a_wrong_name_gets_the_right_one(self):
        with pytest.raises(DataError, match=r"no column 'boddy'; the columns are 'id', 'Body'. Did you mean 'Body'\?"):
            read(b"id,Body\n1,a\n", text="boddy")

    @pytest.mark.parametrize("role", ["id", "label"])
    def test_the_same_for_ids_and_labels(self, role):
        with pytest.raises(DataError, match=r"no column 'zzz'; the columns are 'id', 'text'\. Name one"):
            read(b"id,text\n1,a\n", **{role: "zzz"})

    def test_repeated_and_empty_names_become_unique(self):
        frame, _ = read_table(io.BytesIO(b"text,,text,\n a,b,c,d\n"), format="csv")
        assert frame.columns == ["text", "column_2", "text_2", "column_4"]
        assert frame.rows() == [(" a", "b", "c", "d")]

    def test_repeated_names_in_a_workbook(self, tmp_path):
        book = openpyxl.Workbook()
        for row in (["text", "text", None], ["a", 1, True], [None] * 3, ["b", 2.5, None], [None] * 3):
            book.active.append(row)
        book.active["D9"] = ""
        book.save(tmp_path / "a.xlsx")
        frame, _ = read_table(tmp_path / "a.xlsx")
        assert len(set(frame.columns)) == frame.width
        assert [row[:3] for row in frame.rows()] == [
            ("a", "1", "true"),
            (None, None, None),
            ("b", "2.5", None),
        ]

    def test_all_texts_empty_is_a_corpus_but_not_one_to_train_on(self):
        corpus = read(b"id,text\n1,\n2,  \n", text="text")
        assert corpus.texts == ["", ""]
        assert corpus.notes["empty"] == corpus.notes["rows"] == 2
        with pytest.raises(DataError, match="all 2 texts in column 'text' are empty; name another"):
            corpus.require_texts()

    @pytest.mark.parametrize(
        "data",
        [
            ["", None],
            [None, None],
            {"text": [float("nan"), " "]},
            pl.Series([None, None]),
            pl.DataFrame({"id": [1, 2], "text": ["", "\0"]}),
        ],
    )
    def test_the_same_in_memory(self, data):
        corpus = Corpus.of(data)
        assert corpus.notes["empty"] == corpus.notes["rows"] == 2
        assert corpus.empty.all()
        with pytest.raises(DataError, match="all 2 texts"):
            corpus.require_texts()

    def test_one_text_is_enough(self):
        corpus = Corpus.of(["", "a"])
        assert corpus.require_texts() is corpus

    def test_no_rows_is_no_corpus(self):
        with pytest.raises(DataError, match="the list has no rows"):
            Corpus.of([])


class TestCells:
    def test_empty_and_missing_texts_keep_their_rows(self):
        corpus = read(b'id,text\n1,a\n2,\n3,   \n4,""\n5,b\n')
        assert corpus.texts == ["a", "", "", "", "b"]
        assert corpus.notes["empty"] == 3
        assert corpus.notes["missing"] == 2
        assert corpus.empty.tolist() == [False, True, True, True, False]

    def test_other_kinds_become_strings_and_are_counted(self):
        corpus = read(b'["a", 7, 2.5, true, ["x", "\\u00e9"], null]', "json")
        assert corpus.texts == ["a", "7", "2.5", "true", '["x", "é"]', ""]
        assert corpus.notes["non_string"] == 4
        assert corpus.notes["missing"] == 1

    def test_a_column_of_numbers_or_lists_is_counted_too(self):
        numbers = Corpus.of({"n": [1.5, float("nan"), 3.0]})
        assert (numbers.texts, numbers.notes["non_string"], numbers.notes["missing"]) == (
            ["1.5", "", "3.0"],
            2,
            1,
        )
        lists = Corpus.of(pl.DataFrame({"n": [[1, 2], None, []]}))
        assert (lists.texts, lists.notes["non_string"], lists.notes["missing"]) == (
            ["[1, 2]", "", "[]"],
            2,
            1,
        )

    def test_conversions_in_other_columns_are_not_counted(self):
        corpus = Corpus.of([{"text": "a", "x": 1}, {"text": "b", "x": "one"}], text="text")
        assert "non_string" not in corpus.notes
        assert corpus.frame["x"].to_list() == ["1", "one"]

    def test_huge_integers(self):
        assert read(b'{"text": "a", "n": %d}\n{"text": "b", "n": 1}' % 10**60, "jsonl").frame["n"][0] == str(10**60)

    def test_nul_and_lone_surrogates_are_removed_from_texts(self):
        assert read(b"te\0xt\na\0b\n\0\n").texts == ["ab", ""]
        assert Corpus.of(["a\ud800b", "\ud83d\ude00", "c"]).texts == ["ab", "", "c"]
        assert read(b'["a\\ud800b", "\\ud83d\\ude00"]', "json").texts == ["ab", "😀"]
        assert read(b'{"text": "a", "\\udc00k": {"x": "\\ud800"}}', "jsonl", text="text").frame.columns == [
            "text",
            "k",
        ]

    def test_a_cell_of_ten_megabytes(self):
        long = "long text " * 1_000_000
        limit = csv.field_size_limit()
        for separator in ",\t":
            raw = f'id{separator}text\n1{separator}"{long}"\n2{separator}b\n'.encode()
            assert read(raw, "csv" if separator == "," else "tsv").texts == [long, "b"]
        assert csv.field_size_limit() == limit


class TestEncodings:
    @pytest.mark.parametrize(
        ("raw", "encoding"),
        [
            ("naïve".encode(), "utf-8"),
            ("naïve".encode("utf-8-sig"), "utf-8-sig"),
            ("naïve".encode("utf-16"), "utf-16"),
            (b"\xfe\xff" + "naïve".encode("utf-16-be"), "utf-16"),
            ("naïve".encode("cp1252"), "cp1252"),
        ],
    )
    @pytest.mark.parametrize("format", ["txt", "csv"])
    def test_found_and_noted(self, raw, encoding, format):
        head = "".encode("utf-16") if encoding == "utf-16" else b""
        if format == "csv":
            raw = raw.decode(encoding).join(["text\n", "\n"]).encode(encoding)
            assert raw.startswith(head)
        corpus = read(raw, format)
        assert corpus.texts == ["naïve"]
        assert corpus.notes["encoding"] == encoding
        assert "replaced_characters" not in corpus.notes

    def test_utf8_with_a_broken_byte_stays_utf8(self):
        corpus = read("naïve café\nbro".encode() + b"\xe9" + b"ken\nc\n", "txt")
        assert corpus.texts == ["naïve café", "bro\ufffdken", "c"]
        assert (corpus.notes["encoding"], corpus.notes["replaced_characters"]) == ("utf-8", 1)

    def test_bytes_that_windows_1252_lacks(self):
        corpus = read(b"text\na\x81b\xff\nc\n")
        assert corpus.texts == ["a\ufffdb\ufffd", "c"]
        assert (corpus.notes["encoding"], corpus.notes["replaced_characters"]) == ("utf-8", 2)

    def test_forced(self):
        assert read("text\nžluť\n".encode("cp1250"), encoding="cp1250").texts == ["žluť"]
        forced = read("text\ndéjà\n".encode("cp1252"), encoding="utf-8")
        assert (forced.texts, forced.notes["replaced_characters"]) == (["d\ufffdj\ufffd"], 2)

    @pytest.mark.parametrize("encoding", ["utf-9", "base64", "undefined"])
    def test_unknown(self, encoding):
        with pytest.raises(DataError, match=f"encoding='{encoding}' cannot be used .*try utf-8"):
            read(b"text\na\n", encoding=encoding)

    def test_utf16_without_its_mark(self):
        assert read("text\nhello\n".encode("utf-16-le"), encoding="utf-16-le").texts == ["hello"]
        assert read("text\nhello\n".encode("utf-16-le")).texts == ["hello"]
        with pytest.raises(DataError, match=r"bytes are NUL.*encoding='utf-16-le'"):
            read(b"text\nhello\n" + bytes(30))


class TestQuotes:
    def test_rfc_4180(self):
        corpus = read(b'id,text\r\n1,"a, ""b""\r\nc"\r\n"2",d\r\n')
        assert corpus.frame.rows() == [("1", 'a, "b"\r\nc'), ("2", "d")]
        assert "quoting" not in corpus.notes

    @pytest.mark.parametrize(
        ("row", "text"),
        [
            ('2,"never closed', '"never closed'),
            ('2,"closed" too early', '"closed" too early'),
            ('2,"', '"'),
            ('2,"""odd', '"""odd'),
        ],
    )
    def test_a_stray_quote_swallows_nothing(self, row, text):
        corpus = read(f'id,text\n1,"x, y"\n{row}\n3,"two\nlines"\n4,d "e" f\n5,g\n'.encode())
        assert corpus.ids == [0, 1, 2, 3, 4]
        assert corpus.texts == ["x, y", text, "two\nlines", 'd "e" f', "g"]
        assert (corpus.notes["quoting"], corpus.notes["stray_quotes"]) == ("off", 1)

    def test_a_quote_inside_a_field_is_a_character(self):
        corpus = read(b'id,text\n1,a 5" pipe\n2,b\n')
        assert corpus.texts == ['a 5" pipe', "b"]
        assert "quoting" not in corpus.notes

    def test_every_row_stray(self):
        corpus = read(b"id,text\n" + b"".join(b'%d,"text %d\n' % (i, i) for i in range(1000)), text="text")
        assert corpus.texts == [f'"text {i}' for i in range(1000)]

    def test_tsv_honours_quotes_only_if_all_are_in_order(self):
        tidy = read(b'id\ttext\n1\t"a\nb"\n2\t"c\td ""e"""\n', "tsv")
        assert tidy.texts == ["a\nb", 'c\td "e"']
        assert "quoting" not in tidy.notes
        stray = read(b'id\ttext\n1\t"a"\n2\t5" pipe\n3\tc\n', "tsv")
        assert stray.texts == ['"a"', '5" pipe', "c"]
        assert stray.notes["quoting"] == "off"

    def test_tsv_quotes_that_happen_to_pair_across_rows(self):
        corpus = read(b'id\ttext\n1\t"a\n2\tb\n3\tc"\n', "tsv")
        assert corpus.texts == ['"a', "b", 'c"']
        assert corpus.notes["quoting"] == "off"


class TestRows:
    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("last", [True, False])
    def test_line_ends(self, end, last):
        for format, lines in {
            "csv": ["id,text", "1,a", "2,b"],
            "jsonl": ['"a"', '"b"'],
            "txt": ["a", "b"],
        }.items():
            raw = (end.join(lines) + (end if last else "")).encode()
            assert read(raw, format).texts == ["a", "b"]

    def test_other_separators_of_unicode_end_no_line(self):
        text = "a\u2028b\x0bc\x1cd\x85e"
        for format in ("csv", "tsv", "txt"):
            raw = (text if format == "txt" else f"text\n{text}").encode()
            assert read(raw, format).texts == [text]
        assert read(f'"{text[:3]}"\n'.encode(), "jsonl").texts == [text[:3]]

    @pytest.mark.parametrize("format", ["csv", "tsv"])
    def test_line_ends_may_be_mixed(self, format):
        raw = b'id,text\r1,a\n2,b\r\n3,c\r4,d\n5,"e\rf\r\ng"\r'.replace(b",", b"," if format == "csv" else b"\t")
        corpus = read(raw, format)
        assert corpus.frame["id"].to_list() == ["1", "2", "3", "4", "5"]
        assert corpus.texts == ["a", "b", "c", "d", "e\rf\r\ng"]
        assert read(b"a\rb\nc\r\nd", "txt").texts == ["a", "b", "c", "d"]
        assert read(b'{"text": "a"}\r{"text": "b"}\n', "jsonl").texts == ["a", "b"]

    def test_columns_of_json_are_joined_by_their_row_keys(self):
        frame = read(b'{"text": {"a": "one", "b": "two"}, "id": {"b": 2, "a": 1, "c": 3}}', "json", text="text").frame
        assert frame.rows() == [("a", "one", 1), ("b", "two", 2), ("c", None, 3)]
        frame = read(b'{"text": {"1": "two", "0": "one"}, "id": {"0": 1, "1": 2}}', "json").frame
        assert frame.rows() == [("one", 1), ("two", 2)]
        with pytest.raises(DataError, match="'id' is a list but others are objects"):
            read(b'{"text": {"0": "one"}, "id": [1]}', "json")

    def test_a_key_twice_loses_nothing(self):
        frame = read(b'{"text": "a", "tag": 1, "tag": 2}\n', "jsonl").frame
        assert frame.rows(named=True) == [{"text": "a", "tag": 1, "tag_2": 2}]

    def test_whole_numbers_beside_others_keep_their_digits(self):
        frame = read(b'{"text": "a", "n": 9007199254740993}\n{"text": "b", "n": 0.5}\n', "jsonl", text="text").frame
        assert frame["n"].to_list() == ["9007199254740993", "0.5"]

    def test_blank_lines_of_txt_are_rows(self):
        corpus = read(b"a\n\n \nb\n\n", "txt")
        assert corpus.texts == ["a", "", "", "b", ""]
        assert corpus.notes["empty"] == 3

    def test_blank_lines_of_a_one_column_csv_are_rows(self):
        assert read(b"text\na\n\nb\n").texts == ["a", "", "b"]

    def test_blank_lines_of_a_wider_csv_are_not(self):
        corpus = read(b"\nid,text\n1,a\n\n2,b\n\n")
        assert corpus.texts == ["a", "b"]
        assert corpus.notes["blank_lines"] == 2

    def test_short_rows_are_filled_and_counted(self):
        corpus = read(b"id,text,label\n1,a,x\n2,b\n3\n4,d,y\n", text="text", label="label")
        assert corpus.texts == ["a", "b", "", "d"]
        assert corpus.labels == ["x", "", "", "y"]
        assert corpus.notes["short_rows"] == 2

    def test_long_rows_are_an_error_that_names_the_line(self):
        with pytest.raises(DataError, match=r"line 5 has 4 fields but the header has 2 columns; .*double quotes"):
            read(b'id,text\n1,a\n2,"b\nb"\n3,c, d, e\n4,f\n')

    def test_a_surplus_of_empty_fields_is_no_text(self):
        assert read(b"id,text\n1,a,,\n2,b\n").texts == ["a", "b"]

    def test_a_one_column_row_is_put_together_again(self):
        corpus = read(b"text\nhello, you, there\nb\n")
        assert corpus.texts == ["hello, you, there", "b"]
        assert corpus.notes["joined_rows"] == 1


class TestJson:
    def test_broken_json_names_the_line(self):
        with pytest.raises(DataError, match=r"line 2, column \d+ is not valid JSON .*correct or remove"):
            read(b'[{"text": "a"},\n {"text": b}]', "json")

    def test_a_broken_line_is_named(self):
        with pytest.raises(DataError, match=r"line 3, column .* is not valid JSON"):
            read(b'{"text": "a"}\n\n{"text": "b"\n{"text": "c"}\n', "jsonl")

    @pytest.mark.parametrize("raw", [b"7", b"null", b'"text"', b'{"text": "a"}'])
    def test_json_that_is_no_table(self, raw):
        with pytest.raises(DataError, match="not a table; pass a list of objects"):
            read(raw, "json")

    def test_objects_among_texts(self):
        with pytest.raises(DataError, match="item 2 is str, not an object"):
            read(b'[{"text": "a"}, "b"]', "json")

    def test_columns_of_different_lengths(self):
        with pytest.raises(DataError, match=r"different numbers of cells .*'a' 1, 'b' 2"):
            read(b'{"a": ["x"], "b": ["y", "z"]}', "json")

    def test_bottomless_nesting(self):
        with pytest.raises(DataError, match="not usable JSON"):
            read(b"[" * 200_000, "json")
