"""A folder of texts is a corpus: one text per file, its name as the id."""

from __future__ import annotations

import pytest

from shoal import Corpus
from shoal.errors import DataError


def test_every_text_file_is_a_row_in_the_order_of_names(tmp_path):
    (tmp_path / "b.md").write_text("# A title\n\nand a body\n", encoding="utf-8")
    (tmp_path / "a.txt").write_text("two lines\nof one text", encoding="utf-8")
    (tmp_path / "empty.txt").touch()
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "C.TXT").write_text("Größe", encoding="utf-16")
    (tmp_path / ".hidden.txt").write_text("not this")
    (tmp_path / "table.csv").write_text("nor,this")
    corpus = Corpus.read(tmp_path)
    assert corpus.ids == ["a.txt", "b.md", "below/C.TXT", "empty.txt"]
    assert corpus.texts == ["two lines\nof one text", "# A title\n\nand a body", "Größe", ""]
    assert (corpus.id_column, corpus.text_column, corpus.notes["files"]) == ("file", "text", 4)


def test_a_folder_without_texts(tmp_path):
    (tmp_path / "picture.png").write_bytes(b"a,b")
    with pytest.raises(DataError, match=r"is a folder without \.txt or \.md files"):
        Corpus.read(tmp_path)
