"""Workbooks: every digit, every date, and no more memory than the cells need."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import math
import resource
import zipfile

import openpyxl
import polars as pl
import pytest
import xlsxwriter

from shoal import Corpus
from shoal.corpus import read_table, write_table
from shoal.corpus.xlsx import read_xlsx
from shoal.errors import DataError


def made(*rows: list[object], **cells: object) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for place, cell in cells.items():
        book.active[place] = cell
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def shared(*rows: str) -> bytes:
    """Return a workbook with one column of strings, in the table that cells share."""
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer) as book:
        book.add_worksheet().write_column(0, 0, rows)
    return buffer.getvalue()


def changed(raw: bytes, part: str, old: str, new: str) -> bytes:
    """Return a workbook with another text in one of its parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as before, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as after:
        for name in before.namelist():
            content = before.read(name).decode()
            if name == part:
                assert old in content
                content = content.replace(old, new)
            after.writestr(name, content)
    return out.getvalue()


class TestCells:
    @pytest.mark.parametrize("number", [1e-10, 71.38147764615141, 0.1 + 0.2, 5e-324, -1e300, 1e22])
    def test_numbers_keep_every_digit(self, number):
        (cell,) = read_xlsx(made(["n"], [number]))["n"]
        assert math.isclose(float(cell), number, rel_tol=1e-15)  # openpyxl itself writes sixteen digits

    def test_what_write_table_writes_comes_back_to_the_last_bit(self, tmp_path):
        numbers = [1e-10, 71.38147764615141, 0.1 + 0.2, 2 / 3, 5e-324, 1.7976931348623157e308, float("inf"), None]
        write_table(pl.DataFrame({"n": numbers, "text": "a"}), tmp_path / "a.xlsx")
        assert read_table(tmp_path / "a.xlsx")[0]["n"].cast(pl.Float64).to_list() == numbers

    @pytest.mark.parametrize(
        "kind", [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.Int128]
    )
    def test_every_kind_of_integer(self, tmp_path, kind):
        frame = pl.DataFrame({"n": pl.Series([0, None, 127], dtype=kind), "none": pl.Series([None] * 3, dtype=kind)})
        write_table(frame.with_columns(text=pl.lit("a")), tmp_path / "a.xlsx")
        assert read_table(tmp_path / "a.xlsx")[0]["n"].to_list() == ["0", None, "127"]

    def test_dates_times_and_durations(self):
        frame = read_xlsx(
            made(
                ["a", "b", "c", "d", "e"],
                [
                    dt.datetime(2024, 5, 3, 10, 30, 5, 123000),
                    dt.date(2024, 5, 3),
                    dt.time(10, 30, 5),
                    dt.timedelta(hours=30, minutes=5),
                    dt.datetime(1900, 1, 1),
                ],
            )
        )
        assert frame.row(0) == (
            "2024-05-03 10:30:05.123",
            "2024-05-03 00:00:00",
            "10:30:05",
            "30:05:00",
            "1900-01-01 00:00:00",
        )

    def test_a_book_that_counts_from_1904(self):
        book = openpyxl.Workbook()
        book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
        book.active.append(["day"])
        book.active.append([dt.datetime(2024, 5, 3)])
        buffer = io.BytesIO()
        book.save(buffer)
        assert read_xlsx(buffer.getvalue())["day"].to_list() == ["2024-05-03 00:00:00"]

    def test_dates_numbers_and_truth_as_names_of_columns(self):
        assert read_xlsx(made(["text", dt.date(2024, 1, 2), 5, 2.5, True, None], ["a"] * 6)).columns == [
            *("text", "2024-01-02 00:00:00", "5", "2.5", "true", "column_6")
        ]

    def test_formats_that_only_look_like_dates(self):
        book = openpyxl.Workbook()
        book.active.append(["n"])
        for number, code in enumerate(['0.0"days"', "[Red]0.00", "0.00\\d", "General", "#,##0.00_)", "0%"], start=2):
            book.active.cell(number, 1, 0.5).number_format = code
        buffer = io.BytesIO()
        book.save(buffer)
        assert read_xlsx(buffer.getvalue())["n"].to_list() == ["0.5"] * 6

    def test_a_formula_without_a_result_is_its_own_text(self):
        assert read_xlsx(made(["text"], ["=A1&1"]))["text"].to_list() == ["=A1&1"]

    def test_where_the_table_begins(self):
        frame = read_xlsx(made(C4="text", D4="id", C5="a", D7="7"))
        assert (frame.columns, frame.rows()) == (["text", "id"], [("a", None), (None, None), (None, "7")])

    def test_strings_written_in_every_way(self):
        raw = shared("text", "one", "A and \r")
        assert read_xlsx(raw)["text"].to_list() == ["one", "A and \r"]
        rich = "<si><r><t>o</t></r><r><t>ne</t></r><rPh sb='0' eb='1'><t>WAN</t></rPh></si>"
        raw = changed(raw, "xl/sharedStrings.xml", "<si><t>one</t></si>", rich)
        assert read_xlsx(raw)["text"].to_list() == ["one", "A and \r"]
        inline = '<c r="A2" t="inlineStr"><is><t>two</t></is></c>'
        raw = changed(raw, "xl/worksheets/sheet1.xml", '<c r="A2" t="s"><v>1</v></c>', inline)
        assert read_xlsx(raw)["text"].to_list() == ["two", "A and \r"]


class TestHarm:
    @pytest.mark.parametrize("place", ["XFD1048576", "KN100000"])
    def test_one_stray_cell_does_not_take_the_memory(self, place):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(DataError, match=r"spans \d+ rows and \d+ columns but only 3 cells are filled; delete the"):
            read_xlsx(made(["text"], ["a"], **{place: "stray"}))
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kilobytes

    def test_one_far_row_is_no_harm(self):
        assert read_xlsx(made(["text", "id"], B1048576="last")).shape == (1_048_575, 2)

    @pytest.mark.parametrize("place", ["A0", "AAAA1", "A1048577", "1A", "", "XFE1", "A-1", "A99999999"])
    def test_impossible_places(self, place):
        raw = changed(made(["text"], ["a"]), "xl/worksheets/sheet1.xml", 'r="A2"', f'r="{place}"')
        with pytest.raises(DataError, match=r"no place in a sheet|beyond the last row"):
            read_xlsx(raw)

    @pytest.mark.parametrize(
        ("part", "old", "new"),
        [
            ("xl/worksheets/sheet1.xml", "<v>1</v>", "<v>99</v>"),
            ("xl/worksheets/sheet1.xml", "<v>1</v>", "<v>-1</v>"),
            ("xl/worksheets/sheet1.xml", "<v>1</v>", "<v>x</v>"),
            ("xl/worksheets/sheet1.xml", "</sheetData>", ""),
            ("xl/workbook.xml", 'r:id="rId1"', 'r:id="rId9"'),
            ("xl/_rels/workbook.xml.rels", "worksheets/sheet1.xml", "../../../etc/passwd"),
            ("xl/styles.xml", 'numFmtId="0"', 'numFmtId="zero"'),
        ],
    )
    def test_parts_that_do_not_fit_together(self, part, old, new):
        with pytest.raises(DataError, match="not valid xlsx"):
            read_xlsx(changed(shared("text", "a"), part, old, new))

    def test_entities_are_refused(self):
        bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><worksheet'
        with pytest.raises(DataError, match="declarations that a spreadsheet does not need"):
            read_xlsx(changed(made(["text"], ["a"]), "xl/worksheets/sheet1.xml", "<worksheet", bomb))

    def test_bombs_are_not_unpacked_in_full(self):
        book = io.BytesIO()
        with zipfile.ZipFile(book, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/workbook.xml", '<workbook xmlns:r="r"><sheets><sheet r:id="a"/></sheets></workbook>')
            archive.writestr("xl/_rels/workbook.xml.rels", '<R><Relationship Id="a" Target="s.xml"/></R>')
            archive.writestr("xl/s.xml", b"<worksheet>" + b" " * (100 << 20) + b"</worksheet>")
        for raw in (gzip.compress(bytes(100 << 20)), book.getvalue()):
            with pytest.raises(DataError, match=r"expand to more than 6\d{7}, over 250 times as many; it is refused"):
                read_table(io.BytesIO(raw), format="xlsx" if raw.startswith(b"PK") else "csv")

    def test_gzip_of_several_members_is_read_whole(self):
        raw = gzip.compress(b"text\na\n") + gzip.compress(b"b\n") + bytes(512)
        assert read_table(io.BytesIO(raw), format="csv")[0]["text"].to_list() == ["a", "b"]


class TestSheets:
    @pytest.fixture
    def book(self, tmp_path):
        """Return the path of a workbook with an empty sheet and two with data."""
        book = openpyxl.Workbook()
        book.active.title = "Read me"
        for month, text in (("May", "rain"), ("June", "sun")):
            sheet = book.create_sheet(month)
            for row in (["text"], [text], [f"more {text}"]):
                sheet.append(row)
        book.save(tmp_path / "months.xlsx")
        return tmp_path / "months.xlsx"

    def test_several_with_data_are_listed_and_none_is_taken(self, book):
        with pytest.raises(DataError, match=r"2 sheets have data: 'May' \(2 rows\), 'June' \(2 rows\); name one"):
            Corpus.read(book)

    @pytest.mark.parametrize("sheet", ["June", "3"])
    def test_one_is_chosen_by_name_or_number(self, book, sheet):
        assert Corpus.read(book, sheet=sheet).texts == ["sun", "more sun"]

    def test_a_wrong_name(self, book):
        with pytest.raises(DataError, match=r"no sheet 'june '; the sheets are .*Did you mean 'June'\?"):
            Corpus.read(book, sheet="june ")

    def test_the_only_one_with_data_needs_no_name(self, book):
        changed = openpyxl.load_workbook(book)
        del changed["May"]
        changed.save(book)
        assert Corpus.read(book).texts == ["sun", "more sun"]

    def test_only_a_workbook_has_sheets(self, tmp_path):
        (tmp_path / "a.csv").write_text("text\na\n")
        with pytest.raises(DataError, match="is no workbook and has no sheet 'May'"):
            Corpus.read(tmp_path / "a.csv", sheet="May")
